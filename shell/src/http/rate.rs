//! Rates per principal (PRT-2): integer token buckets that hold one minute's worth.
//!
//! Two buckets each: one for submissions, one, ten times as large, for everything else, so that a station at work
//! never competes with its own mail. Not here: queue caps, which are the mailbox's.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use awakener_kernel::ids::Principal;

/// One request costs as much as a minute has milliseconds, so that a rate per minute is refilled without a fraction.
const COST: u64 = 60_000;
/// How many times larger the bucket of other requests is.
const OTHERS: u64 = 10;
/// Operator commands a minute that have no valid signature.
const UNSIGNED: u64 = 60;

/// What a request counts as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    /// A submission.
    Submission,
    /// Anything else.
    Other,
    /// Operator commands without a valid signature, from whomever; each leaves an entry.
    Unsigned,
}

/// All buckets; only principals with a valid credential have any.
#[derive(Debug)]
pub(super) struct Rates {
    per_minute: u64,
    buckets: Mutex<HashMap<(Principal, Kind), Bucket>>,
}

#[derive(Clone, Copy, Debug)]
struct Bucket {
    credit: u64,
    at: u64,
}

impl Rates {
    pub(super) fn new(per_minute: u32) -> Self {
        Self { per_minute: u64::from(per_minute.max(1)), buckets: Mutex::default() }
    }

    /// Takes one request at `now` (monotonic milliseconds).
    ///
    /// # Errors
    /// How long to wait, milliseconds.
    pub(super) fn take(&self, principal: &Principal, kind: Kind, now: u64) -> Result<(), u64> {
        let rate = match kind {
            Kind::Submission => self.per_minute,
            Kind::Other => self.per_minute.saturating_mul(OTHERS),
            Kind::Unsigned => UNSIGNED,
        };
        let full = rate.saturating_mul(COST);
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        let bucket = buckets.entry((principal.clone(), kind)).or_insert(Bucket { credit: full, at: now });
        let elapsed = now.saturating_sub(bucket.at);
        bucket.credit = bucket.credit.saturating_add(elapsed.saturating_mul(rate)).min(full);
        bucket.at = now.max(bucket.at);
        if bucket.credit >= COST {
            bucket.credit -= COST;
            return Ok(());
        }
        awakener_spec::rule!(Prt2);
        Err((COST - bucket.credit).div_ceil(rate).max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> Principal {
        text.parse().unwrap()
    }

    #[test]
    fn prt_2_a_minutes_worth_passes_and_the_wait_is_exact() {
        let rates = Rates::new(3);
        let ask = |now| rates.take(&name("a"), Kind::Submission, now);
        assert_eq!([ask(0), ask(0), ask(0)], [Ok(()); 3]);
        assert_eq!(ask(0), Err(20_000));
        // One millisecond early is too early, and asking costs nothing.
        assert_eq!(ask(19_999), Err(1));
        assert_eq!(ask(20_000), Ok(()));
        assert_eq!(ask(20_000), Err(20_000));
        // A long rest fills it up once, not more.
        assert_eq!([ask(10_000_000), ask(10_000_000), ask(10_000_000)], [Ok(()); 3]);
        assert!(ask(10_000_000).is_err());
    }

    #[test]
    fn prt_2_principals_and_kinds_do_not_share() {
        let rates = Rates::new(1);
        assert_eq!(rates.take(&name("a"), Kind::Submission, 0), Ok(()));
        assert!(rates.take(&name("a"), Kind::Submission, 0).is_err());
        assert_eq!(rates.take(&name("b"), Kind::Submission, 0), Ok(()));
        for _ in 0..10 {
            assert_eq!(rates.take(&name("a"), Kind::Other, 0), Ok(()));
        }
        assert!(rates.take(&name("a"), Kind::Other, 0).is_err());
    }

    #[test]
    fn prt_2_a_clock_that_goes_back_gives_nothing() {
        let rates = Rates::new(1);
        assert_eq!(rates.take(&name("a"), Kind::Submission, 90_000), Ok(()));
        assert!(rates.take(&name("a"), Kind::Submission, 0).is_err());
        assert!(rates.take(&name("a"), Kind::Submission, 100_000).is_err());
        assert_eq!(rates.take(&name("a"), Kind::Submission, 150_000), Ok(()));
    }
}

//! Refusals before anybody is authenticated (ADM-9, VER-4): counted, and one line a minute for each reason.
//!
//! Folded by the reason alone, never by anything in the refused bytes, so that a flood costs a counter.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use awakener_spec::Reason;

const MINUTE: Duration = Duration::from_secs(60);

/// The counters of one listener.
#[derive(Debug, Default)]
pub(super) struct Folded(Mutex<BTreeMap<Reason, Count>>);

#[derive(Debug)]
struct Count {
    total: u64,
    unsaid: u64,
    said: Instant,
}

impl Folded {
    /// Counts one; says the first at once and then how many there were each minute.
    pub(super) fn note(&self, reason: Reason) {
        if let Some(count) = self.count(reason, Instant::now()) {
            awakener_spec::rule!(Ver4);
            tracing::warn!(reason = reason.name(), rule = %reason.rule(), count, "refused before authentication");
        }
    }

    /// How many in all, of every reason.
    pub(super) fn total(&self) -> u64 {
        let counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        counts.values().fold(0, |sum, count| sum.saturating_add(count.total))
    }

    /// The number to be said now, if it is time.
    fn count(&self, reason: Reason, now: Instant) -> Option<u64> {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match counts.get_mut(&reason) {
            None => {
                counts.insert(reason, Count { total: 1, unsaid: 0, said: now });
                Some(1)
            }
            Some(count) => {
                count.total = count.total.saturating_add(1);
                count.unsaid = count.unsaid.saturating_add(1);
                if now.saturating_duration_since(count.said) < MINUTE {
                    return None;
                }
                count.said = now;
                Some(std::mem::take(&mut count.unsaid))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ver_4_the_first_is_said_at_once_and_the_rest_once_a_minute() {
        let folded = Folded::default();
        let start = Instant::now();
        assert_eq!(folded.count(Reason::Unauthenticated, start), Some(1));
        for _ in 0..500 {
            assert_eq!(folded.count(Reason::Unauthenticated, start + MINUTE / 2), None);
        }
        // Another reason has its own line.
        assert_eq!(folded.count(Reason::TooLarge, start + MINUTE / 2), Some(1));
        assert_eq!(folded.count(Reason::Unauthenticated, start + MINUTE), Some(501));
        assert_eq!(folded.total(), 503);
    }
}

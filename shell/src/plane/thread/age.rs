//! Messages that have grown too old (INB-3), looked for once a second, a bounded number at a time.
//!
//! Whether one expires is the mailbox's to say; work under a lease, for one, does not. The search goes on where it
//! stopped, so that what does not expire stands in nobody's way.

use awakener_kernel::ids::{MessageId, Target};
use awakener_kernel::mailbox::input::Input;
use awakener_kernel::time::{Millis, Mono};
use rusqlite::params;

use super::{Staged, Thread};
use crate::plane::Refused;

/// How often the search is taken up.
const EVERY: Millis = Millis(1_000);
/// How many messages one search looks at.
const AT_ONCE: u32 = 256;

/// How far the search has come.
#[derive(Debug, Default)]
pub(super) struct Search {
    next: Mono,
    /// The last row that was looked at: when it was admitted, and where it stands.
    after: (i64, String, i64),
}

impl Thread {
    /// Lets the mailboxes judge the next messages that are beyond the configured age.
    pub(super) fn expire(&mut self) {
        let now = self.clock.now();
        if now.mono < self.age.next || self.db.poisoned() || self.lost != super::Lost::Nothing {
            return;
        }
        self.age.next = now.mono + EVERY;
        let until = now.wall - self.setup.limits.get().message_age;
        let found = self.aged(i64::try_from(until.0).unwrap_or(i64::MAX)).unwrap_or_else(|refused| {
            tracing::error!(reason = %refused.reason, "what is too old is not known: {}", refused.detail);
            Vec::new()
        });
        if found.is_empty() {
            return;
        }
        for result in self.mailbox_each(found) {
            if let Err(refused) = result {
                tracing::error!(reason = %refused.reason, "an old message stays: {}", refused.detail);
            }
        }
    }

    fn aged(&mut self, until: i64) -> Result<Vec<Staged>, Refused> {
        let (admitted, target, seq) = &self.age.after;
        let rows: Vec<(i64, String, i64, String)> = self
            .db
            .conn()
            .prepare_cached(
                "SELECT admitted, target, seq, id FROM message
                 WHERE finished = 0 AND tier > 0 AND admitted <= ?1 AND (admitted, target, seq) > (?2, ?3, ?4)
                 ORDER BY admitted, target, seq LIMIT ?5",
            )?
            .query_map(params![until, admitted, target, seq, AT_ONCE], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
            })?
            .collect::<Result<_, _>>()?;
        self.age.after = match rows.last() {
            Some((admitted, target, seq, _)) if rows.len() >= AT_ONCE as usize => {
                (*admitted, target.clone(), *seq)
            }
            // The end: the next search begins with the oldest again.
            Some(_) | None => <(i64, String, i64)>::default(),
        };
        let staged = |(_, target, _, id): (i64, String, i64, String)| {
            let (target, message) = (Target::parse(&target).ok()?, MessageId::parse(&id).ok()?);
            Some(Staged::plain(target, Input::Expire { message }))
        };
        Ok(rows.into_iter().filter_map(staged).collect())
    }
}

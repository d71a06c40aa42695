//! What verifiers say of the tokens that they have accepted, and stores that were put back from a backup.
//!
//! A verifier refuses every token that is not above those it accepted, so an emitter that has forgotten what it emitted
//! wakes nobody. Of a database that was put back alone the floor file reminds it. If that was put back as well, only verifiers know: then
//! nothing is minted for a target before one of its verifiers has said what it saw. That the file is not the one that the
//! last start left is seen by its place on the disk and its time of change, neither of which a copy has; a whole disk that
//! was put back does not show it, and there the first report lifts the epoch. Rule: EMT-2.

use std::collections::BTreeSet;

use awakener_kernel::ids::{Target, Token};
use awakener_kernel::machine::Machine as _;
use serde_json::json;

use super::Thread;
use crate::plane::{Refused, files};

/// Where the store keeps which floor file the last start left.
const FILE: &str = "floor_file";
/// Where it keeps that verifiers report here at all.
const REPORTS: &str = "verifiers_report";
/// Where it keeps that hints wait for their reports.
const WAITING: &str = "wait_for_verifiers";
/// Nobody can have seen so many starts more than the store and the floor file know: such a report is of something else,
/// and one that is followed could use up the epochs of a plane at once.
const TOO_MANY: u32 = 1 << 16;

/// What verifiers have said since the start.
#[derive(Debug, Default)]
pub(super) struct Verifiers {
    /// Whether any ever reported to this store.
    report: bool,
    /// Whether hints wait for reports.
    awaited: bool,
    /// The targets of which a verifier has said what it saw.
    heard: BTreeSet<Target>,
}

impl Verifiers {
    /// Whether hints for a target may be minted as far as verifiers are concerned.
    pub(super) fn let_go(&self, target: &Target) -> bool {
        !self.awaited || self.heard.contains(target)
    }
}

impl Thread {
    /// Looks whether this store is the one that the last start left.
    pub(super) fn recognise(&mut self) -> Result<(), Refused> {
        let set = |value: Option<String>| value.is_some_and(|value| value == "1");
        self.verifiers.report = set(self.db.meta(REPORTS)?);
        let other = match (self.db.meta(FILE)?, files::floor_file(&self.setup.state)) {
            (None, _) => false,
            (Some(_), None) => true,
            // A higher number is of a later start: only the database was put back, and the floor is above it.
            (Some(left), Some((number, file))) => {
                let (known, same) = left.split_once(' ').unwrap_or_default();
                known.parse().map_or(true, |known: u32| number <= known) && same != file
            }
        };
        self.verifiers.awaited = self.verifiers.report && (other || set(self.db.meta(WAITING)?));
        if self.verifiers.awaited {
            awakener_spec::rule!(Emt2);
            tracing::error!(
                rule = "EMT-2",
                "these files were put back or moved: no hint is minted for a target before its wake daemon has said what \
                 it accepted last"
            );
            self.db.set_meta(WAITING, "1")?;
            self.db.note("emitter", "", self.clock.now(), json!({ "restored": { "floor_file": other } }))?;
        }
        Ok(())
    }

    /// Keeps which floor file this start has left. A start that dies before that counts as put back, which costs the
    /// time until the next report.
    pub(super) fn know_floor_file(&mut self) {
        let Some((number, file)) = files::floor_file(&self.setup.state) else { return };
        if let Err(fault) = self.db.set_meta(FILE, &format!("{number} {file}")) {
            tracing::warn!(reason = %fault.reason, "the floor file is not known to the next start: {fault}");
        }
    }

    /// A verifier has accepted `seen` last for a target. What is minted from now on is above it.
    pub(super) fn hear(&mut self, target: &Target, seen: Option<Token>) -> Result<(), Refused> {
        let now = self.clock.now();
        self.mailboxes.ensure(&mut self.db, target.as_str(), now)?;
        let Some(mailbox) = self.mailboxes.machine(target.as_str()) else { return Ok(()) };
        let (epoch, last) = (mailbox.image().epoch, mailbox.image().token);
        // Every later token is above the last one: only what is above that was seen in a time that this store forgot.
        let forgotten = seen.filter(|seen| last.is_none_or(|last| *seen > last) && seen.epoch() >= epoch);
        if let Some(seen) = forgotten
            && seen.epoch() > self.floor.max(epoch).saturating_add(TOO_MANY)
        {
            tracing::error!(%target, epoch = seen.epoch(), rule = "EMT-2", "no start of this plane had such an epoch");
            return Ok(());
        }
        let first = !self.verifiers.heard.contains(target);
        if !self.verifiers.report {
            self.db.set_meta(REPORTS, "1")?;
            self.verifiers.report = true;
        }
        if first {
            self.verifiers.heard.insert(target.clone());
        }
        if forgotten.is_some() || (first && self.verifiers.awaited) {
            awakener_spec::rule!(Emt2);
            let epoch = seen.map_or(0, Token::epoch);
            tracing::warn!(%target, epoch, rule = "EMT-2", "a verifier has said what it accepted last");
            let known =
                self.mailboxes.machines().filter_map(|(target, _)| Target::parse(target).ok()).collect();
            if let Err(refused) = self.start_emitters(known, epoch) {
                self.verifiers.heard.remove(target);
                return Err(refused);
            }
        }
        self.end_waiting()
    }

    /// Once every target was heard of, the next start waits for nobody.
    fn end_waiting(&mut self) -> Result<(), Refused> {
        let heard = &self.verifiers.heard;
        if !self.verifiers.awaited
            || !self.registry()?.image().targets.iter().all(|target| heard.contains(target))
        {
            return Ok(());
        }
        self.db.set_meta(WAITING, "0")?;
        self.verifiers.awaited = false;
        Ok(())
    }
}

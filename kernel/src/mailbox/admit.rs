//! A submission becomes a message, its witness and its audit entry in one step (INB-1, ACK-1).

use alloc::vec::Vec;

use awakener_spec::{Reason, rule};

use super::entry::Entry;
use super::input::Event;
use super::record::Record;
use super::{DraftOf, Mailbox, StepOf, timers};
use crate::admission::{self, AdmitFacts, Submitted, Verdict};
use crate::config::Config;
use crate::ids::Tier;
use crate::machine::{Draft, Step};
use crate::time::Now;

impl Mailbox {
    pub(super) fn admit(self, config: &Config, now: Now, submitted: Submitted, facts: &AdmitFacts) -> StepOf {
        let queued = self.image.queued.get(&submitted.principal).copied().unwrap_or_default();
        match admission::judge(&submitted, facts, queued, config, now) {
            Verdict::Repeat(_) => {
                rule!(Adm7);
                Step::absorbed(self)
            }
            Verdict::Refuse(reason) => self.refuse(reason),
            Verdict::Admit { tier, cause, depth } => {
                let entry = Entry {
                    id: submitted.id,
                    principal: submitted.principal,
                    content: submitted.content,
                    tier,
                    schema: submitted.schema,
                    admitted: now.wall,
                    cause,
                    depth,
                    read: false,
                    turn: None,
                    ended: Vec::new(),
                    response: None,
                    closed: None,
                    finished: None,
                    quarantined: false,
                    released: 0,
                };
                rule!(Adm11);
                self.store(config, now, entry)
            }
        }
    }

    fn store(self, config: &Config, now: Now, entry: Entry) -> StepOf {
        let seq = self.image.next();
        if self.image.last == Some(seq) {
            // The last sequence that a number can hold is in use.
            return self.refuse(Reason::QueueFull);
        }
        let Entry { tier, cause, depth, .. } = entry;
        let mut draft: DraftOf = Draft::new(self);
        draft.record(Record::Admitted { seq, entry });
        rule!(Inb1);
        rule!(Inb2);
        rule!(Rte2);
        if tier == Tier::Zero {
            rule!(Ack1);
            let timers = &mut draft.machine.timers;
            timers.escalations.insert(seq, now.mono + config.escalate);
            if let Some(pause) = timers::pause_before(config, 0) {
                timers.emissions.insert(seq, now.mono + pause);
            }
        }
        draft.advanced(Event::Admitted { seq, tier, cause, depth })
    }
}

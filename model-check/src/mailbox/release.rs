//! What becomes of a transaction, and what a commit lets out.

use awakener_kernel::machine::Outcome;
use awakener_kernel::mailbox::Mailbox;
use awakener_kernel::mailbox::input::{Effect, Event, Minted};
use serde_variant::to_variant_name;

use super::act::{Act, Call, Late};
use super::seen::{Asked, Broken};
use super::{State, World};
use crate::names;
use crate::process::{Fate, Visible};
use crate::world::{Edge, Label, Next, Verdict};

impl World {
    /// The open transaction commits.
    pub(super) fn commit(&self, state: &State, edges: &mut Vec<Edge<Self>>) {
        let mut next = state.clone();
        let visible = next.plane.commit(Fate::Durable).expect("a durable commit lets everything out");
        let effects =
            visible.effects.iter().map(|effect| to_variant_name(effect).expect("a variant")).collect();
        self.release(&mut next, state, visible);
        let label = Label { verdict: Verdict::Outside, what: "", effects };
        edges.push(Edge { action: Act::Commit, label, next: Next::To(next) });
    }

    /// It does not, or nobody knows.
    pub(super) fn commit_fails(&self, state: &mut State, fate: Fate) {
        state.spent.failures += 1;
        let calls: Vec<Asked> = state.plane.batch().to_vec();
        let outcomes =
            if fate == (Fate::Unknown { written: true }) { state.plane.peek() } else { Vec::new() };
        assert!(state.plane.commit(fate).is_none(), "a failed commit lets nothing out");
        let stepped = state.outside.clock.stepped;
        if !outcomes.is_empty() {
            state.learn(|seen| {
                for (asked, outcome) in calls.iter().zip(&outcomes) {
                    seen.settle(&self.bounds, stepped, asked, outcome, false, None);
                }
            });
        }
        match fate {
            // What surely did not happen is still owed.
            Fate::NotDurable => {
                for asked in &calls {
                    if let Call::Published(wake, handed) = asked.call {
                        state.owe(true, wake, handed);
                    }
                }
            }
            Fate::Unknown { .. } | Fate::Durable => state.keep_wall(&calls),
        }
        state.outside.clock.born = 0;
        state.outside.started = false;
    }

    /// What a commit lets out reaches the world, or is on its way to it.
    fn release(&self, state: &mut State, before: &State, visible: Visible<Mailbox, Asked>) {
        let asked: Vec<Asked> = visible.answers.iter().map(|(asked, _)| *asked).collect();
        state.keep_wall(&asked);
        let cursor =
            state.plane.disk().image.cursor.map_or(0, |seq| u8::try_from(seq.get()).unwrap_or(u8::MAX));
        let untold = untold(state, before, &visible.effects);
        let unescalated = unescalated(&visible);
        let hints: Vec<Minted> = visible
            .effects
            .iter()
            .filter_map(|effect| match effect {
                Effect::Publish(minted) => Some(*minted),
                Effect::TellOperator(_) => None,
            })
            .collect();
        let stepped = state.outside.clock.stepped;
        let changes = !visible.answers.is_empty() || state.seen.store.cursor != cursor || untold;
        if changes {
            state.learn(|seen| {
                let mut minted = hints.iter();
                for (asked, outcome) in &visible.answers {
                    let hint = match outcome {
                        Outcome::Advanced(Event::Minted) => minted.next(),
                        _ => None,
                    };
                    seen.settle(&self.bounds, stepped, asked, outcome, true, hint);
                }
                seen.flag(cursor < seen.store.cursor, Broken::Cursor);
                seen.flag(untold, Broken::Untold);
                seen.flag(unescalated, Broken::Unescalated);
                seen.store.cursor = cursor;
            });
        }
        let starts = |(asked, outcome): &(Asked, _)| {
            asked.call == Call::Start && *outcome == Outcome::Advanced(Event::Started)
        };
        state.outside.started |= visible.answers.iter().any(starts);
        for (asked, outcome) in &visible.answers {
            let heard = match (asked.call, outcome) {
                (Call::Claim(_), Outcome::Advanced(_) | Outcome::Absorbed) => {
                    asked.lease.map(|lease| Late::Lease(lease.fence))
                }
                (Call::Ask(d, wake), Outcome::Advanced(Event::Permitted(permit))) => {
                    let fence = u8::try_from(permit.fence.0).expect("models are small");
                    Some(Late::Permit(d, fence, wake))
                }
                (Call::Sweep, Outcome::Advanced(Event::Swept(minted))) => {
                    Some(Late::Swept(names::wake_number(minted.fresh.wake)))
                }
                _ => None,
            };
            let Some(heard) = heard else { continue };
            if self.bounds.late {
                state.late.push(heard);
                state.late.sort_unstable();
            } else {
                state.hear(heard);
            }
        }
        if self.bounds.late {
            state.unsent.extend(hints);
        } else {
            hints.into_iter().for_each(|hint| self.hand_over(state, hint, true));
        }
    }
}

/// Whether a message was set aside and the operator not told in the same commit (INB-8).
fn untold(state: &State, before: &State, effects: &[Effect]) -> bool {
    let earlier = &before.plane.disk().rows.messages;
    state.plane.disk().rows.messages.iter().any(|(seq, row)| {
        let newly = row.quarantined && earlier.get(seq).is_none_or(|known| !known.quarantined);
        newly && !effects.contains(&Effect::TellOperator(row.id))
    })
}

/// Whether the age of an alert was to be told, and was not (ACK-9).
fn unescalated(visible: &Visible<Mailbox, Asked>) -> bool {
    let due = |(_, outcome): &&(Asked, _)| *outcome == Outcome::Advanced(Event::Escalated);
    let told = |effect: &&Effect| matches!(effect, Effect::TellOperator(_));
    visible.answers.iter().filter(due).count() > visible.effects.iter().filter(told).count()
}

//! What is tried in every state besides what is under way: said again, said too late, made up, forged.
//!
//! Whoever says it, the plane must know by itself what it is worth; so every call that could name something of this
//! state is tried. One that would advance and that nobody in the scope may make is beyond it.

use awakener_kernel::ids::Fence;
use awakener_kernel::station::{self, Ticket};
use awakener_kernel::values::{Answer, By, DispatchOutcome, Finish, FlightEnd, Permit};
use awakener_kernel::waker;
use awakener_spec::Reason;

use super::act::{Act, Who};
use super::say::{AGENTS_TURN, FORGED, Flown, MESSAGES, Say, number};
use super::{Edges, State, World, beyond, vain};

impl World {
    /// Everything that somebody could say to the plane.
    pub(super) fn sayable(&self, state: &State) -> Vec<Say> {
        let disk = state.plane.process.disk();
        let mut all = vec![Say::Start, Say::Intrude, Say::Claim(0), Say::Claim(1)];
        all.extend(
            MESSAGES.iter().filter(|n| self.bounds.messages[usize::from(**n)]).map(|n| Say::Submit(*n)),
        );
        let stored: Vec<u8> = disk.rows.messages.values().map(|row| number(row.id)).collect();
        // Every lease that ever was, and one that never was.
        for fence in 1..=disk.image.lease_fence.0 + 1 {
            all.extend([Say::Renew(fence), Say::Release(fence)]);
            for n in &stored {
                all.extend([
                    Say::Read(fence, *n),
                    Say::Finish(fence, *n, AGENTS_TURN, Finish::Complete),
                    Say::Respond(fence, *n, AGENTS_TURN),
                    Say::Ack(*n, By::Station, fence),
                    Say::Forge(*n, By::Station, fence),
                ]);
            }
        }
        for n in &stored {
            all.extend([
                Say::Ack(*n, By::Agent, 0),
                Say::Ack(*n, By::Station, 0),
                Say::Forge(*n, By::Agent, 0),
            ]);
        }
        all.extend(stored.iter().map(|n| Say::Resolve(*n)));
        let wakes = u8::try_from(disk.rows.mints.len()).expect("models are small");
        for who in self.daemons() {
            all.push(Say::Sweep(who));
            all.extend((1..=wakes).chain([FORGED]).map(|wake| Say::Ask(who, wake)));
            all.push(Say::Report(who, disk.image.permit_fence.0 + 1, 1, Flown::Attempted));
            for permit in &state.seen.permits {
                let (fence, wake) = (permit.fence.0, permit.wake);
                all.extend([
                    Say::Report(who, fence, FORGED, Flown::Attempted),
                    Say::Report(who, fence, wake, Flown::Attempted),
                    Say::Report(who, fence, wake, Flown::Outcome(DispatchOutcome::NotifiedVerified)),
                    Say::Report(who, fence, wake, Flown::Ended(FlightEnd::Idle)),
                    Say::Report(who, fence, wake, Flown::Ended(FlightEnd::NeverStarted)),
                ]);
            }
        }
        all.extend(&state.net.late);
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Completions that answer nothing.
    pub(super) fn daemon_strays(&self, state: &State, who: Who, edges: &mut Edges) {
        let boot = state.daemon(who).process.disk().image.boot;
        let permit = Permit { fence: Fence(99), life: self.config.permit };
        let tickets =
            [waker::Ticket { boot, number: 99 }, waker::Ticket { boot: boot.saturating_sub(1), number: 1 }];
        let completions = tickets.into_iter().flat_map(|ticket| {
            [
                waker::Input::Answer { ticket, answer: Answer::Granted(permit) },
                waker::Input::AskFailed { ticket },
                waker::Input::Dispatched { ticket, outcome: DispatchOutcome::Unavailable },
                waker::Input::Probed { ticket, fate: waker::Fate::Gone },
                waker::Input::Swept { ticket, any: false },
            ]
        });
        let ends = [waker::Input::FlightEnded { attempt: 99, end: FlightEnd::ProcessEnded }];
        for (i, input) in (0..).zip(completions.chain(ends)) {
            let Some(done) = self.waker(state, who, input) else { return };
            let (act, label) = (Act::Stray(who, i), done.label.clone());
            if done.outcome.is_advanced() {
                beyond(edges, act, label);
            } else {
                vain(edges, act, label, done.left_trace);
            }
        }
    }

    /// The same for the station: also the tickets of this boot that are over.
    pub(super) fn station_strays(&self, state: &State, edges: &mut Edges) {
        use station::Input as I;
        let Some(machine) = state.station.process.live() else { return };
        let (last, awaited) = (machine.last_ticket(), [machine.ticket(), machine.cleaning()]);
        let earlier = Ticket { epoch: last.epoch.saturating_sub(1), number: 1 };
        let never = Ticket { epoch: last.epoch, number: last.number + 1 };
        let over = Ticket { epoch: last.epoch, number: last.number };
        let over = (last.number > 0 && !awaited.contains(&Some(over))).then_some(over);
        let mut i = 0;
        for ticket in [earlier, never].into_iter().chain(over) {
            let completions = [
                I::InboxRead { ticket },
                I::ResultRecorded { ticket },
                I::ResultRefused { ticket, why: Reason::LostLease },
                I::AckAccepted { ticket },
                I::AckRefused { ticket, why: Reason::LostLease },
                I::CleanupDone { ticket, cursor: station::CursorAfter::Pinned },
            ];
            for input in completions {
                let Some(done) = self.desk(state, input, 0) else { return };
                let (act, label) = (Act::Stray(Who::Station, i), done.label.clone());
                i += 1;
                if done.outcome.is_advanced() {
                    beyond(edges, act, label);
                } else {
                    vain(edges, act, label, done.left_trace);
                }
            }
        }
    }
}

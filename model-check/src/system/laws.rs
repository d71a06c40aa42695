//! What must hold in every state of a system world, each with a state that shows that it is not empty talk.
//!
//! A law names what a machine alone cannot promise: each promises its part, and the outside sees the whole.

use std::collections::BTreeSet;

use awakener_kernel::ids::{Fence, Seq, Tier};
use awakener_kernel::values::By;
use awakener_spec::ReceiptKind;

use super::act::{Act, Way, Who};
use super::ends::Help;
use super::say::{FORGED, Flown, MESSAGES, Say, is_alert};
use super::seen::Broken;
use super::{State, World};
use crate::names;
use crate::world::{Condition, Edge, Law, STUTTER, Verdict, refuses, stutters};

type Edges<'a> = &'a [Edge<World>];

macro_rules! intact {
    ($what:ident) => {
        |_, state: &State, _| !state.seen.broken.contains(&Broken::$what)
    };
}

/// Every law.
pub const LAWS: &[Law<World>] = &[
    Law { name: STUTTER, holds: stutters, twin: "something is refused", reached: refuses },
    Law {
        name: "FML-1 an image that was written can be woken",
        holds: intact!(Boot),
        twin: "a process is down that has worked",
        reached: |_, state, _| down_after_work(state),
    },
    Law {
        name: "EMT-3 nothing is dispatched but a minted hint of an admitted alert",
        holds: intact!(Unauthorised),
        twin: "something was dispatched",
        reached: DISPATCHED,
    },
    Law {
        name: "VER-1 a hint that nobody minted is not accepted",
        holds: |_, state, _| state.seen.accepted.iter().all(|accepted| !accepted.contains(&FORGED)),
        twin: "a hint of a stolen key was turned away",
        reached: |_, state, _| state.seen.spurned,
    },
    Law {
        name: "ADM-3 what a stranger says moves nothing",
        holds: |_, _, edges| said(edges).all(|(say, verdict)| !strange(say) || verdict != Verdict::Advanced),
        twin: "a stranger is heard by a target that has mail",
        reached: |_, state, edges| state.seen.admitted[0] && said(edges).any(|(say, _)| strange(say)),
    },
    Law {
        name: "VER-2 no daemon accepts a hint twice",
        holds: intact!(AcceptedTwice),
        twin: "a hint was accepted, and can come again",
        reached: |_, state, edges| {
            edges.iter().any(|edge| matches!(edge.action, Act::Come(who, wake) if accepted(state, who, wake)))
        },
    },
    Law {
        name: "VER-2 no daemon dispatches a wake twice, across its crashes",
        holds: intact!(WakeTwice),
        twin: "a wake was dispatched, and its alert is still outstanding",
        reached: |_, state, _| !state.seen.dispatched.is_empty() && outstanding(state, 0),
    },
    Law {
        name: "DSP-7 no two dispatches under one permit, and none without",
        holds: |_, state, _| {
            let broken = &state.seen.broken;
            !broken.contains(&Broken::PermitTwice) && !broken.contains(&Broken::Unpermitted)
        },
        twin: "something was dispatched",
        reached: DISPATCHED,
    },
    Law {
        name: "DSP-2 never two flights at once",
        holds: intact!(TwoFlights),
        twin: "a flight may still run while a daemon holds an answer or a hint",
        reached: |_, state, _| {
            !state.seen.flights.is_empty()
                && state.daemons.iter().any(|daemon| !daemon.inbox.is_empty())
                && state.net.air.iter().any(|air| !air.is_empty())
        },
    },
    Law {
        name: "DSP-2 a flight that ends unread costs an attempt",
        holds: |world, state, _| {
            let plane = &state.plane.process;
            let judged = plane.disk().image.lease.is_none() && !plane.is_staged();
            let set_aside =
                |n| plane.disk().rows.find(names::message(n)).is_some_and(|(_, row)| row.quarantined);
            !judged || alerts(state).all(|(n, _, open)| !open || !world.is_spent(state, n) || set_aside(n))
        },
        twin: "as many flights ended unread as there are attempts",
        reached: |world, state, _| alerts(state).any(|(n, _, open)| open && world.is_spent(state, n)),
    },
    Law {
        name: "DSP-7 the plane knows of an attempt before its dispatch leaves",
        holds: intact!(Unheard),
        twin: "something was dispatched",
        reached: DISPATCHED,
    },
    Law {
        name: "DSP-7 nothing is permitted after the operator has withdrawn it",
        holds: intact!(Withdrawn),
        twin: "a daemon asks for what was withdrawn",
        reached: |_, state, edges| {
            state.seen.withdrawn && edges.iter().any(|edge| matches!(edge.action, Act::Ask(_, Way::Heard)))
        },
    },
    Law {
        name: "RCP-2 an outcome is on record after its attempt",
        holds: |_, state, edges| {
            let told = &state.plane.process.disk().rows.told;
            let attempted = |wake, fence| told.contains(&(wake, fence, ReceiptKind::DispatchAttempted));
            // Whoever says it, and whatever he said before: the plane keeps the order by itself.
            let early = |(say, verdict)| match say {
                Say::Report(_, fence, wake, Flown::Outcome(_)) => {
                    verdict == Verdict::Advanced && !attempted(names::wake(wake), Fence(fence))
                }
                _ => false,
            };
            told.iter().all(|(wake, fence, _)| attempted(*wake, *fence))
                && (state.plane.process.is_staged() || !said(edges).any(early))
        },
        twin: "an outcome is on record",
        reached: |_, state, _| {
            let told = &state.plane.process.disk().rows.told;
            told.iter().any(|(_, _, kind)| *kind != ReceiptKind::DispatchAttempted)
        },
    },
    Law {
        name: "DSP-7 a permit that was replaced has no power",
        holds: |_, state, edges| {
            let last = state.seen.permits.iter().map(|permit| permit.fence.0).max().unwrap_or_default();
            said(edges).all(|(say, verdict)| {
                !matches!(say, Say::Report(_, fence, _, Flown::Attempted) if fence < last)
                    || verdict != Verdict::Advanced
            })
        },
        twin: "a permit was replaced",
        reached: |_, state, edges| state.seen.permits.len() > 1 && said(edges).next().is_some(),
    },
    Law {
        name: "INB-7 no two leases have power together",
        holds: |_, _, edges| powerful(edges).len() <= 1,
        twin: "a lease has power that is not the first",
        reached: |_, _, edges| powerful(edges).iter().any(|fence| *fence > 1),
    },
    Law {
        name: "INB-7 a lease that was replaced has no power",
        holds: |_, state, edges| {
            said(edges).all(|(say, verdict)| {
                say.lease().is_none_or(|fence| fence >= state.seen.lease.0) || verdict != Verdict::Advanced
            })
        },
        twin: "a lease was replaced",
        reached: |_, state, edges| state.seen.lease.0 > 1 && said(edges).next().is_some(),
    },
    Law {
        name: "STN-5 what is claimed was admitted and is still owed",
        holds: intact!(Work),
        twin: "a lease was taken",
        reached: |_, state, _| state.seen.lease.0 > 0,
    },
    Law {
        name: "STN-6 no turn after a complete one",
        holds: intact!(TurnTwice),
        twin: "a turn was complete, and its alert is still outstanding",
        reached: |_, state, _| state.seen.observed[0] && outstanding(state, 0),
    },
    Law {
        name: "STN-6 no message is answered twice",
        holds: intact!(ReplyTwice),
        twin: "an answer is recorded, and its alert is still outstanding",
        reached: |_, state, _| state.seen.replied[0] && outstanding(state, 0),
    },
    Law {
        name: "ACK-5 the station acknowledges what it has answered",
        holds: |_, state, edges| {
            let rows = &state.plane.process.disk().rows;
            let answered = |n| rows.find(names::message(n)).is_some_and(|(_, row)| row.response.is_some());
            // Whoever says it: the plane knows by itself what is answered.
            let early = |(say, verdict)| match say {
                Say::Ack(n, By::Station, _) => verdict == Verdict::Advanced && !answered(n),
                _ => false,
            };
            !state.seen.broken.contains(&Broken::AckFirst)
                && (state.plane.process.is_staged() || !said(edges).any(early))
        },
        twin: "the station's ACK was accepted",
        reached: |_, state, _| state.seen.acked[0] == Some(By::Station),
    },
    Law {
        name: "ACK-7 nothing is acknowledged twice",
        holds: intact!(AckTwice),
        twin: "an ACK was accepted",
        reached: |_, state, _| state.seen.acked[0].is_some(),
    },
    Law {
        name: "ACK-3 a witness closes by its target's ACK or by the operator",
        holds: |_, state, _| alerts(state).all(|(n, _, open)| open || spoken(state, n)),
        twin: "a witness is closed",
        reached: |_, state, _| alerts(state).any(|(_, _, open)| !open),
    },
    Law {
        name: "ACK-2 the cursor never reaches an open witness",
        holds: |_, state, _| {
            let cursor = state.plane.process.disk().image.cursor;
            alerts(state).all(|(n, seq, open)| cursor < Some(seq) || (!open && spoken(state, n)))
        },
        twin: "a witness is open",
        reached: |_, state, _| alerts(state).any(|(_, _, open)| open),
    },
    Law {
        name: "INB-1 what was admitted is on disk",
        holds: |_, state, _| {
            MESSAGES.iter().all(|n| {
                !state.seen.admitted[usize::from(*n)]
                    || state.plane.process.disk().rows.find(names::message(*n)).is_some()
            })
        },
        twin: "a message was admitted",
        reached: |_, state, _| state.seen.admitted[0],
    },
    Law {
        name: "ACK-3 what was acknowledged stays so",
        holds: |_, state, _| {
            alerts(state).all(|(n, _, open)| state.seen.acked[usize::from(n)].is_none() || !open)
        },
        twin: "an ACK was accepted",
        reached: |_, state, _| state.seen.acked[0].is_some(),
    },
    Law {
        name: "FUS-6 a latched station starts no turn",
        holds: intact!(TurnLatched),
        twin: "a station is latched while its alert is outstanding",
        reached: |_, state, _| state.seen.latched && outstanding(state, 0),
    },
    Law {
        name: "DSP-11 an admitted alert is done in the end by wakes alone, or somebody was told",
        holds: |world, state, edges| !ended(edges) || world.done_in_the_end(Help::Wakes, state),
        twin: "a path ends with an open witness",
        reached: |_, state, edges| ended(edges) && outstanding(state, 0),
    },
    Law {
        name: "STN-3 what is admitted is done in the end by looks alone, or somebody was told",
        holds: |world, state, edges| !ended(edges) || world.done_in_the_end(Help::Polls, state),
        twin: "a path ends with an open witness",
        reached: |_, state, edges| ended(edges) && outstanding(state, 0),
    },
];

const DISPATCHED: Condition<World> = |_, state, _| !state.seen.dispatched.is_empty();

impl World {
    /// Whether flights have used up the attempts for message `n`.
    fn is_spent(&self, state: &State, n: u8) -> bool {
        u32::from(state.seen.vain[usize::from(n)]) >= self.bounds.attempts
    }
}

/// Whether a path ends here.
fn ended(edges: Edges<'_>) -> bool {
    !edges.iter().any(Edge::moves)
}

fn accepted(state: &State, who: Who, wake: u8) -> bool {
    state.seen.accepted[super::place(who)].contains(&wake)
}

fn down_after_work(state: &State) -> bool {
    let worked = !state.plane.process.disk().rows.messages.is_empty();
    let station = &state.station;
    worked
        && (state.plane.process.is_down()
            || station.process.is_down()
            || state.daemons.iter().any(|daemon| daemon.process.is_down()))
}

/// Everything that is said to the plane in this state by anybody, and how it ends.
fn said(edges: Edges<'_>) -> impl Iterator<Item = (Say, Verdict)> + '_ {
    edges.iter().filter_map(|edge| match edge.action {
        Act::Say(say) => Some((say, edge.label.verdict)),
        _ => None,
    })
}

/// Whether nobody who may say it says it.
const fn strange(say: Say) -> bool {
    match say {
        Say::Intrude | Say::Forge(..) => true,
        Say::Ask(_, wake) | Say::Report(_, _, wake, _) => wake == FORGED,
        _ => false,
    }
}

/// Leases under which something could be done to a message now.
fn powerful(edges: Edges<'_>) -> BTreeSet<u64> {
    said(edges)
        .filter(|(say, verdict)| matches!(say, Say::Renew(_)) && *verdict == Verdict::Advanced)
        .filter_map(|(say, _)| say.lease())
        .collect()
}

/// Alerts on disk: number, place, whether the witness is open.
fn alerts(state: &State) -> impl Iterator<Item = (u8, Seq, bool)> + '_ {
    let rows = state.plane.process.disk().rows.messages.iter();
    rows.filter(|(_, row)| row.tier == Tier::Zero)
        .map(|(seq, row)| (super::say::number(row.id), *seq, row.closed.is_none()))
}

/// Whether somebody who may close alert `n` has said so.
fn spoken(state: &State, n: u8) -> bool {
    state.seen.presented[usize::from(n)] || state.seen.resolved[usize::from(n)]
}

fn outstanding(state: &State, n: u8) -> bool {
    is_alert(n)
        && state.seen.acked[usize::from(n)].is_none()
        && alerts(state).any(|(m, _, open)| m == n && open)
}

//! What a random run is made of: things that may happen, and an outside that turns them into inputs.

use std::collections::BTreeMap;

use awakener_kernel::ids::Fence;
use awakener_kernel::time::Millis;
use awakener_kernel::values::{Answer, DispatchOutcome, FlightEnd, Hint, Permit};
use awakener_kernel::waker::{Capability, Effect, Fate, Input, Missing, Ticket};
use awakener_spec::Class;
use proptest::prelude::*;
use proptest::sample::{Index, select};

use crate::rig::{Fortune, Rig, hint};

/// One thing that may happen.
#[derive(Clone, Debug)]
pub enum Op {
    Fresh {
        life: u64,
    },
    Old {
        which: Index,
        new_nonce: bool,
        renewed: bool,
    },
    /// One of the things that are out is completed, or, if `late`, something with its ticket from before.
    Complete {
        port: Index,
        late: bool,
        how: How,
    },
    /// The open flight ends; if `late`, another one.
    FlightEnded {
        late: bool,
        end: FlightEnd,
    },
    InboxRead {
        late: bool,
    },
    Switch(Input),
    Fire,
    WaitAndFire,
    Wait {
        wall: u64,
        mono: u64,
    },
    Crash {
        later: u64,
        mono: u64,
    },
    CommitFails(Fortune),
}

/// How whatever is out comes back.
#[derive(Clone, Debug)]
pub struct How {
    reached: bool,
    answer: Answer,
    outcome: DispatchOutcome,
    fate: Fate,
    any: bool,
}

pub fn ops() -> impl Strategy<Value = Vec<Op>> {
    proptest::collection::vec(op(), 60..100)
}

fn op() -> impl Strategy<Value = Op> {
    let late = || prop::bool::weighted(0.2);
    let capability = select(vec![
        Capability::Unattended,
        Capability::Unattended,
        Capability::Attended,
        Capability::Missing(Missing::NoTier0Ack),
    ]);
    let switch = prop_oneof![
        3 => Just(Input::Pause),
        4 => Just(Input::Resume),
        4 => capability.prop_map(Input::Capability),
        3 => Just(Input::Reconnect),
    ];
    let end =
        vec![FlightEnd::ProcessEnded, FlightEnd::WorkFinished, FlightEnd::Idle, FlightEnd::NeverStarted];
    let fortune = select(vec![Fortune::NotDurable, Fortune::UnknownButWritten]);
    prop_oneof![
        12 => (2..=8_u64).prop_map(|life| Op::Fresh { life }),
        6 => (any::<Index>(), any::<bool>(), prop::bool::weighted(0.8))
            .prop_map(|(which, new_nonce, renewed)| Op::Old { which, new_nonce, renewed }),
        40 => (any::<Index>(), late(), how()).prop_map(|(port, late, how)| Op::Complete { port, late, how }),
        6 => (late(), select(end)).prop_map(|(late, end)| Op::FlightEnded { late, end }),
        3 => late().prop_map(|late| Op::InboxRead { late }),
        9 => switch.prop_map(Op::Switch),
        3 => Just(Op::Fire),
        12 => Just(Op::WaitAndFire),
        8 => (0..4_u64, 0..4_u64).prop_map(|(wall, mono)| Op::Wait { wall, mono }),
        3 => (0..40_u64, 0..4_u64).prop_map(|(later, mono)| Op::Crash { later, mono }),
        2 => fortune.prop_map(Op::CommitFails),
    ]
}

fn how() -> impl Strategy<Value = How> {
    let fate = select(vec![Fate::Gone, Fate::CannotTell, Fate::Alive]);
    (prop::bool::weighted(0.8), answer(), select(&DispatchOutcome::ALL[..]), fate, any::<bool>())
        .prop_map(|(reached, answer, outcome, fate, any)| How { reached, answer, outcome, fate, any })
}

fn answer() -> impl Strategy<Value = Answer> {
    let classes = vec![
        Class::Unminted,
        Class::AuthorityWithdrawn,
        Class::NotArmed,
        Class::NotOutstanding,
        Class::PermitHeld,
        Class::PermitHeld,
    ];
    prop_oneof![
        5 => select(vec![0_u64, 3, 6, 6, 6]).prop_map(|life| Answer::Granted(Permit { fence: Fence(0), life: Millis(life) })),
        1 => select(classes).prop_map(Answer::Withheld),
    ]
}

/// A party that was asked something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Port {
    Question,
    Sweep,
    Adapter,
    Probe,
}

/// The outside, as far as it must remember what it was asked.
#[derive(Default)]
pub struct Outside {
    awaited: BTreeMap<Port, Ticket>,
    past: BTreeMap<Port, Ticket>,
    hints: Vec<Hint>,
    fences: u64,
}

impl Outside {
    pub fn heard(&mut self, effect: &Effect) {
        let (port, ticket) = match effect {
            Effect::Ask { ticket, .. } => (Port::Question, *ticket),
            Effect::Dispatch { ticket, .. } => (Port::Adapter, *ticket),
            Effect::Probe { ticket, .. } => (Port::Probe, *ticket),
            Effect::Sweep { ticket } => (Port::Sweep, *ticket),
            Effect::Report { .. } | Effect::TellOperator(_) => return,
        };
        if let Some(given_up) = self.awaited.insert(port, ticket) {
            self.past.insert(port, given_up);
        }
    }

    pub fn lost(&mut self) {
        self.past.append(&mut self.awaited);
    }

    fn complete(&mut self, port: Index, late: bool, how: &How) -> Option<Input> {
        let out: Vec<_> = self.awaited.keys().copied().collect();
        let port = *out.get(port.index(out.len().max(1)))?;
        let ticket = if late {
            *self.past.get(&port).unwrap_or(&Ticket { boot: 0, number: 9 })
        } else {
            let ticket = self.awaited.remove(&port)?;
            self.past.insert(port, ticket);
            ticket
        };
        Some(match port {
            Port::Question | Port::Sweep if !how.reached => Input::AskFailed { ticket },
            Port::Question => Input::Answer { ticket, answer: self.under_a_new_fence(how.answer) },
            Port::Sweep => Input::Swept { ticket, any: how.any },
            Port::Adapter => Input::Dispatched { ticket, outcome: how.outcome },
            Port::Probe => Input::Probed { ticket, fate: how.fate },
        })
    }

    fn under_a_new_fence(&mut self, answer: Answer) -> Answer {
        self.fences += 1;
        match answer {
            Answer::Granted(permit) => Answer::Granted(Permit { fence: Fence(self.fences), ..permit }),
            Answer::Withheld(class) => Answer::Withheld(class),
        }
    }

    /// The input that an op means here and now; `None`: nothing to say.
    pub fn input(&mut self, rig: &mut Rig, op: &Op) -> Option<Input> {
        let flying = rig.disk.image.flight.map(|flight| flight.attempt);
        let attempt = |late: bool| flying.map(|attempt| if late { attempt - 1 } else { attempt });
        Some(match op {
            Op::Fresh { life } => {
                let fresh = rig.mint(*life);
                self.hints.push(fresh);
                Input::Hint(fresh)
            }
            Op::Old { which, new_nonce, renewed } => {
                let mut old = *self.hints.get(which.index(self.hints.len().max(1)))?;
                if *new_nonce {
                    old.nonce = hint(1_000_000 + rig.now.mono.0, rig.now.wall, 1).nonce;
                }
                if *renewed {
                    old.expires = old.expires.max(rig.now.wall + Millis(1));
                }
                Input::Hint(old)
            }
            Op::Complete { port, late, how } => self.complete(*port, *late, how)?,
            Op::FlightEnded { late, end } => Input::FlightEnded { attempt: attempt(*late)?, end: *end },
            Op::InboxRead { late } => Input::InboxRead { attempt: attempt(*late)? },
            Op::Switch(input) => *input,
            Op::Fire => Input::Fire,
            Op::WaitAndFire => {
                let due = rig.due()?;
                rig.wait(due.saturating_since(rig.now.mono).0);
                Input::Fire
            }
            Op::Wait { .. } | Op::Crash { .. } | Op::CommitFails(_) => return None,
        })
    }
}

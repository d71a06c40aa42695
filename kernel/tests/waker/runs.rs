//! Random runs: what may happen to a waker, in an order and at times that nobody planned.
//!
//! Each run prints how often each kind of input advanced, was absorbed, was refused, and fails when an outcome that
//! the kind can have became rare: a law that is never put to the test holds for nothing.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use awakener_kernel::ids::Fence;
use awakener_kernel::machine::{Machine, Outcome};
use awakener_kernel::time::{Millis, Mono, Now};
use awakener_kernel::values::{Answer, DispatchOutcome, FlightEnd, Hint, Permit};
use awakener_kernel::waker::{Capability, Effect, Fate, Image, Input, Missing, Ticket, Waker};
use awakener_spec::Class;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::{Config as Runs, RngAlgorithm, TestRng, TestRunner};

use crate::rig::{Fortune, Rig, Seen, hint, name, tiny};

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

fn ops() -> impl Strategy<Value = Vec<Op>> {
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

/// One step, with everything around it.
#[derive(Debug)]
pub struct Happening<'a> {
    pub rig: &'a Rig,
    pub now: Now,
    pub before: &'a Waker,
    pub disk_before: &'a Image,
    pub input: Input,
    pub seen: &'a Seen,
}

/// What a law is shown.
#[derive(Debug)]
pub enum Scene<'a> {
    /// A committed step.
    Step(Happening<'a>),
    /// The waker was recovered: after a crash, or after a commit that failed (then the process lives on).
    Recovered(&'a Rig),
    /// The run is over.
    End(&'a Rig),
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
struct Outside {
    awaited: BTreeMap<Port, Ticket>,
    past: BTreeMap<Port, Ticket>,
    hints: Vec<Hint>,
    fences: u64,
}

impl Outside {
    fn heard(&mut self, effect: &Effect) {
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

    fn lost(&mut self) {
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
    fn input(&mut self, rig: &mut Rig, op: &Op) -> Option<Input> {
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

/// Advanced, absorbed, refused per kind of input; and the names of all events and classes that occurred.
#[derive(Default)]
struct Tally {
    kinds: BTreeMap<&'static str, [u32; 3]>,
    names: BTreeSet<String>,
}

/// Events beside [`Event::Booted`], and the classes that the waker itself tells.
const NAMES: usize = 18 + 4;

impl Tally {
    fn count(&mut self, input: &Input, seen: &Seen) {
        let (place, name) = match seen.outcome {
            Outcome::Advanced(event) => (0, Some(name(&event))),
            Outcome::Absorbed => (1, None),
            Outcome::Refused(class) => (2, Some(name(&class))),
        };
        self.kinds.entry(kind(input)).or_default()[place] += 1;
        self.names.extend(name);
    }

    fn judge(&self) {
        for (kind, counts) in &self.kinds {
            let all: u32 = counts.iter().sum();
            let [advanced, absorbed, refused] = counts.map(|n| f64::from(n) * 100.0 / f64::from(all));
            println!(
                "{kind:13} {all:6}  advanced {advanced:3.0} %  absorbed {absorbed:3.0} %  refused {refused:3.0} %"
            );
            let possible = if *kind == "hint" { 3 } else { 2 };
            for share in [advanced, absorbed, refused].iter().take(possible) {
                assert!(*share >= 5.0, "{kind}: an outcome is too rare to be tested");
            }
        }
        assert_eq!(self.kinds.len(), 13, "every kind of input occurs");
        assert_eq!(self.names.len(), NAMES, "every event and class occurs: {:?}", self.names);
    }
}

const fn kind(input: &Input) -> &'static str {
    match input {
        Input::Hint(_) => "hint",
        Input::Answer { .. } => "answer",
        Input::AskFailed { .. } => "ask_failed",
        Input::Dispatched { .. } => "dispatched",
        Input::Probed { .. } => "probed",
        Input::FlightEnded { .. } => "flight_ended",
        Input::InboxRead { .. } => "inbox_read",
        Input::Pause => "pause",
        Input::Resume => "resume",
        Input::Capability(_) => "capability",
        Input::Reconnect => "reconnect",
        Input::Swept { .. } => "swept",
        Input::Fire => "fire",
    }
}

/// Shows a law every step of many runs; `G` is what the law remembers within one run.
pub fn runs<G: Default>(law: impl Fn(&mut G, &Scene<'_>)) {
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    // Making the runs costs more than running them; PROPTEST_CASES gives more.
    let few = Runs { cases: Runs::default().cases / 2, failure_persistence: None, ..Runs::default() };
    let mut runner = TestRunner::new_with_rng(few, rng);
    let tally = RefCell::new(Tally::default());
    let run = |ops: Vec<Op>| {
        one_run(&ops, &law, &mut tally.borrow_mut());
        Ok(())
    };
    runner.run(&ops(), run).unwrap_or_else(|failure| panic!("{failure}"));
    tally.borrow().judge();
}

fn one_run<G: Default>(ops: &[Op], law: &impl Fn(&mut G, &Scene<'_>), tally: &mut Tally) {
    let (mut rig, mut outside, mut memory) = (Rig::new(tiny()), Outside::default(), G::default());
    rig.give(Input::Capability(Capability::Unattended));
    let mut fortune = Fortune::Durable;
    for op in ops {
        match op {
            Op::Wait { wall, mono } => {
                rig.now = Now { wall: rig.now.wall + Millis(*wall), mono: rig.now.mono + Millis(*mono) };
            }
            Op::Crash { later, mono } => {
                rig.crash(*later, *mono);
                outside.lost();
                law(&mut memory, &Scene::Recovered(&rig));
                rig.give(Input::Capability(Capability::Unattended));
            }
            Op::CommitFails(next) => fortune = *next,
            _ => {}
        }
        let Some(input) = outside.input(&mut rig, op) else { continue };
        let (before, disk_before, now) = (rig.waker.clone(), rig.disk.image.clone(), rig.now);
        let Some(seen) = rig.try_give(input, std::mem::take(&mut fortune)) else {
            outside.lost();
            law(&mut memory, &Scene::Recovered(&rig));
            rig.give(Input::Capability(Capability::Unattended));
            continue;
        };
        rig.waker.check(&rig.config).unwrap();
        tally.count(&input, &seen);
        seen.effects.iter().for_each(|effect| outside.heard(effect));
        let (before, disk_before) = (&before, &disk_before);
        law(&mut memory, &Scene::Step(Happening { rig: &rig, now, before, disk_before, input, seen: &seen }));
    }
    law(&mut memory, &Scene::End(&rig));
}

/// The moment before which nothing is due.
pub fn is_due(waker: &Waker, rig: &Rig, mono: Mono) -> bool {
    waker.deadline(&rig.config).is_some_and(|due| due <= mono)
}

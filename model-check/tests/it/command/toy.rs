//! A world small enough to know everything about: a counter that is saved, and an adversary that crashes it.
//!
//! It is the worlds' stand-in where the command itself is looked at: its fault is planted, its numbers are counted by
//! hand. With `EMPTY` it has a law that cannot be shown not to be empty.

use awakener_model_check::world::{
    Edge, Gap, Group, Label, Law, Next, STUTTER, Scope, Verdict, World, refuses, stutters,
};
use serde::{Deserialize, Serialize};

/// The world.
#[derive(Clone, Debug)]
pub struct Toy<const EMPTY: bool> {
    /// How far it counts.
    pub most: u32,
    /// How often it crashes.
    pub crashes: u8,
    /// A crash loses what was saved.
    pub forgets: bool,
}

/// One state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct State {
    memory: Memory,
    disk: u32,
    crashes: u8,
    /// Ghost: what was said to be saved.
    said: Vec<u32>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
enum Memory {
    #[default]
    Down,
    Up {
        count: u32,
    },
}

/// One action.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Act {
    Boot,
    Add { by: u32 },
    Write(Write),
    Crash,
    Knock,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Write {
    Save,
    Again,
}

pub const SURVIVES: &str = "INB-1 what was said to be saved survives";

const fn law<const E: bool>(
    name: &'static str,
    holds: awakener_model_check::world::Condition<Toy<E>>,
    twin: &'static str,
    reached: awakener_model_check::world::Condition<Toy<E>>,
) -> Law<Toy<E>> {
    Law { name, holds, twin, reached }
}

fn survives<const E: bool>(_: &Toy<E>, state: &State, _: &[Edge<Toy<E>>]) -> bool {
    state.said.last().is_none_or(|said| state.disk >= *said)
}

fn crashed_after_saving<const E: bool>(_: &Toy<E>, state: &State, _: &[Edge<Toy<E>>]) -> bool {
    state.crashes > 0 && !state.said.is_empty()
}

fn small<const E: bool>(_: &Toy<E>, _: &State, edges: &[Edge<Toy<E>>]) -> bool {
    edges.iter().all(|edge| edge.action != Act::Add { by: 3 } || !edge.moves())
}

fn knocked<const E: bool>(_: &Toy<E>, _: &State, edges: &[Edge<Toy<E>>]) -> bool {
    edges.iter().any(|edge| edge.action == Act::Knock)
}

fn unmoved<const E: bool>(_: &Toy<E>, _: &State, edges: &[Edge<Toy<E>>]) -> bool {
    edges.iter().all(|edge| edge.action != Act::Knock || !edge.moves())
}

fn anything<const E: bool>(_: &Toy<E>, _: &State, _: &[Edge<Toy<E>>]) -> bool {
    true
}

impl<const E: bool> World for Toy<E> {
    type State = State;
    type Action = Act;

    const NAME: &'static str = "toy";
    const LAWS: &'static [Law<Self>] = if E {
        &[
            law(STUTTER, stutters, "something is refused", refuses),
            law("INB-2 it counts", anything, "it is", anything),
        ]
    } else {
        &[
            law(STUTTER, stutters, "something is refused", refuses),
            law(SURVIVES, survives, "it crashed after it had saved", crashed_after_saving),
            law("INB-2 it never counts by three", small, "it runs", |_, state, _| {
                state.memory != Memory::Down
            }),
            law("ADM-3 who knocks is not let in", unmoved, "somebody knocks", knocked),
        ]
    };
    const ABSTRACTIONS: &'static [&'static str] = &["Numbers stand for what is written."];
    const GAPS: &'static [Gap] = &[
        Gap { what: "disks | that lie", covered_by: "model-check/tests/it/command/toy.rs::a_test" },
        Gap { what: "the weather", covered_by: "nothing can" },
    ];

    fn scopes() -> Vec<Scope<Self>> {
        let scope = |name, group, most: u32, crashes: u8, forgets| Scope {
            name,
            group,
            bounds: vec![("most", most.to_string()), ("crashes", crashes.to_string())],
            world: Self { most, crashes, forgets },
        };
        vec![
            scope("calm", Group::Tiny, 2, 0, false),
            scope("crash", Group::Tiny, 2, 1, false),
            scope("forgets", Group::Ci, 2, 1, true),
            scope("wide", Group::Ci, 400, 1, false),
            scope("long", Group::Deep, 40, 1, false),
        ]
    }

    fn init(&self) -> Vec<State> {
        vec![State::default()]
    }

    fn steps(&self, state: &State, edges: &mut Vec<Edge<Self>>) {
        let mut push = |action, label, next| edges.push(Edge { action, label, next });
        let with = |change: &dyn Fn(&mut State)| {
            let mut state = state.clone();
            change(&mut state);
            Next::To(state)
        };
        let Memory::Up { count } = state.memory else {
            let boot = with(&|state| state.memory = Memory::Up { count: state.disk });
            push(Act::Boot, Label::OUTSIDE, boot);
            return push(Act::Knock, Label::of(Verdict::Refused, "nobody"), Next::Stays);
        };
        for by in 0..=1 {
            let (label, next) = match count + by {
                same if same == count => (Label::of(Verdict::Refused, "nothing"), Next::Stays),
                over if over > self.most => (Label::of(Verdict::Advanced, "added"), Next::Beyond),
                count => (
                    Label::of(Verdict::Advanced, "added"),
                    with(&|state| state.memory = Memory::Up { count }),
                ),
            };
            push(Act::Add { by }, label, next);
        }
        let saves = Label { effects: vec!["tell"], ..Label::of(Verdict::Advanced, "saved") };
        let save = with(&|state| {
            state.disk = count;
            state.said = vec![count];
        });
        let next = if count == state.disk { Next::Stays } else { save };
        let label = if count == state.disk { Label::of(Verdict::Absorbed, "saved_already") } else { saves };
        push(Act::Write(Write::Save), label, next);
        if state.crashes < self.crashes {
            let forgets = self.forgets;
            let crash = with(&|state| {
                state.memory = Memory::Down;
                state.crashes += 1;
                state.disk = if forgets { 0 } else { state.disk };
            });
            push(Act::Crash, Label::OUTSIDE, crash);
        }
    }

    fn parties(action: &Act) -> (&'static str, &'static str) {
        match action {
            Act::Boot | Act::Crash => ("adversary", "counter"),
            Act::Add { .. } | Act::Write(_) | Act::Knock => ("caller", "counter"),
        }
    }
}

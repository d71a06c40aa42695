//! Two-phase commit with a state of one machine word: what other checkers were measured on.
//!
//! The protocol of Gray and Lamport ("Consensus on Transaction Commit", 2003), action for action as in the example `2pc`
//! of stateright, so that the graph is the same: 288 states with three resource managers, 8,832 with five, 296,448 with
//! seven, 10,340,352 and 123,558,401 edges with nine. No world of the kernel: nothing of awakener is in it.

use serde::{Deserialize, Serialize};
use stateright::{Model, Property};

use crate::world::{Edge, Gap, Group, Label, Law, Next, Scope, World};

/// Two-phase commit with so many resource managers, at most 12.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TwoPhase {
    managers: u32,
}

/// One state. Planes of twelve bits, one bit per resource manager: low and high bit of its state (working, prepared,
/// committed, aborted), whether the transaction manager knows that it is prepared, whether it has said so; then the
/// decision (2 bits), and whether commit and abort have been said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct State(u64);

const PLANE: u32 = 12;
const LOW: u32 = 0;
const HIGH: u32 = PLANE;
const KNOWN: u32 = 2 * PLANE;
const SAID: u32 = 3 * PLANE;
const DECIDED: u64 = 0b11 << (4 * PLANE);
const COMMITTED: u64 = 0b01 << (4 * PLANE);
const ABORTED: u64 = 0b10 << (4 * PLANE);
const COMMIT: u64 = 0b01 << (4 * PLANE + 2);
const ABORT: u64 = 0b10 << (4 * PLANE + 2);

/// One action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Act {
    /// The transaction manager decides to commit.
    TmCommit,
    /// It decides to abort.
    TmAbort,
    /// It hears that a resource manager is prepared.
    TmRcvPrepared(u8),
    /// A resource manager prepares.
    RmPrepare(u8),
    /// It gives up.
    RmChooseToAbort(u8),
    /// It hears of the commit.
    RmRcvCommitMsg(u8),
    /// It hears of the abort.
    RmRcvAbortMsg(u8),
}

impl TwoPhase {
    /// With so many resource managers.
    ///
    /// # Panics
    /// With more than 12.
    pub const fn new(managers: u32) -> Self {
        assert!(managers <= PLANE, "a plane has twelve bits");
        Self { managers }
    }

    const fn all(self) -> u64 {
        (1 << self.managers) - 1
    }

    const fn plane(self, state: State, plane: u32) -> u64 {
        state.0 >> plane & self.all()
    }

    fn aborted(self, state: State) -> u64 {
        self.plane(state, LOW) & self.plane(state, HIGH)
    }

    fn committed(self, state: State) -> u64 {
        !self.plane(state, LOW) & self.plane(state, HIGH)
    }

    /// Everything that is enabled, in the order of the example.
    fn enabled(self, State(state): State, mut act: impl FnMut(Act, State)) {
        let undecided = state & DECIDED == 0;
        if undecided && self.plane(State(state), KNOWN) == self.all() {
            act(Act::TmCommit, State(state | COMMITTED | COMMIT));
        }
        if undecided {
            act(Act::TmAbort, State(state | ABORTED | ABORT));
        }
        for (number, manager) in (0_u8..).zip(0..self.managers) {
            let bit = |plane| 1_u64 << (plane + manager);
            if undecided && state & bit(SAID) != 0 {
                act(Act::TmRcvPrepared(number), State(state | bit(KNOWN)));
            }
            if state & (bit(LOW) | bit(HIGH)) == 0 {
                act(Act::RmPrepare(number), State(state | bit(LOW) | bit(SAID)));
                act(Act::RmChooseToAbort(number), State(state | bit(LOW) | bit(HIGH)));
            }
            if state & COMMIT != 0 {
                act(Act::RmRcvCommitMsg(number), State(state & !bit(LOW) | bit(HIGH)));
            }
            if state & ABORT != 0 {
                act(Act::RmRcvAbortMsg(number), State(state | bit(LOW) | bit(HIGH)));
            }
        }
    }

    fn consistent(self, state: State) -> bool {
        self.aborted(state) == 0 || self.committed(state) == 0
    }
}

impl World for TwoPhase {
    type State = State;
    type Action = Act;

    const NAME: &'static str = "two_phase";
    const LAWS: &'static [Law<Self>] = &[
        Law {
            name: "TPC-1 no two resource managers end differently",
            holds: |world, state, _| world.consistent(*state),
            twin: "all abort",
            reached: |world, state, _| world.aborted(*state) == world.all(),
        },
        Law {
            name: "TPC-2 commit is only said when all are known to be prepared",
            holds: |world, state, _| state.0 & COMMIT == 0 || world.plane(*state, KNOWN) == world.all(),
            twin: "all commit",
            reached: |world, state, _| world.committed(*state) == world.all(),
        },
    ];
    const ABSTRACTIONS: &'static [&'static str] =
        &["Messages are a set: never lost, received any number of times."];
    const GAPS: &'static [Gap] = &[];

    fn scopes() -> Vec<Scope<Self>> {
        let scope = |name, group, managers: u32| Scope {
            name,
            group,
            bounds: vec![("managers", managers.to_string())],
            world: Self::new(managers),
        };
        vec![
            scope("managers_3", Group::Tiny, 3),
            scope("managers_5", Group::Tiny, 5),
            scope("managers_7", Group::Ci, 7),
            scope("managers_9", Group::Deep, 9),
        ]
    }

    fn init(&self) -> Vec<State> {
        vec![State(0)]
    }

    fn steps(&self, state: &State, edges: &mut Vec<Edge<Self>>) {
        self.enabled(*state, |action, next| {
            edges.push(Edge { action, label: Label::OUTSIDE, next: Next::To(next) });
        });
    }

    fn parties(action: &Act) -> (&'static str, &'static str) {
        match action {
            Act::TmCommit | Act::TmAbort => ("tm", "tm"),
            Act::TmRcvPrepared(_) => ("rm", "tm"),
            Act::RmPrepare(_) | Act::RmChooseToAbort(_) => ("rm", "rm"),
            Act::RmRcvCommitMsg(_) | Act::RmRcvAbortMsg(_) => ("tm", "rm"),
        }
    }
}

/// The same for stateright, without anything of ours between: the fastest that it can be.
#[derive(Clone, Copy, Debug)]
pub struct Native(pub TwoPhase);

impl Model for Native {
    type State = State;
    type Action = (Act, State);

    fn init_states(&self) -> Vec<State> {
        self.0.init()
    }

    fn actions(&self, state: &State, actions: &mut Vec<(Act, State)>) {
        self.0.enabled(*state, |action, next| actions.push((action, next)));
    }

    fn next_state(&self, _: &State, (_, next): (Act, State)) -> Option<State> {
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        let laws = TwoPhase::LAWS;
        vec![
            Property::always(laws[0].name, |model, state| (TwoPhase::LAWS[0].holds)(&model.0, state, &[])),
            Property::always(laws[1].name, |model, state| (TwoPhase::LAWS[1].holds)(&model.0, state, &[])),
            Property::sometimes(laws[0].twin, |model, state| {
                (TwoPhase::LAWS[0].reached)(&model.0, state, &[])
            }),
            Property::sometimes(laws[1].twin, |model, state| {
                (TwoPhase::LAWS[1].reached)(&model.0, state, &[])
            }),
        ]
    }
}

#[cfg(test)]
mod tests {
    use stateright::Checker;

    use super::*;
    use crate::engine::{Options, explore};
    use crate::second;

    #[test]
    fn the_graph_is_that_of_the_example() {
        for (managers, states, generated) in [(3, 288, 1_146), (5, 8_832, 58_146), (7, 296_448, 2_744_706)] {
            let world = TwoPhase::new(managers);
            let native = Native(world).checker().spawn_dfs().join();
            assert_eq!((native.unique_state_count(), native.state_count()), (states, generated));
            native.assert_properties();
            for graph in [true, false] {
                let found = explore(&world, &Options { graph, ..Options::default() });
                assert_eq!((found.states, found.edges + 1), (states as u64, generated as u64));
                assert!(found.broken.is_empty() && found.reached == [true, true] && found.complete());
            }
        }
        let second = second::count(TwoPhase::new(5));
        assert_eq!((second.states, second.broken.len(), second.reached.len()), (8_832, 0, 2));
    }
}

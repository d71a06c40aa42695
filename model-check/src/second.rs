//! The second count: the same world, searched by stateright.
//!
//! Nothing of the engine is used here. stateright decides with its own hash, its own set and its own search; what it
//! must agree with exactly is the number of states and the laws that fall. Its verdict alone is not trusted: a run that
//! was cut short also says that it is done, so the number is compared (`stateright` 0.31: no `eventually`, one property
//! that is always true, no limits).

use std::cell::RefCell;
use std::collections::BTreeSet;

use stateright::{Checker, HasDiscoveries, Model, Property};

use crate::world::{Condition, Edge, Law, MAX_LAWS, Next, World};

/// A world as stateright sees it.
#[derive(Clone, Debug)]
pub struct Second<W>(pub W);

/// An action together with the state that it leads to, so that nothing is computed twice.
#[derive(Clone, Debug)]
pub struct Taken<W: World> {
    /// What was tried.
    pub action: W::Action,
    next: W::State,
}

impl<W: World> PartialEq for Taken<W> {
    fn eq(&self, other: &Self) -> bool {
        self.action == other.action && self.next == other.next
    }
}

/// What stateright found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counted {
    /// Different states.
    pub states: u64,
    /// States reached, repeats included.
    pub generated: u64,
    /// Laws that do not hold everywhere, by number.
    pub broken: BTreeSet<usize>,
    /// Laws whose twin was reached, by number.
    pub reached: BTreeSet<usize>,
}

impl<W: World> Second<W> {
    /// Everything that can be tried in a state. stateright asks for one state's properties and actions in turn; they
    /// are computed once.
    fn with<T>(&self, state: &W::State, look: impl FnOnce(&[Edge<W>]) -> T) -> T {
        thread_local! {
            static LAST: RefCell<Option<Box<dyn std::any::Any>>> = const { RefCell::new(None) };
        }
        LAST.with_borrow_mut(|last| {
            let known = last.as_ref().and_then(|last| last.downcast_ref::<(W::State, Vec<Edge<W>>)>());
            if known.is_none_or(|(known, _)| known != state) {
                let mut edges = Vec::new();
                self.0.steps(state, &mut edges);
                *last = Some(Box::new((state.clone(), edges)));
            }
            let known = last.as_ref().and_then(|last| last.downcast_ref::<(W::State, Vec<Edge<W>>)>());
            look(&known.expect("it was just put there").1)
        })
    }
}

/// A property is a plain function of stateright, so each law needs two of its own; all that they do is here, once.
#[inline(never)]
fn law<W: World>(world: &Second<W>, state: &W::State, law: usize, of: fn(&Law<W>) -> Condition<W>) -> bool {
    let condition = of(&W::LAWS[law]);
    world.with(state, |edges| condition(&world.0, state, edges))
}

fn holds<W: World, const LAW: usize>(world: &Second<W>, state: &W::State) -> bool {
    law(world, state, LAW, |law| law.holds)
}

fn reached<W: World, const LAW: usize>(world: &Second<W>, state: &W::State) -> bool {
    law(world, state, LAW, |law| law.reached)
}

type Function<W> = fn(&Second<W>, &<W as World>::State) -> bool;

macro_rules! functions {
    ($of:ident, $($law:literal)*) => { [$($of::<W, $law> as Function<W>),*] };
    ($of:ident) => {
        functions!($of, 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31
            32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63)
    };
}

impl<W: World> Model for Second<W> {
    type State = W::State;
    type Action = Taken<W>;

    fn init_states(&self) -> Vec<W::State> {
        self.0.init()
    }

    fn actions(&self, state: &W::State, actions: &mut Vec<Taken<W>>) {
        self.with(state, |edges| {
            actions.extend(edges.iter().filter_map(|edge| match &edge.next {
                Next::To(next) => Some(Taken { action: edge.action.clone(), next: next.clone() }),
                Next::Stays | Next::Beyond | Next::LeftTrace => None,
            }));
        });
    }

    fn next_state(&self, _: &W::State, taken: Taken<W>) -> Option<W::State> {
        Some(taken.next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        let (always, sometimes): ([Function<W>; MAX_LAWS], [Function<W>; MAX_LAWS]) =
            (functions!(holds), functions!(reached));
        let always = W::LAWS.iter().zip(always).map(|(law, holds)| Property::always(law.name, holds));
        let sometimes = W::LAWS.iter().zip(sometimes).map(|(law, met)| Property::sometimes(law.twin, met));
        always.chain(sometimes).chain([Property::always("true", |_, _| true)]).collect()
    }

    fn format_action(&self, taken: &Taken<W>) -> String {
        format!("{:?}", taken.action)
    }
}

/// Searches everything with stateright, depth first, on two threads.
pub fn count<W: World>(world: W) -> Counted {
    let checker = Second(world).checker().threads(2).finish_when(HasDiscoveries::All).spawn_dfs().join();
    let found = checker.discoveries();
    let by = |name: fn(&Law<W>) -> &'static str| {
        (0..W::LAWS.len()).filter(|i| found.contains_key(name(&W::LAWS[*i]))).collect()
    };
    Counted {
        states: checker.unique_state_count() as u64,
        generated: checker.state_count() as u64,
        broken: by(|law| law.name),
        reached: by(|law| law.twin),
    }
}

//! A trace is followed: each action is looked up among everything that can be tried in the state, and taken.
//!
//! Nothing is assumed about what an action did when the trace was written. Rules: FML-1.

use serde_json::Value;

use crate::world::{Edge, Label, Next, World};

/// Where an action led.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Led {
    /// To another state.
    On,
    /// Nowhere.
    Nowhere,
    /// Nowhere, but something changed: no state of the world shows what.
    LeftTrace,
}

/// One step.
#[derive(Clone, Debug)]
pub struct Step<W: World> {
    /// What was done.
    pub action: W::Action,
    /// What was said of it.
    pub label: Label,
    /// Where it led.
    pub led: Led,
    /// The state after it.
    pub after: W::State,
    /// Laws that do not hold there.
    pub falls: Vec<Fall>,
}

/// A law that does not hold in a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fall {
    /// Which, in [`World::LAWS`].
    pub law: usize,
    /// What can be tried in the state and is by itself enough to break it; empty if the state itself is.
    pub because: Vec<(Value, Label)>,
}

/// Why a trace does not go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stuck {
    /// The world has no action of this form.
    NoAction(String),
    /// It cannot be tried here.
    NotHere {
        /// What can.
        instead: Vec<Value>,
    },
    /// It would go beyond what the scope allows.
    Beyond,
    /// The world begins nowhere.
    NoBeginning,
}

/// A trace that was followed as far as it goes.
#[derive(Clone, Debug)]
pub struct Followed<W: World> {
    /// Where it began.
    pub init: W::State,
    /// Laws that do not hold already there.
    pub falls: Vec<Fall>,
    /// What was done.
    pub steps: Vec<Step<W>>,
    /// Which action could not be taken, from zero, and why.
    pub stuck: Option<(usize, Stuck)>,
}

impl<W: World> Followed<W> {
    /// The last state.
    pub fn last(&self) -> &W::State {
        self.steps.last().map_or(&self.init, |step| &step.after)
    }

    /// At which step a law first does not hold; 0 is the beginning.
    pub fn falls_at(&self, law: usize) -> Option<usize> {
        let falls = |falls: &[Fall]| falls.iter().any(|fall| fall.law == law);
        if falls(&self.falls) {
            return Some(0);
        }
        self.steps.iter().position(|step| falls(&step.falls)).map(|at| at + 1)
    }
}

/// Reads actions of a trace.
///
/// # Errors
/// The place of the first one that is no action of this world, from zero, and why.
pub fn actions<W: World>(values: &[Value]) -> Result<Vec<W::Action>, (usize, Stuck)> {
    let read = |(at, value): (usize, &Value)| {
        serde_json::from_value(value.clone()).map_err(|error| (at, Stuck::NoAction(error.to_string())))
    };
    values.iter().enumerate().map(read).collect()
}

/// Follows actions from wherever the world begins; if it begins in several places, from the one where they lead
/// furthest.
///
/// # Errors
/// The world begins nowhere.
pub fn follow<W: World>(world: &W, actions: &[W::Action]) -> Result<Followed<W>, Stuck> {
    let ways = world.init().into_iter().map(|init| from(world, init, actions));
    let mut best: Option<Followed<W>> = None;
    for way in ways {
        if best.as_ref().is_none_or(|best| best.steps.len() < way.steps.len()) {
            best = Some(way);
        }
    }
    best.ok_or(Stuck::NoBeginning)
}

fn from<W: World>(world: &W, init: W::State, actions: &[W::Action]) -> Followed<W> {
    let mut here = init.clone();
    let mut edges = tried(world, &here);
    let falls = falls(world, &here, &edges);
    let (mut steps, mut stuck) = (Vec::new(), None);
    for (at, action) in actions.iter().enumerate() {
        let Some(place) = edges.iter().position(|edge| edge.action == *action) else {
            let instead = edges.iter().map(|edge| value::<W>(&edge.action)).collect();
            stuck = Some((at, Stuck::NotHere { instead }));
            break;
        };
        let Edge { action, label, next } = edges.swap_remove(place);
        let (led, after) = match next {
            Next::To(state) => (Led::On, state),
            Next::Stays => (Led::Nowhere, here.clone()),
            Next::LeftTrace => (Led::LeftTrace, here.clone()),
            Next::Beyond => {
                stuck = Some((at, Stuck::Beyond));
                break;
            }
        };
        here = after.clone();
        edges = tried(world, &here);
        let falls = self::falls(world, &here, &edges);
        steps.push(Step { action, label, led, after, falls });
    }
    Followed { init, falls, steps, stuck }
}

fn tried<W: World>(world: &W, state: &W::State) -> Vec<Edge<W>> {
    let mut edges = Vec::new();
    world.steps(state, &mut edges);
    edges
}

/// Which laws do not hold in a state, and what is to blame.
fn falls<W: World>(world: &W, state: &W::State, edges: &[Edge<W>]) -> Vec<Fall> {
    let broken = W::LAWS.iter().enumerate().filter(|(_, law)| !(law.holds)(world, state, edges));
    broken
        .map(|(number, law)| {
            // A law over edges is broken by one of them; a law over states is broken without any.
            let of_edges = (law.holds)(world, state, &[]);
            let guilty = |edge: &&Edge<W>| !(law.holds)(world, state, std::slice::from_ref(*edge));
            let because = edges.iter().filter(|_| of_edges).filter(guilty);
            let because = because.map(|edge| (value::<W>(&edge.action), edge.label.clone())).collect();
            Fall { law: number, because }
        })
        .collect()
}

/// An action as traces hold it.
pub fn value<W: World>(action: &W::Action) -> Value {
    serde_json::to_value(action).expect("actions are plain data")
}

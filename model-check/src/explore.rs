//! How a world is searched: by stateright for the verdict, and by a search of our own that must see the same number of
//! states and knows the shortest way to each.
//!
//! Rules of the house: no `eventually` (unsound on cycles and joins); one law that is always true, so that a search
//! never stops early; no limit of depth, time or states; the number of states is pinned (a search that was cut short
//! still says that it is done).

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::fmt::Debug;
use std::hash::{DefaultHasher, Hash, Hasher};

use stateright::{Checker, HasDiscoveries, Model, Property};

/// A condition on states.
pub type Condition<W> = fn(&W, &<W as Model>::State) -> bool;

/// A law, and its twin: a state in which it has something to forbid.
#[derive(Debug)]
pub struct Law<W: Model> {
    /// Rule id and what must always hold.
    pub name: &'static str,
    /// The condition.
    pub holds: Condition<W>,
    /// What must be reachable lest the law be empty.
    pub twin: &'static str,
    /// That condition.
    pub reached: Condition<W>,
}

/// A model that can be searched.
pub trait Searched:
    Model<
        State: Clone + Hash + PartialEq + Debug + Send + Sync + 'static,
        Action: Clone + PartialEq + Debug + Send + Sync + 'static,
    > + Send
    + Sync
    + 'static
{
    /// Its name.
    const NAME: &'static str;
    /// Its laws.
    const LAWS: &'static [Law<Self>];

    /// The scopes of `tiny`: name, pinned number of states, and the model.
    fn tiny() -> Vec<(&'static str, usize, Self)>;
}

/// The law that is always true.
pub const TRUE: &str = "true";

/// Laws as properties: one `always` and one `sometimes` each, and [`TRUE`].
pub fn properties<W: Searched>() -> Vec<Property<W>> {
    let laws = W::LAWS;
    let always = laws.iter().map(|law| Property::always(law.name, law.holds));
    let sometimes = laws.iter().map(|law| Property::sometimes(law.twin, law.reached));
    always.chain(sometimes).chain([Property::always(TRUE, |_, _| true)]).collect()
}

/// What a search found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Different states.
    pub states: usize,
    /// States reached, repeats included.
    pub generated: usize,
    /// Longest way that the search took.
    pub depth: usize,
    /// Laws that do not hold everywhere.
    pub broken: BTreeSet<&'static str>,
    /// Twins that were reached.
    pub reached: BTreeSet<&'static str>,
}

/// Searches everything.
pub fn search<W: Searched>(world: W) -> Found {
    run(world, HasDiscoveries::All)
}

/// Searches until the law of this name is seen broken, or everything was seen.
pub fn search_for<W: Searched>(world: W, law: &'static str) -> Found {
    run(world, HasDiscoveries::AnyOf(BTreeSet::from([law])))
}

fn run<W: Searched>(world: W, until: HasDiscoveries) -> Found {
    let checker = world.checker().finish_when(until).spawn_dfs().join();
    let names = checker.discoveries();
    let model = checker.model();
    let mut found = Found {
        states: checker.unique_state_count(),
        generated: checker.state_count(),
        depth: checker.max_depth(),
        broken: BTreeSet::new(),
        reached: BTreeSet::new(),
    };
    for property in model.properties().iter().filter(|property| names.contains_key(property.name)) {
        match property.expectation {
            stateright::Expectation::Always => found.broken.insert(property.name),
            stateright::Expectation::Sometimes | stateright::Expectation::Eventually => {
                found.reached.insert(property.name)
            }
        };
    }
    found
}

/// The number of states, counted without stateright: another search with another hash.
pub fn count<W: Searched>(world: &W) -> usize {
    let (mut queue, mut seen) = (VecDeque::new(), BTreeSet::new());
    for state in world.init_states() {
        seen.insert(hash(&state));
        queue.push_back(state);
    }
    while let Some(state) = queue.pop_front() {
        for (_, next) in world.next_steps(&state) {
            if seen.insert(hash(&next)) {
                queue.push_back(next);
            }
        }
    }
    seen.len()
}

/// The shortest way to a state in which `condition` does not hold.
pub fn shortest<W: Searched>(world: &W, condition: Condition<W>) -> Option<Vec<W::Action>> {
    let (mut queue, mut from) = (VecDeque::new(), HashMap::new());
    for state in world.init_states() {
        from.insert(hash(&state), None);
        queue.push_back(state);
    }
    while let Some(state) = queue.pop_front() {
        let here = hash(&state);
        if !condition(world, &state) {
            let mut way = Vec::new();
            let mut at = here;
            while let Some(Some((earlier, action))) = from.get(&at) {
                way.push(W::Action::clone(action));
                at = *earlier;
            }
            way.reverse();
            return Some(way);
        }
        for (action, next) in world.next_steps(&state) {
            if let std::collections::hash_map::Entry::Vacant(vacant) = from.entry(hash(&next)) {
                vacant.insert(Some((here, action)));
                queue.push_back(next);
            }
        }
    }
    None
}

fn hash<T: Hash>(value: &T) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

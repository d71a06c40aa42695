//! Whether the canonical form may be trusted: states of one form must behave alike.
//!
//! The concrete world is walked beside the folded one: breadth first up to a bound, then at random and deep, where the
//! numbers are large. In every concrete state that is met, everything that can be tried, what the machines say, where
//! it leads (by form), and every law and property must be as in the first state of that form. A form that folds too
//! much shows as a difference. Not here: a proof for states that were not met.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use super::Cyclic;
use crate::world::{Condition, Edge, Next, World, fingerprint};

/// How far it is checked.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Concrete states that are met breadth first.
    pub states: usize,
    /// Walks at random.
    pub walks: u32,
    /// Steps of each.
    pub steps: u32,
}

/// What was met.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Met {
    /// Concrete states.
    pub concrete: usize,
    /// Their forms.
    pub forms: usize,
    /// Concrete states that were compared with an earlier one of their form.
    pub compared: usize,
}

/// Two states of one form that do not behave alike.
#[derive(Clone, Debug)]
pub struct Difference<W: Cyclic> {
    /// The way to the first.
    pub one: Vec<W::Action>,
    /// The way to the other.
    pub other: Vec<W::Action>,
    /// What differs.
    pub what: String,
}

/// What a state does, as text; and whom it leads to.
type Behaviour = (Vec<String>, Vec<bool>);

/// How the first state of a form behaves (as a hash), and the way to it.
type First<W> = (u64, Vec<<W as World>::Action>);

struct Check<'a, W: Cyclic> {
    world: &'a W,
    conditions: Vec<Condition<W>>,
    /// By form.
    first: HashMap<(u64, u64), First<W>>,
    seen: HashSet<u64>,
    compared: usize,
}

/// Checks a world.
///
/// # Errors
/// The first difference.
pub fn check<W: Cyclic>(world: &W, effort: Effort) -> Result<Met, Box<Difference<W>>> {
    let laws = W::LAWS.iter().flat_map(|law| [law.holds, law.reached]);
    let claims = world.properties().iter().flat_map(|property| [property.from, property.to]);
    let conditions = laws.chain(claims).collect();
    let mut check = Check { world, conditions, first: HashMap::new(), seen: HashSet::new(), compared: 0 };
    check.broad(effort.states)?;
    for walk in 0..effort.walks {
        check.deep(walk, effort.steps)?;
    }
    Ok(Met { concrete: check.seen.len(), forms: check.first.len(), compared: check.compared })
}

impl<W: Cyclic> Check<'_, W> {
    fn broad(&mut self, most: usize) -> Result<(), Box<Difference<W>>> {
        let mut queue: VecDeque<(W::State, Vec<W::Action>)> = VecDeque::new();
        for state in self.world.init() {
            self.seen.insert(fingerprint(&*state));
            queue.push_back((state, Vec::new()));
        }
        while let Some((state, way)) = queue.pop_front() {
            for edge in self.look(&state, &way)? {
                let Next::To(next) = edge.next else { continue };
                if self.seen.len() < most && self.seen.insert(fingerprint(&*next)) {
                    let way = way.iter().cloned().chain([edge.action]).collect();
                    queue.push_back((next, way));
                }
            }
        }
        Ok(())
    }

    fn deep(&mut self, walk: u32, steps: u32) -> Result<(), Box<Difference<W>>> {
        let mut chance = u64::from(walk) << 32;
        let Some(mut state) = self.world.init().into_iter().next() else { return Ok(()) };
        let mut way = Vec::new();
        for _ in 0..steps {
            let mut edges = self.look(&state, &way)?;
            edges.retain(Edge::moves);
            if edges.is_empty() {
                break;
            }
            let pick = usize::try_from(random(&mut chance) % edges.len() as u64).unwrap_or_default();
            let edge = edges.swap_remove(pick);
            let Next::To(next) = edge.next else { unreachable!("only these were kept") };
            way.push(edge.action);
            self.seen.insert(fingerprint(&*next));
            state = next;
        }
        Ok(())
    }

    fn look(&mut self, state: &W::State, way: &[W::Action]) -> Result<Vec<Edge<W>>, Box<Difference<W>>> {
        let mut edges = Vec::new();
        self.world.steps(state, &mut edges);
        let print = fingerprint(&self.behaviour(state, &edges));
        match self.first.get(&state.form()) {
            None => {
                self.first.insert(state.form(), (print, way.to_vec()));
            }
            Some((known, _)) if *known == print => self.compared += 1,
            Some((_, one)) => {
                let (one, other) = (one.clone(), way.to_vec());
                let what = self.differs(&one, state, &edges);
                return Err(Box::new(Difference { one, other, what }));
            }
        }
        Ok(edges)
    }

    fn behaviour(&self, state: &W::State, edges: &[Edge<W>]) -> Behaviour {
        let tried = edges.iter().map(|edge| {
            let to = match &edge.next {
                Next::To(next) => format!("{:?}", next.form()),
                Next::Stays => "stays".to_owned(),
                Next::Beyond => "beyond".to_owned(),
                Next::LeftTrace => "left a trace".to_owned(),
            };
            format!("{:?} {:?} {to}", edge.action, edge.label)
        });
        let conditions = self.conditions.iter().map(|condition| condition(self.world, state, edges));
        (tried.collect(), conditions.collect())
    }

    /// Walks to the first state again and names what differs.
    fn differs(&self, way: &[W::Action], other: &W::State, edges: &[Edge<W>]) -> String {
        let Some(mut state) = self.world.init().into_iter().next() else { return String::new() };
        let mut tried = Vec::new();
        self.world.steps(&state, &mut tried);
        for action in way {
            let edge = tried.drain(..).find(|edge| edge.action == *action);
            let Some(Next::To(next)) = edge.map(|edge| edge.next) else { return String::new() };
            state = next;
            self.world.steps(&state, &mut tried);
        }
        let forms = |edges: &[Edge<W>]| -> BTreeMap<W::Action, String> {
            let to = |edge: &Edge<W>| match &edge.next {
                Next::To(next) => self.world.form(next),
                other => format!("{other:?}"),
            };
            edges.iter().map(|edge| (edge.action.clone(), format!("{:?} {}", edge.label, to(edge)))).collect()
        };
        let (one, two) = (forms(&tried), forms(edges));
        for (action, to) in &one {
            match two.get(action) {
                Some(other) if other == to => {}
                Some(other) => return format!("after {action:?}:\n{to}\n{other}"),
                None => return format!("{action:?} is tried in one only"),
            }
        }
        let (one, two) = (self.behaviour(&state, &tried), self.behaviour(other, edges));
        if one.0.len() != two.0.len() {
            return "one more action is tried in the other".to_owned();
        }
        format!("laws or properties: {:?} {:?}", one.1, two.1)
    }
}

/// The next number of a simple generator (SplitMix64): the same walks in every run.
fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

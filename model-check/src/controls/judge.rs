//! Whether a control did what it is there for.
//!
//! A control is a test of the laws: it is good if its own law falls, for the reason that it names, and nothing falls
//! that it does not name. Everything else is a failure with a text that says what to do. Rules: FML-5, CNF-3.

use super::registry::Mutation;
use super::run::{Fallen, Said};

/// How a control ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// As it should: the law, how many steps away it falls, and what else fell.
    Fell(String, usize, Vec<String>),
    /// A state variable that is excused influences nothing, as is said.
    Excused,
    /// It should not have ended so, and this is to be done.
    Failed(String),
}

/// Judges what a run said of a named edit.
pub fn judge(mutation: &Mutation, said: &Said) -> Ending {
    let fallen = match said {
        Said::Complete(fallen) => fallen,
        Said::Incomplete(why) => {
            return Ending::Failed(format!("the search was INCOMPLETE ({why}): name a smaller scope"));
        }
        Said::Broke(why) => {
            return Ending::Failed(format!("the checker broke down: {why}: choose a milder edit"));
        }
    };
    let named = |law: &str| law == mutation.killer || mutation.also.iter().any(|also| also == law);
    let unnamed: Vec<_> = fallen.iter().map(|one| one.law.as_str()).filter(|law| !named(law)).collect();
    let Some(killed) = fallen.iter().find(|one| one.law == mutation.killer) else {
        return Ending::Failed(match unnamed.as_slice() {
            [] if fallen.is_empty() => format!(
                "SURVIVED: every law holds, also `{}`: a law is missing, or the scope is too narrow",
                mutation.killer
            ),
            [] => {
                format!("only what is under `also` fell, not `{}`: name the one that tells", mutation.killer)
            }
            unnamed => format!("fell to something unnamed, {unnamed:?}, not to `{}`", mutation.killer),
        });
    };
    if !unnamed.is_empty() {
        return Ending::Failed(format!(
            "{unnamed:?} fell as well: name them under `also`, or make the edit smaller"
        ));
    }
    let told = |step: &String| step.contains(&mutation.message);
    // A law about what can be tried may fall where the world begins: there is no way, and nothing to find in it.
    if !(killed.way.iter().any(told) || (killed.way.is_empty() && mutation.message.is_empty())) {
        return Ending::Failed(format!(
            "`{}` fell, but not by `{}`: the way is {}",
            mutation.killer,
            mutation.message,
            killed.way.join(" ")
        ));
    }
    awakener_spec::rule!(Fml5);
    let others = fallen.iter().map(|one| one.law.clone()).filter(|law| *law != mutation.killer).collect();
    Ending::Fell(mutation.killer.clone(), killed.way.len(), others)
}

/// The first law that fell, shortest way first.
pub fn first(fallen: &[Fallen]) -> Option<&Fallen> {
    fallen.iter().min_by_key(|one| one.way.len())
}

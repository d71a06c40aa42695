//! What every process keeps, whatever its machine: laws 1, 3 and 4 of a step, and the machine's own invariants.
//!
//! Pure: what has to be tried is tried on copies. Not here: laws of a world, which are about what the outside saw.

use std::fmt::Debug;
use std::hash::Hash;

use awakener_kernel::machine::{Machine, Outcome};
use awakener_kernel::time::Now;

use super::{Phase, Process, Rows};

impl<M: Machine, R: Rows<M>, C: Clone + Eq + Hash + Debug> Process<M, R, C> {
    /// Law 3: the machine's image is what is on disk plus what is staged.
    pub fn image_is_disk_and_staged(&self) -> bool {
        match &self.phase {
            Phase::Live(machine) => *machine.image() == self.inside().image,
            Phase::Down | Phase::Staged(_) => {
                self.machine().is_none_or(|machine| *machine.image() == self.inside().image)
            }
        }
    }

    /// Every internal invariant of the machine, also of one that is staged.
    pub fn check(&self, config: &M::Config) -> bool {
        self.machine().is_none_or(|machine| machine.check(config).is_ok())
    }

    /// Law 4: firing advances if and only if a deadline is due. `facts` answers the machine's query for `fire`.
    pub fn fires_iff_due(
        &self,
        config: &M::Config,
        now: Now,
        fire: M::Input,
        facts: impl FnOnce(M::Query) -> M::Facts,
    ) -> bool {
        self.live().is_none_or(|machine| {
            let facts = facts(machine.needs(&fire));
            let advances = machine.clone().step(config, now, fire, facts).outcome().is_advanced();
            advances == self.is_due(config, now)
        })
    }

    /// Whether the machine waits to be fired now.
    pub fn is_due(&self, config: &M::Config, now: Now) -> bool {
        self.live().and_then(|machine| machine.deadline(config)).is_some_and(|at| at <= now.mono)
    }

    /// Law 1: what the last staged step refused or absorbed left the machine as it was, without a record or an
    /// effect. `before` is this process before that step.
    pub fn stuttered_since(&self, before: &Self) -> bool {
        let Some(after) = self.released() else { return true };
        if after.outcomes.last().is_none_or(Outcome::is_advanced) {
            return true;
        }
        let same = match (&before.phase, before.released()) {
            (Phase::Live(machine), _) => **machine == after.machine && after.effects.is_empty(),
            (_, Some(earlier)) => earlier.machine == after.machine && earlier.effects == after.effects,
            (_, None) => false,
        };
        same && before.inside() == self.inside()
    }
}

//! What the adversary of a cyclic waker world may do, and the limits of the machine. Nothing is counted.

use awakener_kernel::config::Config;
use awakener_kernel::time::Millis;
use awakener_kernel::values::DispatchOutcome;

use super::World;
use crate::cyclic::canon::NEVER;
use crate::cyclic::rules::Fault;
use crate::world::{Group, Scope};

/// Powers of the adversary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Powers {
    /// A second hint that can be held back and come late.
    pub reorders: bool,
    /// It crashes.
    pub crashes: bool,
    /// Commits fail.
    pub fails: bool,
    /// Effects and completions are lost.
    pub loses: bool,
    /// Completions come again.
    pub repeats: bool,
    /// The plane fails, and gives permits to others.
    pub withholds: bool,
    /// What adapters answer.
    pub outcomes: &'static [DispatchOutcome],
    /// What is wrong with the form, on purpose.
    pub fault: Option<Fault>,
}

const NONE: Powers = Powers {
    reorders: false,
    crashes: false,
    fails: false,
    loses: false,
    repeats: false,
    withholds: false,
    outcomes: &[DispatchOutcome::NotifiedVerified],
    fault: None,
};

const OUTCOMES: &[DispatchOutcome] =
    &[DispatchOutcome::NotifiedVerified, DispatchOutcome::OutcomeUnknown, DispatchOutcome::Unavailable];

/// Every scope: its name and its powers.
pub const SCOPES: &[(&str, Powers)] = &[
    ("calm", NONE),
    ("crash", Powers { crashes: true, ..NONE }),
    ("reorder", Powers { reorders: true, ..NONE }),
    ("lose", Powers { loses: true, ..NONE }),
    ("repeat", Powers { repeats: true, ..NONE }),
    ("outcome", Powers { outcomes: OUTCOMES, ..NONE }),
    ("withhold", Powers { withholds: true, ..NONE }),
    ("commit", Powers { fails: true, ..NONE }),
];

/// The scopes as the engine wants them.
pub fn all() -> Vec<Scope<World>> {
    let scopes = SCOPES.iter();
    scopes
        .map(|(name, powers)| {
            let mut bounds = Vec::new();
            let mut flag = |name, on: bool| bounds.extend(on.then(|| (name, on.to_string())));
            flag("reorders", powers.reorders);
            flag("crashes", powers.crashes);
            flag("fails", powers.fails);
            flag("loses", powers.loses);
            flag("repeats", powers.repeats);
            flag("withholds", powers.withholds);
            if powers.outcomes.len() > 1 {
                bounds.push(("outcomes", powers.outcomes.len().to_string()));
            }
            Scope { name, group: Group::Cyclic, bounds, world: World::new(*powers) }
        })
        .collect()
}

/// How long a hint lives.
pub const TTL: u64 = 1;
/// How far clocks may disagree.
pub const SKEW: u64 = 1;
/// The pause between two starts.
pub const COOLDOWN: u64 = 2;
/// The longest flight.
pub const FLIGHT_MAX: u64 = 2;
/// The life of a permit.
pub const PERMIT: u64 = 1;
/// The longest pause after failures.
pub const BACK_OFF: u64 = 2;

/// The pause between regular sweeps, where there are any.
pub const SWEEP: u64 = 2;

/// The limits. A regular sweep never comes, since it must not be what saves a forgotten wake; but where sweeps can fail
/// or their answers be lost without a word, it is.
pub fn config(powers: &Powers) -> Config {
    Config {
        hint_ttl: Millis(TTL),
        skew: Millis(SKEW),
        nonce_history: 1,
        cooldown: Millis(COOLDOWN),
        flight_max: Millis(FLIGHT_MAX),
        permit: Millis(PERMIT),
        sweep: Millis(if powers.loses || powers.withholds { SWEEP } else { NEVER }),
        back_off_base: Millis(1),
        back_off_max: Millis(BACK_OFF),
        ..Config::default()
    }
}

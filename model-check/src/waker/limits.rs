//! The limits of a waker world: small enough for the clock of a model, and none of them equal by accident where a
//! difference matters.
//!
//! Not here: what the adversary may do ([`super::scope`]).

use awakener_kernel::config::Config;
use awakener_kernel::time::Millis;

use super::scope::Budget;

/// How long a hint lives.
pub const TTL: u8 = 2;
/// How far clocks may disagree.
pub const SKEW: u8 = 1;
/// The pause between two starts.
pub const COOLDOWN: u8 = 2;
/// The longest flight.
pub const FLIGHT_MAX: u8 = 3;
/// The life of a permit.
pub const PERMIT: u8 = 2;
/// The pause before a plane that did not answer is asked again: the least that this clock shows.
pub const PATIENCE: u8 = 1;
/// The first back-off: longer than the cooldown, so that it shows.
pub const BACK_OFF_BASE: u8 = 3;
/// The longest back-off: shorter than the base doubled, so that the cap shows.
pub const BACK_OFF_MAX: u8 = 4;
/// Far beyond the clock of every scope: a regular sweep must never be what saves a forgotten wake.
pub const SWEEP: u64 = 1_000;

/// The pause after so many failures in a row, as the contract words it: a base that doubles, up to a cap.
pub fn back_off(failures: u8) -> u8 {
    match failures {
        0 => 0,
        1 => BACK_OFF_BASE,
        _ => BACK_OFF_MAX.min(2 * BACK_OFF_BASE),
    }
}

impl Budget {
    /// Limits small enough for the clock of a model.
    pub fn config(&self) -> Config {
        let ms = |n: u8| Millis(u64::from(n));
        Config {
            hint_ttl: ms(TTL),
            skew: ms(SKEW),
            nonce_history: self.history,
            cooldown: ms(COOLDOWN),
            flight_max: ms(FLIGHT_MAX),
            permit: ms(PERMIT),
            sweep: Millis(SWEEP),
            back_off_base: ms(BACK_OFF_BASE),
            back_off_max: ms(BACK_OFF_MAX),
            ..Config::default()
        }
    }
}

//! What operators decided: targets, principals, keys, roster, grants, pauses, and whether Tier-0 is open.
//!
//! One per store, not one per target: operator commands are bound to the plane, their ids are accepted once for the
//! whole of it, and an act and the facts that come of it (a roster over several targets, a fleet-wide pause) must
//! live in one place so that one record makes both true. Mailboxes and stations never see this machine; a driver
//! asks it and hands them facts.
//!
//! Reading order: [`image`] (the durable truth) → [`input`] (what can happen) → [`step`] (the judgement) →
//! [`query`] (what others ask). Rules: IDN-6, IDN-7, ADM-4, ADM-5, ADM-13, STN-2, EMT-6, OPR-1…3.

mod enact;
pub mod image;
pub mod input;
mod known;
mod query;
mod state;
mod step;

pub use image::{AckKeyEntry, Held, Image, Installed, Key, Operator, Record, Running, SteppedBack};
pub use input::{Effect, Event, Input};
pub use query::Closed;

/// The machine: the durable image, and what only this process knows.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Registry {
    image: Image,
    volatile: Volatile,
}

/// What must be shown anew after every start. All of it closed until then.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Volatile {
    /// Whether the start was recorded (OPR-2).
    started: bool,
    /// Whether the stored command of the roster verified in this process (ADM-5).
    roster_signed: bool,
    /// Whether the capability manifest was accepted (CAP-2).
    manifest_accepted: bool,
    /// Whether the audit chain verified (AUD-5).
    chain_intact: bool,
}

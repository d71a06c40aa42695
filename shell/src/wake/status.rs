//! What a wake daemon shows of itself: a projection of its wakers and counters (AUD-8), identifiers only.

use std::collections::{BTreeMap, BTreeSet};

use awakener_kernel::audit::Head;
use awakener_kernel::values::DispatchOutcome;
use awakener_kernel::waker::{Capability, Hold, Phase};
use awakener_spec::Class;
use serde::Serialize;
use serde_json::Value;

use super::adapter::Capabilities;
use crate::broker::Counters;

/// The whole daemon.
#[derive(Clone, Debug, Serialize)]
pub struct Status {
    /// Always 1.
    pub v: u32,
    /// The daemon's name at the plane.
    pub name: String,
    /// `trial` or `production` (CAP-5).
    pub mode: &'static str,
    /// When this was so.
    pub now: String,
    /// The targets that are served.
    pub served: BTreeSet<String>,
    /// Each waker.
    pub targets: Vec<TargetStatus>,
    /// What the adapters can do, by target.
    pub adapters: BTreeMap<String, Capabilities>,
    /// How many router keys hints are verified with.
    pub ring: usize,
    /// Whether the plane answered last time.
    pub plane_reachable: bool,
    /// Hints that were not accepted since the start, by class.
    pub refused: BTreeMap<Class, u64>,
    /// Hints that found no room in the queue since the start.
    pub overflowed: u64,
    /// Whether good signatures with impossible times came repeatedly (VER-4).
    pub clock_suspect: bool,
    /// How far the machine's clock lies behind the daemon's time, which stands still as long (EMT-6).
    pub clock_behind_ms: u64,
    /// The broker's counters; absent without one.
    pub broker: Option<Counters>,
    /// The end of the audit chain.
    pub head: Head,
}

/// One waker.
#[derive(Clone, Debug, Serialize)]
pub struct TargetStatus {
    /// Whose.
    pub target: String,
    /// Where it stands.
    pub phase: Phase,
    /// Since when this process has it there.
    pub since: String,
    /// What keeps an accepted wake from being dispatched.
    pub held_by: Option<Hold>,
    /// How long cooldown and back-off still last, milliseconds: the wait that a start obeys (DSP-1, DSP-3).
    pub rests_ms: u64,
    /// The whole cooldown, milliseconds.
    pub cooldown_ms: u64,
    /// Definite failures to dispatch in a row (DSP-3).
    pub failures: u32,
    /// What the adapter said last, in this process.
    pub last_outcome: Option<DispatchOutcome>,
    /// What the manifest allows; absent for a target that it does not name.
    pub capability: Option<Capability>,
    /// Whether a pause file holds it (DSP-10).
    pub paused: bool,
    /// The open flight.
    pub flight: Option<Value>,
    /// The number of the last attempt.
    pub attempts: u64,
    /// The greatest accepted token.
    pub high_water: Option<u64>,
}

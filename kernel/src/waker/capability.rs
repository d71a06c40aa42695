//! Whether a runtime may be woken at all, as its manifest entry says.
//!
//! Not here: reading manifests, and whether an adapter is up (that shows at dispatch). Rules: DSP-3, DSP-8.

use awakener_spec::Reason;
use serde::{Deserialize, Serialize};

/// Whether this runtime may be woken (DSP-3, DSP-8).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Capability {
    /// Not at all.
    Missing(Missing),
    /// Without a human.
    Unattended,
    /// A human is there; receipts say so.
    Attended,
}

/// Why a runtime may not be woken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Missing {
    /// The manifest has not been read yet, or does not name the target.
    UnknownAgent,
    /// Nothing implements its runtime here.
    NoAdapter,
    /// It never declared that it can acknowledge an alert (`tier0_ack`).
    NoTier0Ack,
}

/// What a manifest declares of an agent, as far as waking is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Declared {
    /// Whether an adapter for its runtime is at hand.
    pub adapter: bool,
    /// It can acknowledge alerts.
    pub tier0_ack: bool,
    /// No human sits before it.
    pub headless: bool,
    /// What is typed must be submitted by a human.
    pub requires_human_submit: bool,
}

impl Capability {
    /// What follows from a declaration (DSP-8); `None` = the manifest does not name the target.
    ///
    /// # Errors
    /// [`Reason::ManifestRefused`] for `headless` together with `requires_human_submit`.
    pub fn of(declared: Option<Declared>) -> Result<Self, Reason> {
        let Some(agent) = declared else { return Ok(Self::Missing(Missing::UnknownAgent)) };
        awakener_spec::rule!(Dsp8);
        match (agent.headless, agent.requires_human_submit) {
            (true, true) => Err(Reason::ManifestRefused),
            _ if !agent.adapter => Ok(Self::Missing(Missing::NoAdapter)),
            (false, true) => Ok(Self::Attended),
            (true | false, false) if agent.tier0_ack => Ok(Self::Unattended),
            (true | false, false) => Ok(Self::Missing(Missing::NoTier0Ack)),
        }
    }
}

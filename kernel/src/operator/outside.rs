//! What an act is about when it stands outside the registry: a latch, a witness, the clock. The driver, or the model,
//! reads it inside the transaction; [`super::authorise()`] judges by it.

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use super::act::Act;
use crate::ids::{MessageId, Target};
use crate::time::Wall;

/// What stands outside the registry and must be known to judge an act.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outside {
    /// The wall clock as it is, not as the store holds it.
    Clock,
    /// The latch of the station of this target.
    Latch(Target),
    /// The witness of an alert.
    Witness(Target, MessageId),
    /// A message that was set aside.
    Quarantined(Target, MessageId),
    /// The break of the audit chain.
    Break,
}

/// The answer to [`Outside`].
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Found {
    /// Nothing was asked.
    Nothing,
    /// For [`Outside::Clock`].
    Clock(Wall),
    /// For the others: a text that names the state of the subject, `None` if there is no such subject.
    Subject(Option<SmolStr>),
}

impl Act {
    /// What must be known from outside the registry.
    pub fn outside(&self) -> Option<Outside> {
        match self {
            Self::AcceptClock(_) => Some(Outside::Clock),
            Self::ClearLatch(of) => Some(Outside::Latch(of.target.clone())),
            Self::Resolve(alert) => Some(Outside::Witness(alert.target.clone(), alert.message)),
            Self::ReleaseQuarantine(of) => Some(Outside::Quarantined(of.target.clone(), of.message)),
            Self::Reanchor(_) => Some(Outside::Break),
            Self::InstallRoster(_)
            | Self::RemoveRoster(_)
            | Self::Arm(_)
            | Self::Disarm(_)
            | Self::Abort(_)
            | Self::Pause(_)
            | Self::Resume(_)
            | Self::StopAll(_)
            | Self::RegisterTarget(_)
            | Self::RemoveTarget(_)
            | Self::RegisterPrincipal(_)
            | Self::RevokePrincipal(_)
            | Self::RegisterAckKey(_)
            | Self::RevokeAckKey(_)
            | Self::RegisterRouterKey(_)
            | Self::RevokeRouterKey(_)
            | Self::RegisterAuditKey(_)
            | Self::RevokeAuditKey(_)
            | Self::RegisterOperatorKey(_)
            | Self::RevokeOperatorKey(_) => None,
        }
    }
}

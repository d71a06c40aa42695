//! The state of an act's subject as a short text, so that a command can say what it expects (OPR-1).
//!
//! It is `absent`, or the SHA-256 of what stands in the image; an operator reads it from the status, never computes
//! it. Subjects outside the registry have a state of their own ([`crate::operator::Found`]).

use serde::Serialize;
use smol_str::{SmolStr, format_smolstr};

use super::image::Image;
use crate::ids::ContentHash;
use crate::operator::Act;

/// The state of a subject that is not there.
const ABSENT: SmolStr = SmolStr::new_static("absent");

impl Image {
    /// The state of what `act` is about, as [`crate::operator::Command::expected_state`] names it.
    pub fn state(&self, act: &Act) -> SmolStr {
        match act {
            Act::InstallRoster(_) | Act::RemoveRoster(_) => text(self.roster.as_ref()),
            Act::Arm(of) => text(self.grants.get(&of.target)),
            Act::Disarm(of) => text(self.grants.get(&of.target)),
            Act::Abort(_) => text(Some(&(&self.roster, &self.grants))),
            Act::Pause(of) => self.pause_state(of.target.as_ref()),
            Act::Resume(of) => self.pause_state(of.target.as_ref()),
            Act::StopAll(_) => self.pause_state(None),
            Act::RegisterTarget(of) | Act::RemoveTarget(of) => text(self.targets.get(&of.target)),
            Act::RegisterPrincipal(of) => text(self.credentials.get(&of.credential)),
            Act::RevokePrincipal(of) => {
                let held = self.credentials.values().filter(|held| held.principal == of.principal);
                let held: alloc::vec::Vec<_> = held.collect();
                text((!held.is_empty()).then_some(&held))
            }
            Act::RegisterAckKey(of) => text(self.ack_keys.get(&of.target)),
            Act::RevokeAckKey(of) => text(self.ack_keys.get(&of.target)),
            Act::RegisterRouterKey(_) | Act::RevokeRouterKey(_) => text(Some(&self.router_keys)),
            Act::RegisterAuditKey(_) | Act::RevokeAuditKey(_) => text(Some(&self.audit_keys)),
            Act::RegisterOperatorKey(_) | Act::RevokeOperatorKey(_) => text(Some(&self.operators)),
            Act::AcceptClock(_) => text(self.clock.as_ref()),
            Act::ClearLatch(_) | Act::Resolve(_) | Act::ReleaseQuarantine(_) | Act::Reanchor(_) => ABSENT,
        }
    }

    fn pause_state(&self, target: Option<&crate::ids::Target>) -> SmolStr {
        match target {
            Some(target) => text(self.pauses.get(target)),
            None => text(
                (self.stopped || self.fleet_pause.is_some()).then_some(&(self.fleet_pause, self.stopped)),
            ),
        }
    }
}

/// Maps are ordered, so the plain JSON of a part of the image is always the same.
fn text<T: Serialize>(part: Option<&T>) -> SmolStr {
    let json = part.and_then(|part| serde_json::to_vec(part).ok());
    json.map_or(ABSENT, |json| format_smolstr!("{}", ContentHash::of(&json)))
}

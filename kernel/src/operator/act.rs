//! The closed list of acts, with the scope that each needs and whether it widens or narrows (OPR-2).
//!
//! An act without scope or class does not compile. Not here: what an act needs to be legal ([`super::authorise()`]) and
//! what it changes ([`crate::registry`]).

use awakener_spec::Reason;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::subject::{
    Alert, Arming, AuthorityKey, Credential, Empty, KeyName, NewAckKey, NewOperatorKey, OldAckKey,
    OldPrincipal, Pausing, Resuming, Roster, TargetName,
};

/// What an operator key may do. No scope grants another (OPR-1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// Say who may raise alerts.
    Roster,
    /// Give and take grants.
    Arm,
    /// Stop things: pause, stop all, abort.
    Stop,
    /// Lift what was stopped.
    Resume,
    /// Clear a latch.
    Latch,
    /// Register and remove targets.
    Target,
    /// Register and revoke principals and their credentials.
    Principal,
    /// Register and revoke ACK keys.
    AckKey,
    /// Register and revoke router keys.
    RouterKey,
    /// Register and revoke audit keys.
    AuditKey,
    /// Register and revoke operator keys.
    OperatorKey,
    /// Close the witness of an alert whose target is gone.
    Resolve,
    /// Give back what was set aside.
    Quarantine,
    /// Accept a clock that stepped back.
    Clock,
    /// Start a new segment after a break of the audit chain.
    Chain,
}

impl Scope {
    /// Every scope; the first operator key has them all.
    pub const ALL: [Self; 15] = [
        Self::Roster,
        Self::Arm,
        Self::Stop,
        Self::Resume,
        Self::Latch,
        Self::Target,
        Self::Principal,
        Self::AckKey,
        Self::RouterKey,
        Self::AuditKey,
        Self::OperatorKey,
        Self::Resolve,
        Self::Quarantine,
        Self::Clock,
        Self::Chain,
    ];
}

/// Whether an act can make more possible than before, or only less (OPR-2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// Takes effect only once its audit record is durable.
    Widen,
    /// Takes effect even when the store cannot commit, by way of the deny file.
    Narrow,
}

macro_rules! acts {
    ($( $(#[$doc:meta])* $name:ident($subject:ty) = $text:literal, $scope:ident, $class:ident; )*) => {
        /// One act on its subject. As JSON: `{"act": …, "subject": {…}}`.
        #[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[serde(tag = "act", content = "subject", rename_all = "snake_case")]
        pub enum Act { $( $(#[$doc])* $name($subject), )* }

        /// The name of an act.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum ActName { $( $(#[$doc])* $name, )* }

        impl ActName {
            /// Every act.
            pub const ALL: &'static [Self] = &[ $( Self::$name, )* ];

            /// Its spelling in a command.
            pub const fn name(self) -> &'static str {
                match self { $( Self::$name => $text, )* }
            }

            /// The act of exactly this spelling.
            pub fn from_name(text: &str) -> Option<Self> {
                match text { $( $text => Some(Self::$name), )* _ => None }
            }

            /// The scope that a key needs for it.
            pub const fn scope(self) -> Scope {
                match self { $( Self::$name => Scope::$scope, )* }
            }

            /// Whether it widens or narrows.
            pub const fn class(self) -> Class {
                match self { $( Self::$name => Class::$class, )* }
            }
        }

        impl Act {
            /// Which act it is.
            pub const fn name(&self) -> ActName {
                match self { $( Self::$name(_) => ActName::$name, )* }
            }

            /// Reads the `act` and the `subject` of a command.
            ///
            /// # Errors
            /// [`Reason::OperatorMalformed`]: no such act, or a subject that does not have exactly its members.
            pub fn parse(act: &str, subject: &Value) -> Result<Self, Reason> {
                awakener_spec::rule!(Opr1);
                match ActName::from_name(act).ok_or(Reason::OperatorMalformed)? {
                    $( ActName::$name => read(subject).map(Self::$name), )*
                }
            }
        }
    };
}

acts! {
    /// Say who may raise alerts, until when (ADM-4, ADM-5). Replaces the roster before.
    InstallRoster(Roster) = "install_roster", Roster, Widen;
    /// Let nobody raise alerts.
    RemoveRoster(Empty) = "remove_roster", Roster, Narrow;
    /// Give a target its grant (STN-2).
    Arm(Arming) = "arm", Arm, Widen;
    /// Take a target's grant.
    Disarm(TargetName) = "disarm", Arm, Narrow;
    /// Take the roster and every grant: back to the state after install (OPR-3).
    Abort(Empty) = "abort", Stop, Narrow;
    /// Let one target, or all, rest for a while (DSP-10). Never shortens a pause.
    Pause(Pausing) = "pause", Stop, Narrow;
    /// End the pause of one target; without a target the pause of all, and stop-all.
    Resume(Resuming) = "resume", Resume, Widen;
    /// Let nothing start any more, without an end (DSP-10).
    StopAll(Empty) = "stop_all", Stop, Narrow;
    /// Clear the latch of a target's station (FUS-7).
    ClearLatch(TargetName) = "clear_latch", Latch, Widen;
    /// Give an agent an inbox (ADM-13).
    RegisterTarget(TargetName) = "register_target", Target, Widen;
    /// Take it back, with its grant and its ACK keys.
    RemoveTarget(TargetName) = "remove_target", Target, Narrow;
    /// Give a principal a credential (IDN-6).
    RegisterPrincipal(Credential) = "register_principal", Principal, Widen;
    /// Take one credential, or all that a principal has.
    RevokePrincipal(OldPrincipal) = "revoke_principal", Principal, Narrow;
    /// Say which key acknowledges for a target, and as what (IDN-7, ACK-3).
    RegisterAckKey(NewAckKey) = "register_ack_key", AckKey, Widen;
    /// Take such a key.
    RevokeAckKey(OldAckKey) = "revoke_ack_key", AckKey, Narrow;
    /// Let a key sign hints.
    RegisterRouterKey(AuthorityKey) = "register_router_key", RouterKey, Widen;
    /// Take such a key.
    RevokeRouterKey(KeyName) = "revoke_router_key", RouterKey, Narrow;
    /// Let a key sign checkpoints.
    RegisterAuditKey(AuthorityKey) = "register_audit_key", AuditKey, Widen;
    /// Take such a key.
    RevokeAuditKey(KeyName) = "revoke_audit_key", AuditKey, Narrow;
    /// Let a key sign commands; it gets no scope that the signer lacks.
    RegisterOperatorKey(NewOperatorKey) = "register_operator_key", OperatorKey, Widen;
    /// Take such a key; a roster that it signed admits nobody from then on.
    RevokeOperatorKey(KeyName) = "revoke_operator_key", OperatorKey, Narrow;
    /// Close the witness of an alert whose target is gone (ACK-9).
    Resolve(Alert) = "resolve", Resolve, Widen;
    /// Give a quarantined message back (INB-8).
    ReleaseQuarantine(Alert) = "release_quarantine", Quarantine, Widen;
    /// Accept a clock that stepped back (EMT-6).
    AcceptClock(Empty) = "accept_clock", Clock, Widen;
    /// Go on after a break of the audit chain (AUD-5).
    Reanchor(Empty) = "reanchor", Chain, Widen;
}

impl Act {
    /// The scope that a key needs for it.
    pub const fn scope(&self) -> Scope {
        self.name().scope()
    }

    /// Whether it widens or narrows.
    pub const fn class(&self) -> Class {
        self.name().class()
    }
}

/// A subject is an object; serde alone would also take an array in the order of the members.
fn read<T: DeserializeOwned>(subject: &Value) -> Result<T, Reason> {
    if !subject.is_object() {
        return Err(Reason::OperatorMalformed);
    }
    T::deserialize(subject).map_err(|_| Reason::OperatorMalformed)
}

//! The operator gate: which signed commands take effect (OPR-1, OPR-2).
//!
//! [`act`] is the closed list of acts with the scope and the class of each, [`authorise()`] the one order of judgement,
//! [`deny`] what an act that narrows leaves behind when the store cannot commit. What an act does to the registry
//! stands in [`crate::registry`]; parsing and verifying the signed bytes is done before.

mod act;
mod authorise;
mod deny;
mod outside;
mod subject;

pub use act::{Act, ActName, Class, Scope};
pub use authorise::{Command, Presented, authorise};
pub use deny::Denial;
pub use outside::{Found, Outside};
pub use subject::{
    Alert, Arming, AuthorityKey, Credential, Empty, KeyName, NewAckKey, NewOperatorKey, OldAckKey,
    OldPrincipal, Pausing, Resuming, Roster, RosterEntry, TargetName,
};

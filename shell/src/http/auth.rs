//! Who calls: a bearer credential, known by its hash alone (IDN-6).
//!
//! Principals stand in the registry; the credentials of daemons and observers are files of this machine whose hashes
//! come with the settings. Not here: what a caller may do, which each route says.

use awakener_kernel::ids::{ContentHash, DaemonName, Target};
use awakener_kernel::registry::{Held, Registry};
use axum::http::{HeaderMap, header};
use subtle::ConstantTimeEq as _;

use super::Settings;
use crate::keys::token_hash;

/// The longest credential that is looked at.
const LONGEST: usize = 512;

/// Who calls.
#[derive(Clone, Debug)]
pub(super) enum Caller {
    /// A principal with what its credential allows.
    Principal(Held),
    /// A wake daemon of this machine.
    Daemon(DaemonName),
    /// Whoever may read the state directory's observer token.
    Observer,
}

impl Caller {
    /// Whether it may read the mail of this target. Who watches the plane reads nobody's mail for that.
    pub(super) fn may_read(&self, target: &Target) -> bool {
        match self {
            Self::Principal(held) => held.may_read(target),
            Self::Daemon(_) | Self::Observer => false,
        }
    }

    /// Whether it sees what happens to all messages: receipts and traces.
    pub(super) const fn observes(&self) -> bool {
        matches!(self, Self::Observer)
    }
}

/// The one credential of a request, by its hash. Two headers are as bad as none.
pub(super) fn presented(headers: &HeaderMap) -> Option<ContentHash> {
    let mut all = headers.get_all(header::AUTHORIZATION).iter();
    let (Some(one), None) = (all.next(), all.next()) else { return None };
    let (scheme, token) = one.to_str().ok()?.split_once(' ')?;
    let fits = scheme.eq_ignore_ascii_case("bearer") && !token.is_empty() && token.len() <= LONGEST;
    fits.then(|| token_hash(token))
}

/// Whose credential it is. Every hash of the settings is compared, each in constant time.
pub(super) fn caller(hash: &ContentHash, settings: &Settings, registry: &Registry) -> Option<Caller> {
    let equal = |known: &ContentHash| bool::from(known.0.ct_eq(&hash.0));
    let mut found = None;
    for (name, known) in &settings.daemons {
        if equal(known) {
            found = Some(Caller::Daemon(name.clone()));
        }
    }
    for known in &settings.observers {
        if equal(known) {
            found = Some(Caller::Observer);
        }
    }
    // A map is looked up by the hash of 256 random bits: what its timing tells of a hash tells nothing of a token.
    found.or_else(|| registry.credential(hash).cloned().map(Caller::Principal))
}

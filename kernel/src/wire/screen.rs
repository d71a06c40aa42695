//! The classes of VER-1 that need no state: what can be said of a hint from its bytes, the router ring, the list of
//! targets served here and the clock.
//!
//! Two halves, so that a model can do without cryptography: [`Presented::of`] turns bytes into a small symbolic
//! value, [`screen`] turns that and the time into a class. What passes goes to the waker of its target.

use alloc::boxed::Box;
use alloc::vec::Vec;

pub use awakener_spec::Class;
use awakener_spec::rule;
use serde::{Deserialize, Serialize};

use super::hint::{Hint, ParsedHint};
use super::malformed::Malformed;
use super::verify::Unpacked;
use crate::ids::{KeyId, PublicKey, Target};
use crate::time::{Millis, Wall};

/// When a router key holds, by the verifier's clock: from `valid_from` on, up to but not at `valid_until`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct KeyWindow {
    /// The first instant.
    pub valid_from: Wall,
    /// The first instant after it.
    pub valid_until: Wall,
}

impl KeyWindow {
    /// Whether the key holds at this instant.
    pub fn holds(&self, now: Wall) -> bool {
        self.valid_from <= now && now < self.valid_until
    }
}

/// A router key of the ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct RouterKey {
    /// The key; its id follows from it.
    pub public: PublicKey,
    /// When it holds.
    #[serde(flatten)]
    pub window: KeyWindow,
}

impl RouterKey {
    /// Its id (IDN-4).
    pub fn key_id(&self) -> KeyId {
        self.public.key_id()
    }
}

/// The router keys with their ids, unpacked, so that neither is computed anew for each hint.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Keyring(Vec<Held>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Held {
    id: KeyId,
    window: KeyWindow,
    key: Unpacked,
}

impl Keyring {
    /// The key of this id; of several the first one.
    fn key(&self, id: &KeyId) -> Option<&Held> {
        self.0.iter().find(|held| held.id == *id)
    }
}

impl<'a, Keys: IntoIterator<Item = &'a RouterKey>> From<Keys> for Keyring {
    fn from(keys: Keys) -> Self {
        let held =
            |key: &RouterKey| Held { id: key.key_id(), window: key.window, key: Unpacked::of(&key.public) };
        Self(keys.into_iter().map(held).collect())
    }
}

/// A well-formed hint and what was found out about it, in symbols.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Claim {
    /// What it says.
    pub hint: Hint,
    /// The window of the key that `router_key_id` names; `None` if the ring does not have it.
    pub router: Option<KeyWindow>,
    /// The source names the same key.
    pub source_agrees: bool,
    /// That key made the signature.
    pub signature_valid: bool,
    /// The subject names the same target as the data.
    pub subject_agrees: bool,
    /// The target is served here.
    pub served: bool,
}

/// Bytes that were presented as a hint, looked at without state and without a clock.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Presented {
    /// Not a hint, and why.
    Malformed(Malformed),
    /// A well-formed one.
    Hint(Box<Claim>),
}

impl Presented {
    /// Looks at bytes. Of several keys with the same id in the ring the first one counts.
    pub fn of(bytes: &[u8], ring: &Keyring, served: impl Fn(&Target) -> bool) -> Self {
        let parsed = match ParsedHint::parse(bytes) {
            Ok(parsed) => parsed,
            Err(malformed) => return Self::Malformed(malformed),
        };
        let router = ring.key(&parsed.hint.router_key_id);
        let signature_valid =
            router.is_some_and(|held| held.key.verify(parsed.signing_bytes(), &parsed.signature).is_ok());
        Self::Hint(Box::new(Claim {
            router: router.map(|held| held.window),
            source_agrees: parsed.source == parsed.hint.router_key_id,
            signature_valid,
            subject_agrees: parsed.subject == parsed.hint.target,
            served: served(&parsed.hint.target),
            hint: parsed.hint,
        }))
    }
}

/// Classifies what was presented at `now`; `skew` only forgives a time that lies ahead.
///
/// # Errors
/// The first class of VER-1 that matches.
pub fn screen(now: Wall, skew: Millis, presented: &Presented) -> Result<Hint, Class> {
    let claim = match presented {
        Presented::Malformed(_) => return Err(judged(Class::Malformed)),
        Presented::Hint(claim) => claim,
    };
    let router = claim.router.is_some_and(|window| window.holds(now)) && claim.source_agrees;
    if !router {
        Err(judged(Class::WrongRouter))
    } else if !claim.signature_valid {
        Err(judged(Class::Tamper))
    } else if !(claim.subject_agrees && claim.served) {
        Err(judged(Class::WrongTarget))
    } else if claim.hint.time > now + skew {
        Err(judged(Class::NotYetValid))
    } else if now >= claim.hint.expires_at {
        Err(judged(Class::Stale))
    } else {
        Ok(claim.hint.clone())
    }
}

fn judged(class: Class) -> Class {
    rule!(Ver1);
    class
}

/// Looks at bytes and classifies them: [`Presented::of`] and [`screen`] in one.
///
/// # Errors
/// The first class of VER-1 that matches.
pub fn present(
    bytes: &[u8],
    ring: &Keyring,
    served: impl Fn(&Target) -> bool,
    now: Wall,
    skew: Millis,
) -> Result<Hint, Class> {
    screen(now, skew, &Presented::of(bytes, ring, served))
}

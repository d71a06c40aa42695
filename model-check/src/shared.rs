//! A value that many states have in common: states are copied far more often than their parts change.
//!
//! Not here: what is shared. Rules: none of its own.

use std::fmt::Debug;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, OnceLock};

use crate::world::fingerprint;

/// A value that many states share: copied by reference, and hashed once instead of in every state.
#[derive(Clone)]
pub struct Shared<T>(Arc<(T, OnceLock<u64>)>);

/// As the value itself: whether its hash is known is nobody's business.
impl<T: Debug> Debug for Shared<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.0.fmt(f)
    }
}

impl<T: Hash> Shared<T> {
    /// Takes a value in.
    pub fn new(value: T) -> Self {
        Self(Arc::new((value, OnceLock::new())))
    }

    /// The fingerprint of the value ([`fingerprint`]).
    pub fn print(&self) -> u64 {
        *self.0.1.get_or_init(|| fingerprint(&self.0.0))
    }
}

impl<T: Clone> Shared<T> {
    /// Takes the value out, without a copy where nobody else holds it.
    pub fn into_inner(self) -> T {
        Arc::try_unwrap(self.0).map_or_else(|shared| shared.0.clone(), |(value, _)| value)
    }
}

impl<T> std::ops::Deref for Shared<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.0.0
    }
}

impl<T: PartialEq> PartialEq for Shared<T> {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0.0 == other.0.0
    }
}

impl<T: Eq> Eq for Shared<T> {}

impl<T: Hash> Hash for Shared<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.print());
    }
}

impl<T: Hash + Default> Default for Shared<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

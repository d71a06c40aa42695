//! The kernel under an adversary: every reachable state of small worlds, with the machines that ship (FML-1, FML-2).
//!
//! A world holds one process per machine ([`process`]), messages under way, clocks, budgets of the adversary, and a
//! ghost: what the outside saw. Laws are about the ghost, never about the kernel's own opinion of itself. Not here:
//! liveness (the search that stateright offers for it is unsound on cycles and joins), and the equality with TLA+.
//!
//! Reading order: [`process`] (what a driver can do with a machine) → [`mailbox`] and [`waker`] (the worlds) →
//! [`explore`] (how they are searched) → [`verdict`] (what is said of it).

pub mod cyclic;
pub mod engine;
pub mod explore;
pub mod liveness;
pub mod mailbox;
pub mod names;
pub mod process;
pub mod second;
pub mod verdict;
pub mod waker;
pub mod world;

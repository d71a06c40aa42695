//! The kernel under an adversary: every reachable state of small worlds, with the machines that ship (FML-1, FML-2).
//!
//! A world holds one process per machine ([`process`]), messages under way, clocks, budgets of the adversary, and a
//! ghost: what the outside saw. Laws are about the ghost, never about the kernel's own opinion of itself. Liveness is
//! judged here too ([`liveness`]), since the search that stateright offers for it is unsound on cycles and joins. Not
//! here: the equality with TLA+.
//!
//! Reading order: [`process`] and [`plane`] (what a driver can do with a machine, and does for a mailbox) → [`mailbox`],
//! [`waker`], [`station`] and [`system`] (the worlds) → [`engine`] and [`second`] (how they are searched) → [`cyclic`] and
//! [`liveness`].

pub mod check;
pub mod controls;
pub mod cyclic;
pub mod engine;
pub mod export;
pub mod liveness;
pub mod lookup;
pub mod mailbox;
pub mod manifest;
pub mod measure;
pub mod names;
pub mod plane;
pub mod process;
pub mod scope_md;
pub mod second;
pub mod shared;
pub mod station;
pub mod system;
pub mod trace;
pub mod waker;
pub mod world;
pub mod worlds;

//! The mailbox against its rules: stories, the golden matrix, the laws, the seal.
//!
//! Reading order: `cast` (who and what), `store` (a disk in memory), `world` (a mailbox with everything around it),
//! then the stories by subject. Nothing here sleeps or reads a clock.

mod cast;
mod store;
mod world;

mod ack_stories;
mod admit_stories;
mod facts_stories;
mod laws;
mod matrix;
mod operator_stories;
mod seal;
mod wake_stories;
mod work_stories;

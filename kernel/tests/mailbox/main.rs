//! The mailbox against its rules: stories, the golden matrix, the laws, the seal.
//!
//! Reading order: `cast` (who and what), `store` (a disk in memory), `registry` (the facts), `world` (a mailbox with
//! everything around it), `deeds` (what stories do all the time), then the stories by subject, then the laws. Nothing here sleeps or reads a clock.

mod cast;
mod deeds;
mod registry;
mod store;
mod world;

mod ack_stories;
mod admit_stories;
mod facts_stories;
mod ghost;
mod hint_stories;
mod laws;
mod matrix;
mod operator_stories;
mod script;
mod seal;
mod situations;
mod wake_stories;
mod work_stories;

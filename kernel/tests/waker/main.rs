//! The waker: its stories, its laws over random runs, and its table.

mod cooperation;
mod dispatch;
mod laws;
mod ops;
mod restart;
mod rig;
mod runs;
mod stories;
mod table;
mod tally;
mod verify;

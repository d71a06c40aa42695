//! The waker: its stories, its laws over random runs, and its table.

mod dispatch;
mod restart;
mod rig;
mod stories;
mod verify;

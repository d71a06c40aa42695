//! The station and its fuse, driven as a driver drives them: through transactions, never past the seal.

mod evidence;
mod fuse;
mod latch;
mod laws;
mod matrix;
mod rig;
mod stories;
mod walk;

//! The wake daemon as its surroundings see it: hints go in, a runtime on this machine is told, a plane is asked.
//!
//! SQLite and loopback HTTP are real in every test. `plane` and `broker` also have the real message plane in the same
//! process; the others put a scripted one in its place, where the plane's answers are what the test is about.
//!
//! Rules: VER-1 to VER-5, DSP-1 to DSP-12, BRK-1, EMT-4.

mod broker;
mod carriers;
mod dispatch;
mod nats;
mod plane;
mod real;
mod remote;
mod restart;
pub mod rig;
mod scripted;
mod station;
mod verify;

//! The demo: the whole stack as processes on this machine, one alert to its end, and everything that failure and
//! malice are allowed to do.
//!
//! Reading order: `scenarios` (what is expected; data) → [`verdict()`] (pure) → `run` (what is played, printed and
//! counted) → `acts` (how each line is played) → `stack`, `children`, `network`, `proxy`, `tape` (what it is played
//! on). The demo is a client like any other: it sees HTTP answers, audit exports, receipts, exit codes and files.

pub mod acts;
mod children;
mod network;
mod proxy;
mod run;
pub mod scenarios;
pub mod select;
mod stack;
mod tape;
pub mod verdict;

pub use run::{Options, run};
pub use scenarios::{Observations, Scenarios};
pub use verdict::{LineVerdict, all_green, exit, verdict};

//! Who a process is, across our own restarts: its number alone says nothing, since numbers are used again (SPW-3).
//!
//! A process is known by its number, its start time and the boot that both belong to; its family by a mark in its
//! environment. Rules: SPW-3, DSP-12.

use std::path::Path;
use std::time::{Duration, Instant};

use awakener_spec::rule;
use rustix::process::Signal;
use serde::{Deserialize, Serialize};

use super::family;

/// How often one looks whether a process has gone.
const LOOK: Duration = Duration::from_millis(10);

/// What the environment of a program carries, so that its family can be found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Mark(String);

impl Mark {
    /// The variable.
    pub const VARIABLE: &'static str = "STARTED_BY_AWAKENER";

    /// A new one.
    pub fn new() -> Self {
        let mut random = [0_u8; 16];
        if getrandom::fill(&mut random).is_err() {
            // Without chance marks could meet, and the wrong family would be ended.
            std::process::abort();
        }
        Self(random.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// Its text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for Mark {
    fn default() -> Self {
        Self::new()
    }
}

/// A program that was started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// Its process id, also the id of its group.
    pub pid: u32,
    /// When it started, in clock ticks since boot; `None` where the system does not say.
    pub start: Option<u64>,
    /// The boot of the machine.
    pub boot: Option<String>,
    /// What its family carries.
    pub mark: Mark,
}

/// Whether a process runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Life {
    /// It does.
    Alive,
    /// It can never do anything any more: dead, or its number is another's.
    Gone,
    /// Nobody knows.
    CannotTell,
}

impl Identity {
    /// Of a child that was not waited for, and so still has its number.
    pub(super) fn of_child(pid: u32, mark: Mark) -> Self {
        let start = family::read(pid).map(|found| found.start);
        Self { pid, start, boot: boot(), mark }
    }

    /// Whether this very process runs; its children are not asked for.
    pub fn life(&self) -> Life {
        rule!(Spw3);
        if !Path::new("/proc/self/stat").exists() {
            return Life::CannotTell;
        }
        match (&self.boot, boot()) {
            (Some(then), Some(now)) if *then != now => return Life::Gone,
            (Some(_), Some(_)) => {}
            (None, _) | (_, None) => return Life::CannotTell,
        }
        match family::read(self.pid) {
            None => Life::Gone,
            Some(found) if found.dead || Some(found.start) != self.start => Life::Gone,
            Some(_) => Life::Alive,
        }
    }
}

/// Ends what an earlier run of this process has left: the program, if it is still the same one, and all that carries its
/// mark. Returns whether nothing of it is left; only then may another be started in its place.
pub fn end_leftover(identity: Option<&Identity>, mark: &Mark, within: Duration) -> bool {
    let found = || {
        let mut found = family::marked(mark);
        if let Some(identity) = identity.filter(|identity| identity.life() == Life::Alive) {
            found.extend(family::of(identity));
        }
        found
    };
    let start = Instant::now();
    let mut signal = Signal::TERM;
    loop {
        let left = found();
        if left.is_empty() {
            return identity.is_none_or(|identity| identity.life() == Life::Gone);
        }
        for member in &left {
            tracing::warn!(rule = "SPW-3", pid = member.pid, "left over from an earlier run; it is ended");
            family::send(member, signal);
        }
        let pause = Instant::now();
        while pause.elapsed() < within / 2 && found().iter().any(|member| left.contains(member)) {
            std::thread::sleep(LOOK);
        }
        signal = Signal::KILL;
        if start.elapsed() > within * 2 {
            return found().is_empty();
        }
    }
}

fn boot() -> Option<String> {
    let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(id.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spw_3_a_number_alone_is_nobody() {
        let own = Identity::of_child(std::process::id(), Mark::new());
        assert_eq!(own.life(), Life::Alive);
        let earlier = Identity { start: own.start.map(|start| start - 1), ..own.clone() };
        assert_eq!(earlier.life(), Life::Gone, "the number is another's");
        let before = Identity { boot: Some("another boot".to_owned()), ..own.clone() };
        assert_eq!(before.life(), Life::Gone);
        let unknown = Identity { boot: None, ..own };
        assert_eq!(unknown.life(), Life::CannotTell);
    }
}

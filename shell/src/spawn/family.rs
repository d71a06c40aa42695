//! What belongs to a program: its group, its descendants, and whatever carries its mark.
//!
//! Read from `/proc`; where there is none, only the group is known. Rules: SPW-3.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::process::{Pid, Signal};

use super::identity::{Identity, Mark};

/// One process, at the moment of reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Found {
    pub(super) pid: u32,
    pub(super) start: u64,
    pub(super) parent: u32,
    pub(super) group: u32,
    /// Ended, and not waited for yet.
    pub(super) dead: bool,
}

/// Whether this process takes in what loses its parents.
static ADOPTS: AtomicBool = AtomicBool::new(false);

/// Takes in every descendant that loses its parents, so that it can be found and ended. For processes that start
/// programs through [`super::start`] alone: there, a child that was not started is one that was taken in.
///
/// # Errors
/// The system has no such thing; then what daemonises is found by its mark alone.
pub fn adopt() -> std::io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
        ADOPTS.store(true, Ordering::Relaxed);
        Ok(())
    }
    #[cfg(not(target_os = "linux"))]
    Err(std::io::ErrorKind::Unsupported.into())
}

pub(super) fn read(pid: u32) -> Option<Found> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name may hold anything, also blanks and brackets.
    let (_, rest) = stat.rsplit_once(')')?;
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    // Counted from the state, which is field 3 of proc_pid_stat(5).
    let number = |at: usize| fields.get(at).and_then(|field| field.parse::<u64>().ok());
    let small = |at: usize| number(at).and_then(|number| u32::try_from(number).ok());
    let dead = matches!(fields.first().copied(), Some("Z" | "X" | "x"));
    Some(Found { pid, start: number(19)?, parent: small(1)?, group: small(2)?, dead })
}

fn everybody() -> Vec<Found> {
    let listed = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    listed.filter_map(|entry| read(entry.file_name().to_str()?.parse().ok()?)).collect()
}

fn carries(pid: u32, mark: &Mark) -> bool {
    let Ok(environment) = std::fs::read(format!("/proc/{pid}/environ")) else { return false };
    let wanted = format!("{}={}", Mark::VARIABLE, mark.as_str());
    environment.split(|byte| *byte == 0).any(|pair| pair == wanted.as_bytes())
}

/// What carries a mark and lives.
pub(super) fn marked(mark: &Mark) -> Vec<Found> {
    everybody().into_iter().filter(|found| !found.dead && carries(found.pid, mark)).collect()
}

/// What lives of a program's family, itself included. Its number must still be its own: it lives, or was not waited for.
pub(super) fn of(identity: &Identity) -> Vec<Found> {
    let all = everybody();
    let mut pids = BTreeSet::from([identity.pid]);
    loop {
        let before = pids.len();
        pids.extend(all.iter().filter(|f| pids.contains(&f.parent)).map(|f| f.pid).collect::<Vec<_>>());
        if pids.len() == before {
            break;
        }
    }
    let taken_in = taken_in(&all);
    let mut family: Vec<Found> = all
        .into_iter()
        .filter(|found| {
            pids.contains(&found.pid)
                || found.group == identity.pid
                || taken_in.contains(&found.pid)
                || carries(found.pid, &identity.mark)
        })
        .collect();
    reap(&family, &taken_in);
    family.retain(|found| !found.dead);
    family
}

/// Children of this process that nobody here started: they belong to the only program that runs. With several running,
/// nobody can say to which.
fn taken_in(all: &[Found]) -> BTreeSet<u32> {
    let started = super::started();
    if !ADOPTS.load(Ordering::Relaxed) || started.len() > 1 {
        return BTreeSet::new();
    }
    let own = std::process::id();
    all.iter().filter(|f| f.parent == own && !started.contains(&f.pid)).map(|f| f.pid).collect()
}

/// Waits for what was taken in and has ended; nobody else does.
fn reap(family: &[Found], taken_in: &BTreeSet<u32>) {
    for found in family.iter().filter(|found| found.dead && taken_in.contains(&found.pid)) {
        if let Some(pid) = number(found.pid) {
            let _ = rustix::process::waitpid(Some(pid), rustix::process::WaitOptions::NOHANG);
        }
    }
}

/// Signals one process, unless its number is another's by now.
pub(super) fn send(found: &Found, signal: Signal) {
    if let Some(pid) = number(found.pid)
        && read(found.pid).is_some_and(|now| now.start == found.start)
    {
        let _ = rustix::process::kill_process(pid, signal);
    }
}

/// Signals the whole family: the group at once, the others one by one. The program must not have been waited for.
pub(super) fn signal(identity: &Identity, signal: Signal) {
    // Before the group goes, since it is the group that links some of the others.
    let others = of(identity);
    if let Some(group) = number(identity.pid) {
        let _ = rustix::process::kill_process_group(group, signal);
    }
    for found in others.iter().filter(|found| found.group != identity.pid) {
        send(found, signal);
    }
}

fn number(pid: u32) -> Option<Pid> {
    i32::try_from(pid).ok().and_then(Pid::from_raw)
}

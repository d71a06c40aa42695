//! Many cuts over one recording: where, how, and what the judge says of each.

use std::path::{Path, PathBuf};
use std::time::Instant;

use super::cut::{Chance, Left, Wounds, cut};
use super::disk::{Disk, Event, Node};
use super::events::Recording;
use super::judge::Fault;
use super::told::Fact;

/// What a trial found.
#[derive(Debug, Default)]
pub struct Found {
    pub cuts: usize,
    /// The first state that failed, with the number of its cut.
    pub first: Option<(usize, Fault)>,
    /// The state itself, and where it was recorded.
    left: Option<(PathBuf, Left)>,
    seed: u64,
    with_pending: usize,
    with_dropped: usize,
    with_torn: usize,
    with_names: usize,
    told: usize,
}

/// How many cuts, unless the environment asks for another number.
pub fn cuts(usual: usize) -> usize {
    from_environment("AWAKENER_CUTS").map_or(usual, |number| usize::try_from(number).unwrap())
}

fn from_environment(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name}={text} is no number")))
}

/// A directory for one state; in memory where the machine has such a place, because nothing of it need last.
pub fn scratch() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    tempfile::tempdir_in(memory).unwrap_or_else(|_| tempfile::tempdir().unwrap())
}

/// Cuts, and has each state judged; ends with the first that fails.
pub fn trial(
    recording: &Recording,
    events: &[Event],
    cuts: usize,
    judge: impl Fn(&Path, &[&Fact]) -> Result<(), Fault>,
) -> Found {
    let began = Instant::now();
    let seed = from_environment("AWAKENER_SEED").unwrap_or(4);
    let mut found = Found { seed, ..Found::default() };
    let root = recording.names.keys().next().unwrap();
    let mut disk = Disk::new(&recording.files, recording.names.clone());
    let (mut done, mut told) = (0, Vec::new());
    for (at, number) in places(events, cuts, seed) {
        for event in &events[done..at] {
            disk.step(event);
            if let Event::Told(fact) = event {
                told.push(fact);
            }
        }
        done = at;
        let left = cut(&disk, &mut Chance::new(seed, number as u64));
        found.count(left.wounds, told.len());
        let dir = scratch();
        left.put(root, dir.path());
        if let Err(fault) = judge(dir.path(), &told) {
            eprintln!("cut {number} with seed {seed}, after {at} of {} events: {fault}", events.len());
            found.left = Some((root.clone(), left));
            found.first = Some((number, fault));
            break;
        }
    }
    eprintln!("{} cuts in {:.1} s, seed {seed}: {found:?}", found.cuts, began.elapsed().as_secs_f32());
    found
}

/// States that cuts leave, each with how many events were done by then.
pub fn states(recording: &Recording, number: usize) -> Vec<(Left, usize)> {
    let seed = from_environment("AWAKENER_SEED").unwrap_or(4);
    let mut disk = Disk::new(&recording.files, recording.names.clone());
    let (mut done, mut states) = (0, Vec::new());
    for (at, number) in places(&recording.events, number, !seed) {
        recording.events[done..at].iter().for_each(|event| disk.step(event));
        done = at;
        states.push((cut(&disk, &mut Chance::new(!seed, number as u64)), at));
    }
    states
}

/// Where each cut falls, in order: half of them right behind something that was told, some among changes of names, which
/// are rare, and the rest anywhere.
fn places(events: &[Event], cuts: usize, seed: u64) -> Vec<(usize, usize)> {
    let all = |like: fn(&Event) -> bool| -> Vec<usize> {
        events.iter().enumerate().filter(|(_, event)| like(event)).map(|(at, _)| at).collect()
    };
    let told = all(|event| matches!(event, Event::Told(_)));
    let names = all(|event| matches!(event, Event::Names(_)));
    let mut places: Vec<(usize, usize)> = (0..cuts)
        .map(|number| {
            let mut chance = Chance::new(!seed, number as u64);
            let (kind, beyond) = (number % 8, chance.below(8));
            let near = match kind {
                0..4 => told.get(chance.below(told.len())).map(|at| at + 1),
                4 => names.get(chance.below(names.len())).map(|at| at + 1 + beyond),
                _ => None,
            };
            (near.unwrap_or_else(|| chance.below(events.len() + 1)).min(events.len()), number)
        })
        .collect();
    places.sort_unstable();
    places
}

/// The disk at the end of a recording, if power was never cut.
fn settled(recording: &Recording) -> Left {
    let mut disk = Disk::new(&recording.files, recording.names.clone());
    recording.events.iter().for_each(|event| disk.step(event));
    disk.settle();
    cut(&disk, &mut Chance::new(0, 0))
}

/// Writes it out.
pub fn replay(recording: &Recording, to: &Path) {
    settled(recording).put(recording.names.keys().next().unwrap(), to);
}

/// The model of the disk is the disk: what the recorded processes have left really lies there, byte for byte, and
/// nothing else. `found` is what does.
pub fn faithful(recording: &Recording, found: Vec<(PathBuf, Option<Vec<u8>>)>) {
    let mut left = settled(recording);
    for (path, bytes) in found.into_iter().filter(|(path, _)| !path.to_string_lossy().ends_with("-shm")) {
        let node = left.names.remove(&path).unwrap_or_else(|| panic!("never recorded: {}", path.display()));
        if let (Node::File(inode), Some(bytes)) = (node, bytes) {
            assert!(left.bytes[&inode] == bytes, "not as recorded: {}", path.display());
        }
    }
    left.names.pop_first();
    assert!(left.names.is_empty(), "recorded, and not there: {:?}", left.names);
}

impl Found {
    fn count(&mut self, wounds: Wounds, told: usize) {
        self.cuts += 1;
        self.with_pending += usize::from(wounds.pending > 0);
        self.with_dropped += usize::from(wounds.dropped > 0);
        self.with_torn += usize::from(wounds.torn > 0);
        self.with_names += usize::from(wounds.names_dropped > 0);
        self.told = self.told.max(told);
    }

    /// No state failed.
    pub fn sound(&self, what: &str) {
        if let (Some((number, fault)), Some((root, left))) = (&self.first, &self.left) {
            let kept = Path::new(env!("CARGO_TARGET_TMPDIR"))
                .join(format!("power-cut-{}-{number}", std::process::id()));
            left.put(root, &kept);
            eprintln!("kept: {}", kept.display());
            panic!("{what}: cut {number} with seed {}: {fault}", self.seed);
        }
    }

    /// How many cuts met something to lose.
    pub const fn hit(&self) -> usize {
        self.with_dropped
    }

    /// The cuts met something to lose.
    pub fn hard_enough(&self) {
        let counts = [self.with_pending, self.with_dropped, self.with_torn, self.with_names];
        assert!(counts.iter().all(|count| *count > self.cuts / 200), "{self:?}");
        assert!(self.told > 100, "{self:?}");
    }
}

//! A power cut: what is left of a disk, by chance from a seed.
//!
//! Everything durable is left. Of each file's unsynced changes, independently of other files: all, none, a part in
//! order, any of them, single ones lost, torn at sectors, or only the size of the file. Of unsynced names the same,
//! each rename whole. Not here: what must hold afterwards.

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use super::disk::{Bytes, Change, Disk, Node};

/// What a device writes whole or not at all.
const SECTOR: usize = 512;

/// Numbers from a seed (splitmix64), the same on every machine.
pub struct Chance(u64);

impl Chance {
    pub fn new(seed: u64, number: u64) -> Self {
        Self(seed ^ number.wrapping_mul(0x2545_f491_4f6c_dd1d))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Below `end`; 0 if that is 0.
    pub fn below(&mut self, end: usize) -> usize {
        let end = u64::try_from(end).unwrap();
        usize::try_from(self.next().checked_rem(end).unwrap_or(0)).unwrap()
    }

    fn coin(&mut self) -> bool {
        self.below(2) == 0
    }
}

/// What a cut did, to be counted.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wounds {
    pub pending: usize,
    pub dropped: usize,
    pub torn: usize,
    pub names_dropped: usize,
}

/// What is found when power comes back.
pub struct Left {
    pub names: BTreeMap<PathBuf, Node>,
    pub bytes: BTreeMap<usize, Vec<u8>>,
    pub wounds: Wounds,
}

/// Cuts power now.
pub fn cut(disk: &Disk, chance: &mut Chance) -> Left {
    let mut wounds = Wounds::default();
    let mut names = disk.names.clone();
    let fates = fates(disk.pending.len(), chance);
    for ((_, change), fate) in disk.pending.iter().zip(fates) {
        match fate {
            Fate::Kept | Fate::Torn => change.apply(&mut names),
            Fate::Lost => wounds.names_dropped += 1,
        }
    }
    // A file without its directory is not there.
    let whole = names.clone();
    names.retain(|path, _| {
        path.ancestors().skip(1).all(|above| whole.contains_key(above) || !inside(above, &whole))
    });
    let reached = names.values().filter_map(|node| match node {
        Node::File(inode) => Some(*inode),
        Node::Directory => None,
    });
    let empty = Bytes::default();
    let mut bytes = BTreeMap::new();
    for inode in reached {
        let file = disk.files.get(&inode).unwrap_or(&empty);
        bytes.insert(inode, after(file, chance, &mut wounds));
    }
    Left { names, bytes, wounds }
}

/// Whether a path lies at or below the uppermost directory of the recording.
fn inside(path: &Path, names: &BTreeMap<PathBuf, Node>) -> bool {
    names.keys().next().is_some_and(|root| path.starts_with(root))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    Kept,
    Lost,
    Torn,
}

/// One for each unsynced change, oldest first.
fn fates(number: usize, chance: &mut Chance) -> Vec<Fate> {
    let (manner, one) = (chance.below(7), chance.below(number));
    (0..number)
        .map(|at| match manner {
            0 => Fate::Kept,
            1 => Fate::Lost,
            // In order up to some point, the one at the point torn.
            2 | 3 if at < one => Fate::Kept,
            2 | 3 if at == one => Fate::Torn,
            2 => Fate::Lost,
            // And what comes after it out of order.
            4 => {
                if at == one {
                    Fate::Lost
                } else {
                    Fate::Kept
                }
            }
            5 => {
                if at == one {
                    Fate::Kept
                } else {
                    Fate::Lost
                }
            }
            _ => [Fate::Kept, Fate::Lost, Fate::Torn][chance.below(3)],
        })
        .collect()
}

fn after(file: &Bytes, chance: &mut Chance, wounds: &mut Wounds) -> Vec<u8> {
    let mut bytes = file.durable.clone();
    wounds.pending += file.pending.len();
    let fates = fates(file.pending.len(), chance);
    for ((_, change), fate) in file.pending.iter().zip(fates) {
        match (fate, change) {
            (Fate::Kept, _) => change.apply(&mut bytes),
            (Fate::Torn, Change::Write { at, data }) => {
                wounds.torn += 1;
                tear(*at, data, &mut bytes, chance);
            }
            (Fate::Lost, _) | (Fate::Torn, Change::Resize(_)) => wounds.dropped += 1,
        }
    }
    bytes
}

/// Some sectors of a write: the first ones, any, or none although the file has grown.
fn tear(at: usize, data: &[u8], bytes: &mut Vec<u8>, chance: &mut Chance) {
    let end = at + data.len();
    let sectors = end.div_ceil(SECTOR) - at / SECTOR;
    let (manner, first) = (chance.below(3), chance.below(sectors + 1));
    if manner > 0 {
        bytes.resize(bytes.len().max(end), 0);
    }
    for number in 0..sectors {
        let kept = match manner {
            0 => number < first,
            1 => chance.coin(),
            _ => false,
        };
        if kept {
            let from = ((at / SECTOR + number) * SECTOR).max(at);
            let to = ((at / SECTOR + number + 1) * SECTOR).min(end);
            Change::Write { at: from, data: data[from - at..to - at].to_vec() }.apply(bytes);
        }
    }
}

impl std::fmt::Debug for Left {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Never the bytes: there are megabytes of them, and keys.
        f.debug_struct("Left").field("names", &self.names.len()).finish_non_exhaustive()
    }
}

impl Left {
    /// Writes it out below `to` instead of below `root`.
    pub fn put(&self, root: &Path, to: &Path) {
        for (path, node) in &self.names {
            let Ok(relative) = path.strip_prefix(root) else { continue };
            let place = to.join(relative);
            match node {
                Node::Directory => {
                    DirBuilder::new().recursive(true).mode(0o700).create(&place).unwrap();
                }
                Node::File(inode) => {
                    fs::create_dir_all(place.parent().unwrap()).unwrap();
                    let options = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&place);
                    options.unwrap().write_all(&self.bytes[inode]).unwrap();
                }
            }
        }
    }
}

#[test]
fn a_torn_write_keeps_whole_sectors() {
    let (mut whole, mut none, mut some) = (0, 0, 0);
    for number in 0..200 {
        let mut bytes = vec![0; 4 * SECTOR];
        tear(SECTOR / 2, &[1; 2 * SECTOR], &mut bytes, &mut Chance::new(7, number));
        let written = |from: usize, to: usize| {
            let part = &bytes[from..to];
            assert!(part.iter().all(|byte| *byte == part[0]), "a sector is torn");
            part[0] == 1
        };
        let parts = [
            written(SECTOR / 2, SECTOR),
            written(SECTOR, 2 * SECTOR),
            written(2 * SECTOR, 2 * SECTOR + SECTOR / 2),
        ];
        match parts.iter().filter(|part| **part).count() {
            0 => none += 1,
            3 => whole += 1,
            _ => some += 1,
        }
        assert!(!written(2 * SECTOR + SECTOR / 2, 4 * SECTOR), "nothing beside it is touched");
    }
    assert!(whole > 0 && none > 0 && some > 0, "{whole} {none} {some}");
}

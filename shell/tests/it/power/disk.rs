//! A disk that can lose power: what is durable, and what was written since the last sync of each file and directory.
//!
//! A sync makes durable what was there when it was called, and only of the one file or directory; the sync of a file
//! says nothing about its name. Not here: which of the rest survives ([`super::cut`]).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A file, whatever its name is.
pub type Inode = usize;

/// What becomes of a disk, in the order of the recording.
#[derive(Clone, Debug)]
pub enum Event {
    /// A file was changed.
    Change(Inode, Change),
    /// Names were changed, together or not at all.
    Names(Names),
    /// A sync was called; the number connects it to its end.
    SyncBegin(usize, Synced),
    /// It has returned.
    SyncEnd(usize),
    /// Something was told to the outside.
    Told(super::told::Fact),
}

/// A change of a file's bytes.
#[derive(Clone, Debug)]
pub enum Change {
    Write { at: usize, data: Vec<u8> },
    Resize(usize),
}

/// A change of names: one is taken away, one is put.
#[derive(Clone, Debug)]
pub struct Names {
    pub gone: Option<PathBuf>,
    pub put: Option<(PathBuf, Node)>,
}

/// What a name leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Node {
    File(Inode),
    Directory,
}

/// What was synced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Synced {
    File(Inode),
    Directory(PathBuf),
}

/// The bytes of one file.
#[derive(Debug, Default)]
pub struct Bytes {
    pub durable: Vec<u8>,
    /// With the number of the event, oldest first.
    pub pending: Vec<(usize, Change)>,
}

/// The disk after some part of the recording.
#[derive(Debug, Default)]
pub struct Disk {
    pub files: BTreeMap<Inode, Bytes>,
    pub names: BTreeMap<PathBuf, Node>,
    pub pending: Vec<(usize, Names)>,
    syncs: BTreeMap<usize, (usize, Synced)>,
    clock: usize,
}

impl Disk {
    /// A disk on which everything is durable.
    pub fn new(files: &BTreeMap<Inode, Vec<u8>>, names: BTreeMap<PathBuf, Node>) -> Self {
        let files = files
            .iter()
            .map(|(inode, bytes)| (*inode, Bytes { durable: bytes.clone(), pending: Vec::new() }))
            .collect();
        Self { files, names, ..Self::default() }
    }

    /// Goes one event further.
    pub fn step(&mut self, event: &Event) {
        self.clock += 1;
        match event {
            Event::Change(inode, change) => {
                self.files.entry(*inode).or_default().pending.push((self.clock, change.clone()));
            }
            Event::Names(names) => self.pending.push((self.clock, names.clone())),
            Event::SyncBegin(number, synced) => {
                self.syncs.insert(*number, (self.clock, synced.clone()));
            }
            Event::SyncEnd(number) => {
                if let Some((until, synced)) = self.syncs.remove(number) {
                    self.synced(until, &synced);
                }
            }
            Event::Told(_) => {}
        }
    }

    /// Makes everything durable.
    pub fn settle(&mut self) {
        for (_, names) in std::mem::take(&mut self.pending) {
            names.apply(&mut self.names);
        }
        for file in self.files.values_mut() {
            for (_, change) in std::mem::take(&mut file.pending) {
                change.apply(&mut file.durable);
            }
        }
    }

    fn synced(&mut self, until: usize, synced: &Synced) {
        match synced {
            Synced::File(inode) => {
                let file = self.files.entry(*inode).or_default();
                let rest = file.pending.partition_point(|(when, _)| *when < until);
                for (_, change) in file.pending.drain(..rest) {
                    change.apply(&mut file.durable);
                }
            }
            Synced::Directory(path) => {
                let durable = |(when, names): &(usize, Names)| *when < until && names.within(path);
                let (now, later) = std::mem::take(&mut self.pending).into_iter().partition(durable);
                self.pending = later;
                for (_, names) in now {
                    names.apply(&mut self.names);
                }
            }
        }
    }
}

impl Change {
    pub fn apply(&self, bytes: &mut Vec<u8>) {
        match self {
            Self::Write { at, data } => {
                let end = at + data.len();
                if bytes.len() < end {
                    bytes.resize(end, 0);
                }
                bytes[*at..end].copy_from_slice(data);
            }
            Self::Resize(size) => bytes.resize(*size, 0),
        }
    }
}

impl Names {
    pub fn apply(&self, names: &mut BTreeMap<PathBuf, Node>) {
        if let Some(gone) = &self.gone {
            names.remove(gone);
        }
        if let Some((path, node)) = &self.put {
            names.insert(path.clone(), *node);
        }
    }

    /// Whether the sync of a directory covers it.
    fn within(&self, directory: &Path) -> bool {
        let here = |path: &PathBuf| path.parent() == Some(directory);
        self.gone.iter().chain(self.put.as_ref().map(|(path, _)| path)).any(here)
    }
}

#[test]
fn a_sync_covers_what_was_there_when_it_was_called() {
    let write = |at, text: &str| Event::Change(1, Change::Write { at, data: text.into() });
    let put = |name: &str| Event::Names(Names { gone: None, put: Some((name.into(), Node::File(1))) });
    let events = [
        put("/d/a"),
        write(0, "one"),
        Event::SyncBegin(0, Synced::File(1)),
        write(3, "two"),
        Event::SyncEnd(0),
        Event::SyncBegin(1, Synced::Directory("/e".into())),
        Event::SyncEnd(1),
    ];
    let mut disk = Disk::default();
    events.iter().for_each(|event| disk.step(event));
    assert_eq!((disk.files[&1].durable.as_slice(), disk.files[&1].pending.len()), (&b"one"[..], 1));
    assert!(disk.names.is_empty() && disk.pending.len() == 1, "the name is not durable");
    disk.step(&Event::SyncBegin(2, Synced::Directory("/d".into())));
    disk.step(&Event::SyncEnd(2));
    assert_eq!(disk.names[Path::new("/d/a")], Node::File(1));
}

//! From calls to what becomes of the disk and of clients: descriptors, offsets and names are followed here.
//!
//! A write counts when it has returned, a sync covers what had returned when it was called, and an answer is told when
//! the call that sends its last byte begins: each time the reading that is harder on the program. The shared-memory
//! file beside a WAL is no part of a disk after a power cut; SQLite makes it anew.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use super::disk::{Change, Event, Inode, Names, Node, Synced};
use super::told::{Connection, Fact};
use super::trace::{Call, Point, Trace};

/// A descriptor.
enum Open {
    File { inode: Inode, at: usize, append: bool },
    Directory(PathBuf),
    Socket(Box<Connection>),
}

/// A recording over several processes, one after the other.
#[derive(Default)]
pub struct Recording {
    pub events: Vec<Event>,
    /// The disk before the first of them, all of it durable.
    pub files: BTreeMap<Inode, Vec<u8>>,
    pub names: BTreeMap<PathBuf, Node>,
    root: PathBuf,
    /// What running processes see.
    seen: BTreeMap<PathBuf, Node>,
    sizes: Vec<usize>,
    syncs: usize,
    open: HashMap<i64, Open>,
    /// What was meant by calls under way.
    begun: HashMap<usize, Vec<usize>>,
}

impl Recording {
    /// Begins with what lies below `root`.
    pub fn new(root: &Path, found: Vec<(PathBuf, Option<Vec<u8>>)>) -> Self {
        let mut new = Self { root: root.to_owned(), ..Self::default() };
        for (path, bytes) in found {
            let node = match bytes {
                None => Node::Directory,
                Some(bytes) => {
                    new.sizes.push(bytes.len());
                    new.files.insert(new.sizes.len() - 1, bytes);
                    Node::File(new.sizes.len() - 1)
                }
            };
            new.names.insert(path, node);
        }
        new.names.insert(root.to_owned(), Node::Directory);
        new.seen = new.names.clone();
        new
    }

    /// Adds one process.
    pub fn add(&mut self, trace: &Trace) {
        self.open.clear();
        for point in &trace.points {
            match *point {
                Point::Begin(number) => self.begin(number, &trace.calls[number]),
                Point::End(number) => self.end(number, &trace.calls[number]),
                Point::Exit(code) => self.events.push(Event::Told(Fact::Exit(code))),
            }
        }
    }

    /// How often a file of this name was written from its start again, without becoming shorter first.
    pub fn begun_anew(&self, name: &str) -> usize {
        let mut ends: BTreeMap<Inode, usize> = BTreeMap::new();
        let mut anew = 0;
        let like = |path: &Path| path.file_name().is_some_and(|found| found == name);
        let named = |inode: &Inode| {
            self.events.iter().any(|event| match event {
                Event::Names(names) => {
                    names.put.as_ref().is_some_and(|(path, node)| like(path) && *node == Node::File(*inode))
                }
                _ => false,
            })
        };
        for event in &self.events {
            if let Event::Change(inode, Change::Write { at, .. }) = event {
                let end = ends.insert(*inode, *at);
                anew += usize::from(*at == 0 && end.is_some_and(|end| end > 0) && named(inode));
            }
        }
        anew
    }

    fn begin(&mut self, number: usize, call: &Call) {
        match call.name.as_str() {
            "fsync" | "fdatasync" if call.result == 0 => {
                let synced = match self.open.get(&call.number(0)) {
                    Some(Open::File { inode, .. }) => Synced::File(*inode),
                    Some(Open::Directory(path)) => Synced::Directory(path.clone()),
                    Some(Open::Socket(_)) | None => return,
                };
                self.syncs += 1;
                self.events.push(Event::SyncBegin(self.syncs, synced));
                self.begun.entry(number).or_default().push(self.syncs);
            }
            "sendto" | "sendmsg" | "writev" | "write" if call.result > 0 => {
                if let Some(Open::Socket(connection)) = self.open.get_mut(&call.number(0)) {
                    let mut sent = call.bytes(1);
                    sent.truncate(usize::try_from(call.result).unwrap());
                    self.events.extend(connection.sent(&sent).into_iter().map(Event::Told));
                }
            }
            "close" => {
                self.open.remove(&call.number(0));
            }
            _ => {}
        }
    }

    fn end(&mut self, number: usize, call: &Call) {
        if call.result < 0 {
            return;
        }
        let size = usize::try_from(call.result).unwrap_or(0);
        match call.name.as_str() {
            "fsync" | "fdatasync" => {
                let ends = self.begun.remove(&number).unwrap_or_default();
                self.events.extend(ends.into_iter().map(Event::SyncEnd));
            }
            "openat" => self.opened(call),
            "accept" | "accept4" => {
                self.open.insert(call.result, Open::Socket(Box::default()));
            }
            "recvfrom" => {
                if let Some(Open::Socket(connection)) = self.open.get_mut(&call.number(0)) {
                    connection.received(&call.bytes(1));
                }
            }
            "write" | "writev" => self.wrote(call, None, size),
            "pwrite64" | "pwritev" => self.wrote(call, Some(call.number(3)), size),
            "ftruncate" => {
                if let Some(Open::File { inode, .. }) = self.open.get(&call.number(0)) {
                    let inode = *inode;
                    self.resize(inode, usize::try_from(call.number(1)).unwrap());
                }
            }
            "lseek" => {
                if let Some(Open::File { at, .. }) = self.open.get_mut(&call.number(0)) {
                    *at = size;
                }
            }
            "rename" => self.renamed(&call.path(0), &call.path(1)),
            "renameat" | "renameat2" => self.renamed(&call.path(1), &call.path(3)),
            "unlink" => self.name(Some(call.path(0)), None),
            "unlinkat" => self.name(Some(call.path(1)), None),
            "mkdir" => self.name(None, Some((call.path(0), Node::Directory))),
            "mkdirat" => self.name(None, Some((call.path(1), Node::Directory))),
            "sendto" | "sendmsg" | "close" | "exit_group" => {}
            "mmap" => {
                let shared = call.args[3].contains("MAP_SHARED") && call.args[2].contains("PROT_WRITE");
                assert!(
                    !shared || !self.ours(call.number(4)),
                    "a file of ours is written through memory: {call:?}"
                );
            }
            "dup" | "dup2" | "dup3" | "fcntl" | "fallocate" | "sync_file_range" | "pwritev2" | "sendfile" => {
                let locks = call.name == "fcntl" && !call.args[1].contains("F_DUPFD");
                assert!(locks || !self.ours(call.number(0)), "not modelled: {call:?}");
            }
            other => panic!("not modelled: {other} {:?}", call.args),
        }
    }

    fn ours(&self, descriptor: i64) -> bool {
        matches!(self.open.get(&descriptor), Some(Open::File { .. } | Open::Directory(_)))
    }

    fn inside(&self, path: &Path) -> bool {
        let end = path.file_name().unwrap_or_default().to_string_lossy();
        path.starts_with(&self.root) && !end.ends_with("-shm")
    }

    fn opened(&mut self, call: &Call) {
        let (path, flags) = (call.path(1), &call.args[2]);
        // Whatever had this number is closed, or was never ours.
        self.open.remove(&call.result);
        assert!(path.is_absolute() || !flags.contains("O_CREAT"), "not modelled: {call:?}");
        if !self.inside(&path) {
            return;
        }
        let open = match self.seen.get(&path) {
            Some(Node::Directory) => Open::Directory(path),
            Some(Node::File(inode)) => {
                let inode = *inode;
                if flags.contains("O_TRUNC") && self.sizes[inode] > 0 {
                    self.resize(inode, 0);
                }
                Open::File { inode, at: 0, append: flags.contains("O_APPEND") }
            }
            None => {
                assert!(flags.contains("O_CREAT"), "opened, but never made: {call:?}");
                let inode = self.sizes.len();
                self.sizes.push(0);
                self.name(None, Some((path, Node::File(inode))));
                Open::File { inode, at: 0, append: flags.contains("O_APPEND") }
            }
        };
        self.open.insert(call.result, open);
    }

    fn wrote(&mut self, call: &Call, place: Option<i64>, size: usize) {
        let Some(Open::File { inode, at, append }) = self.open.get_mut(&call.number(0)) else { return };
        let inode = *inode;
        let start = match place {
            Some(place) => usize::try_from(place).unwrap(),
            None if *append => self.sizes[inode],
            None => *at,
        };
        if place.is_none() {
            *at = start + size;
        }
        let mut data = call.bytes(1);
        data.truncate(size);
        self.sizes[inode] = self.sizes[inode].max(start + size);
        self.events.push(Event::Change(inode, Change::Write { at: start, data }));
    }

    fn resize(&mut self, inode: Inode, size: usize) {
        self.sizes[inode] = size;
        self.events.push(Event::Change(inode, Change::Resize(size)));
    }

    fn renamed(&mut self, from: &Path, to: &Path) {
        let Some(node) = self.seen.get(from).copied() else { return };
        assert!(node != Node::Directory, "not modelled: a directory is renamed");
        self.name(Some(from.to_owned()), Some((to.to_owned(), node)));
    }

    fn name(&mut self, gone: Option<PathBuf>, put: Option<(PathBuf, Node)>) {
        let names = Names {
            gone: gone.filter(|path| self.inside(path)),
            put: put.filter(|(path, _)| self.inside(path)),
        };
        if names.gone.is_some() || names.put.is_some() {
            names.apply(&mut self.seen);
            self.events.push(Event::Names(names));
        }
    }
}

//! Recordings of programs that break their word, made from the recording of one that keeps it: what proves that the
//! judge would see it.

use std::collections::BTreeMap;
use std::path::Path;

use super::disk::{Event, Inode, Node, Synced};
use super::events::Recording;

/// Without the syncs for which this holds.
pub fn without_sync(recording: &Recording, of: impl Fn(&Synced) -> bool) -> Vec<Event> {
    let mut gone = Vec::new();
    let keep = |event: &&Event| match event {
        Event::SyncBegin(number, synced) if of(synced) => {
            gone.push(*number);
            false
        }
        Event::SyncEnd(number) => !gone.contains(number),
        _ => true,
    };
    let events: Vec<Event> = recording.events.iter().filter(keep).cloned().collect();
    assert!(events.len() < recording.events.len(), "there is no such sync");
    events
}

/// As `PRAGMA synchronous = OFF` would be: nothing of a database or its WAL is ever synced.
pub fn synchronous_off(recording: &Recording) -> Vec<Event> {
    let files = named(recording, |name| name.contains(".db"));
    without_sync(recording, |synced| matches!(synced, Synced::File(inode) if files.contains(inode)))
}

/// Without syncs of the files that ever had a name like this.
pub fn unsynced_file(recording: &Recording, name: &str) -> Vec<Event> {
    let files = named(recording, |found| found == name);
    without_sync(recording, |synced| matches!(synced, Synced::File(inode) if files.contains(inode)))
}

/// Without syncs of the file that becomes an incident (FUS-7).
pub fn unsynced_incident(recording: &Recording) -> Vec<Event> {
    let files = named(recording, |name| name.starts_with("lotse-") && name.ends_with(".json"));
    without_sync(recording, |synced| matches!(synced, Synced::File(inode) if files.contains(inode)))
}

/// Without any sync of a directory after a file, or a directory, got this name in it.
pub fn unsynced_name(recording: &Recording, name: &str) -> Vec<Event> {
    let put = |event: &Event| match event {
        Event::Names(names) => {
            let (path, _) = names.put.as_ref()?;
            path.file_name().filter(|found| *found == name).and_then(|_| path.parent().map(Path::to_owned))
        }
        _ => None,
    };
    let mut above = None;
    let mut events = recording.events.clone();
    events.retain(|event| {
        above = above.take().or_else(|| put(event));
        !matches!(event, Event::SyncBegin(_, Synced::Directory(path)) if above.as_ref() == Some(path))
    });
    assert!(
        events.len() < recording.events.len(),
        "nothing was named {name}, or its directory is not synced"
    );
    events
}

/// Every answer is given before the sync that it waited for.
pub fn answered_first(recording: &Recording) -> Vec<Event> {
    let mut begins = BTreeMap::new();
    let mut last_begun = 0;
    let mut placed: Vec<(usize, Event)> = Vec::new();
    for (at, event) in recording.events.iter().enumerate() {
        match event {
            Event::SyncBegin(number, _) => {
                begins.insert(*number, at);
            }
            Event::SyncEnd(number) => last_begun = begins[number],
            _ => {}
        }
        let place = if matches!(event, Event::Told(_)) { last_begun } else { at };
        placed.push((place, event.clone()));
    }
    // What was told goes right before the call of the sync.
    placed.sort_by_key(|(place, event)| (*place, !matches!(event, Event::Told(_))));
    placed.into_iter().map(|(_, event)| event).collect()
}

fn named(recording: &Recording, like: impl Fn(&str) -> bool) -> Vec<Inode> {
    let made = recording.events.iter().filter_map(|event| match event {
        Event::Names(names) => names.put.as_ref().map(|(path, node)| (path, *node)),
        _ => None,
    });
    made.chain(recording.names.iter().map(|(path, node)| (path, *node)))
        .filter_map(|(path, node)| match node {
            Node::File(inode) if like(&path.file_name()?.to_string_lossy()) => Some(inode),
            Node::File(_) | Node::Directory => None,
        })
        .collect()
}

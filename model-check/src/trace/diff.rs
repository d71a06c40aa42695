//! What differs between two states, each difference with the fields around it.
//!
//! States are printed by `Debug`, which every one of them has, and the printed forms are compared: nothing here knows any
//! world. Rules: none of its own.

use std::fmt::{self, Debug};

use serde::Serialize;
use similar::{Algorithm, DiffOp, capture_diff_slices};

/// One difference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Change {
    /// The fields around it, from the outside in; places in lists in brackets, as they were if something is gone.
    pub path: String,
    /// What stood there; nothing if it is new.
    pub was: Option<String>,
    /// What stands there; nothing if it is gone.
    pub is: Option<String>,
}

/// What differs.
pub fn changes<T: Debug>(before: &T, after: &T) -> Vec<Change> {
    let mut changes = Vec::new();
    compare(&Node::of(before), &Node::of(after), "", &mut changes);
    changes
}

/// A part of a printed form: a leaf, or a head with what stands in its brackets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Node {
    /// The field that it is, if it is one.
    name: Option<String>,
    /// Everything else before the bracket, and the bracket; a leaf as a whole.
    head: String,
    inner: Vec<Node>,
}

impl Node {
    fn of(value: &impl Debug) -> Self {
        let text = format!("{value:#?}");
        let mut open = vec![Self::default()];
        for line in text.lines() {
            let line = line.trim().trim_end_matches(',');
            let rest = match line.strip_prefix(['}', ')', ']']) {
                Some(rest) => {
                    close(&mut open);
                    // The key of a map was as long as that: its value follows.
                    rest.trim_start_matches(": ")
                }
                None => line,
            };
            if rest.is_empty() {
                continue;
            }
            let (name, head) = match rest.split_once(": ").filter(|(name, _)| is_name(name)) {
                Some((name, head)) => (Some(name.to_owned()), head),
                None => (None, rest),
            };
            open.push(Self { name, head: head.to_owned(), inner: Vec::new() });
            if !head.ends_with(['{', '(', '[']) {
                close(&mut open);
            }
        }
        open.pop().and_then(|mut root| root.inner.pop()).unwrap_or_default()
    }

    fn closing(&self) -> Option<char> {
        match self.head.chars().next_back()? {
            '{' => Some('}'),
            '(' => Some(')'),
            '[' => Some(']'),
            _ => None,
        }
    }

    /// On one line.
    fn line(&self) -> String {
        let Some(closing) = self.closing() else { return self.head.clone() };
        let inner: Vec<String> = self.inner.iter().map(Self::named).collect();
        let space = if closing == '}' { " " } else { "" };
        format!("{}{space}{}{space}{closing}", self.head, inner.join(", "))
    }

    fn named(&self) -> String {
        match &self.name {
            Some(name) => format!("{name}: {}", self.line()),
            None => self.line(),
        }
    }

    /// Where structures with fields stand in it, the outer ones first.
    fn places(&self) -> Vec<Vec<usize>> {
        let (mut all, mut at) = (vec![Vec::new()], 0);
        while let Some(place) = all.get(at).cloned() {
            let deeper = (0..self.at(&place).inner.len()).map(|next| [&place[..], &[next]].concat());
            all.extend(deeper);
            at += 1;
        }
        // A name before the brace: two sets without one are not the same thing.
        all.retain(|place| {
            let node = self.at(place);
            node.head.ends_with(" {") && !node.inner.is_empty()
        });
        all
    }

    fn at(&self, place: &[usize]) -> &Self {
        place.iter().fold(self, |node, next| &node.inner[*next])
    }

    /// Puts an ellipsis where something is told elsewhere.
    fn replace(&mut self, place: &[usize]) {
        let node = place.iter().fold(self, |node, next| &mut node.inner[*next]);
        (node.head, node.inner) = ("…".to_owned(), Vec::new());
    }

    fn has_fields(&self) -> bool {
        self.inner.iter().all(|inner| inner.name.is_some())
    }
}

/// The outermost structure that stands in both, somewhere: where in the one, and where in the other.
fn kept(before: &Node, after: &Node) -> Option<(Vec<usize>, Vec<usize>)> {
    let (old, new) = (before.places(), after.places());
    old.into_iter().find_map(|one| {
        let head = &before.at(&one).head;
        let other = new.iter().find(|other| after.at(other).head == *head)?;
        Some((one, other.clone()))
    })
}

fn close(open: &mut Vec<Node>) {
    let closed = open.pop();
    if let (Some(closed), Some(outer)) = (closed, open.last_mut()) {
        outer.inner.push(closed);
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn compare(before: &Node, after: &Node, path: &str, changes: &mut Vec<Change>) {
    if before == after {
        return;
    }
    let alike = before.head == after.head && before.closing().is_some();
    let both_hold = !before.inner.is_empty() && !after.inner.is_empty();
    if !alike && let Some((old, new)) = kept(before, after) {
        // One phase follows another around the same machine: what surrounds it is one difference, what is in it others.
        let line = |outer: &Node, place: &[usize]| {
            let mut outer = outer.clone();
            outer.replace(place);
            outer.line()
        };
        changes.push(Change {
            path: path.into(),
            was: Some(line(before, &old)),
            is: Some(line(after, &new)),
        });
        compare(before.at(&old), after.at(&new), &below(path, "…"), changes);
    } else if !alike || !both_hold {
        changes.push(Change { path: path.into(), was: Some(before.line()), is: Some(after.line()) });
    } else if before.has_fields() && after.has_fields() {
        fields(before, after, path, changes);
    } else if before.head.ends_with('(') && before.inner.len() == after.inner.len() {
        for (place, (old, new)) in before.inner.iter().zip(&after.inner).enumerate() {
            let path =
                if before.inner.len() == 1 { path.to_owned() } else { below(path, &place.to_string()) };
            compare(old, new, &path, changes);
        }
    } else {
        items(&before.inner, &after.inner, path, changes);
    }
}

fn fields(before: &Node, after: &Node, path: &str, changes: &mut Vec<Change>) {
    let find =
        |node: &Node, name: &Option<String>| node.inner.iter().find(|inner| inner.name == *name).cloned();
    for old in &before.inner {
        let path = below(path, old.name.as_deref().unwrap_or_default());
        match find(after, &old.name) {
            Some(new) => compare(old, &new, &path, changes),
            None => changes.push(Change { path, was: Some(old.line()), is: None }),
        }
    }
    for new in after.inner.iter().filter(|new| find(before, &new.name).is_none()) {
        let path = below(path, new.name.as_deref().unwrap_or_default());
        changes.push(Change { path, was: None, is: Some(new.line()) });
    }
}

/// Items of a list or a set: what stayed is found first, so that one that went does not change all behind it.
fn items(before: &[Node], after: &[Node], path: &str, changes: &mut Vec<Change>) {
    let lines = |nodes: &[Node]| nodes.iter().map(Node::named).collect::<Vec<_>>();
    let (old, new) = (lines(before), lines(after));
    for op in capture_diff_slices(Algorithm::Myers, &old, &new) {
        let (old, new) = (op.old_range(), op.new_range());
        if matches!(op, DiffOp::Equal { .. }) {
            continue;
        }
        let pairs = if old.len() == new.len() { old.len() } else { 0 };
        for (was, is) in old.clone().zip(new.clone()).take(pairs) {
            compare(&before[was], &after[is], &format!("{path}[{was}]"), changes);
        }
        for was in old.skip(pairs) {
            changes.push(Change { path: format!("{path}[{was}]"), was: Some(before[was].named()), is: None });
        }
        for is in new.skip(pairs) {
            changes.push(Change { path: format!("{path}[{is}]"), was: None, is: Some(after[is].named()) });
        }
    }
}

fn below(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = if self.path.is_empty() { "state" } else { self.path.as_str() };
        let long = |text: &Option<String>| text.as_ref().is_some_and(|text| text.len() > 48);
        match (&self.was, &self.is) {
            (Some(was), Some(is)) if long(&self.was) || long(&self.is) => {
                write!(f, "{path}\n  was {was}\n  is  {is}")
            }
            (Some(was), Some(is)) => write!(f, "{path}: {was} → {is}"),
            (None, Some(is)) => write!(f, "{path}: new {is}"),
            (Some(was), None) => write!(f, "{path}: gone {was}"),
            (None, None) => write!(f, "{path}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;

    #[derive(Debug)]
    #[expect(dead_code, reason = "only its printed form is looked at")]
    struct Inner {
        at: u8,
        word: Option<&'static str>,
    }

    #[derive(Debug)]
    #[expect(dead_code, reason = "only its printed form is looked at")]
    struct Outer {
        clock: u8,
        seen: Vec<Inner>,
        known: BTreeSet<u8>,
        places: BTreeMap<(u8, u8), Option<u8>>,
    }

    fn outer(clock: u8, words: &[Option<&'static str>]) -> Outer {
        let seen = words.iter().map(|word| Inner { at: 7, word: *word }).collect();
        Outer { clock, seen, known: BTreeSet::new(), places: BTreeMap::new() }
    }

    fn shown(before: &Outer, after: &Outer) -> Vec<String> {
        changes(before, after).iter().map(Change::to_string).collect()
    }

    #[test]
    fn only_what_changed_stands_in_a_difference_and_says_where_it_is() {
        assert_eq!(shown(&outer(1, &[None]), &outer(1, &[None])), Vec::<String>::new());
        let changed = shown(&outer(1, &[None, None]), &outer(2, &[None, Some("x")]));
        assert_eq!(changed, ["clock: 1 → 2", "seen[1].word: None → Some(\"x\")"]);
    }

    #[test]
    fn what_comes_and_goes_in_a_list_does_not_change_the_rest() {
        let (three, two) = (outer(1, &[None, Some("x"), Some("y")]), outer(1, &[Some("x"), Some("y")]));
        assert_eq!(shown(&three, &two), ["seen[0]: gone Inner { at: 7, word: None }"]);
        assert_eq!(shown(&two, &three), ["seen[0]: new Inner { at: 7, word: None }"]);
        assert_eq!(shown(&outer(1, &[]), &outer(1, &[None])), ["seen: [] → [Inner { at: 7, word: None }]"]);
    }

    #[derive(Debug)]
    #[expect(dead_code, reason = "only its printed form is looked at")]
    enum Phase {
        Live(Inner),
        Staged { machine: Inner, calls: Vec<u8> },
    }

    #[test]
    fn what_stays_within_another_variant_is_compared_by_itself() {
        let before = Phase::Live(Inner { at: 1, word: None });
        let after = Phase::Staged { machine: Inner { at: 2, word: None }, calls: vec![3] };
        let changed: Vec<String> = changes(&before, &after).iter().map(Change::to_string).collect();
        assert_eq!(changed, ["state: Live(…) → Staged { machine: …, calls: [3] }", "….at: 1 → 2"]);
    }

    #[test]
    fn sets_and_maps_are_compared_item_by_item() {
        let (mut before, mut after) = (outer(1, &[]), outer(1, &[]));
        before.known = BTreeSet::from([1, 2]);
        after.known = BTreeSet::from([2, 3]);
        before.places = BTreeMap::from([((1, 1), None), ((1, 2), Some(4))]);
        after.places = BTreeMap::from([((1, 1), None), ((1, 2), Some(5))]);
        let changed = shown(&before, &after);
        assert_eq!(changed, ["known[0]: gone 1", "known[1]: new 3", "places[3]: 4 → 5"]);
    }
}

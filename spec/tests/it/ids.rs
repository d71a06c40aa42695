//! Rule ids in texts: each one that is written anywhere must exist, and each family counts from 1 without gaps.
//!
//! Not here: ids in claims (`ledger`). Comments count here: a comment that names a rule which is gone misleads.

use std::collections::{BTreeMap, BTreeSet};

use crate::tree::Tree;

/// Problems of the numbering itself: an id used twice, a number left out.
pub fn numbering(ids: &[&str]) -> Vec<String> {
    let mut families: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
    for id in ids {
        let (family, number) = id.split_once('-').unwrap();
        families.entry(family).or_default().push(number.parse().unwrap());
    }
    let mut problems = Vec::new();
    for (family, mut numbers) in families {
        numbers.sort_unstable();
        for pair in numbers.windows(2).filter(|pair| pair[0] == pair[1]) {
            problems.push(format!("{family}-{} is used twice", pair[0]));
        }
        numbers.dedup();
        let last = numbers[numbers.len() - 1];
        let missing = (1..=last).filter(|number| !numbers.contains(number));
        problems.extend(missing.map(|number| format!("{family}-{number} is left out")));
    }
    problems
}

/// Ids in any text that look like a rule of a known family and are none.
pub fn unknown(tree: &Tree, ids: &[&str]) -> Vec<String> {
    let families: BTreeSet<&str> = ids.iter().filter_map(|id| id.split('-').next()).collect();
    let mut problems = Vec::new();
    for (path, text) in tree {
        for (number, line) in text.lines().enumerate() {
            let strange =
                shaped(line).into_iter().filter(|id| families.contains(&id[..3]) && !ids.contains(id));
            problems.extend(strange.map(|id| format!("{path}:{}: there is no rule {id}", number + 1)));
        }
    }
    problems
}

/// Whatever in the line has the shape of an id: three capitals, a hyphen, digits, nothing attached.
fn shaped(line: &str) -> Vec<&str> {
    let attached = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    let bytes = line.as_bytes();
    let mut found = Vec::new();
    for (hyphen, _) in line.match_indices('-').filter(|(at, _)| *at >= 3) {
        let start = hyphen - 3;
        let digits = bytes[hyphen + 1..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let end = hyphen + 1 + digits;
        let free = (start == 0 || !attached(bytes[start - 1]))
            && bytes.get(end).is_none_or(|byte| !byte.is_ascii_alphanumeric());
        if digits > 0 && free && bytes[start..hyphen].iter().all(u8::is_ascii_uppercase) {
            found.push(&line[start..end]);
        }
    }
    found
}

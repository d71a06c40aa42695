//! What makes a list well formed: ids and names in their one form, each once, and no empty text.
//!
//! Not here: reading and writing. The tests of this crate compile this file too, so it knows only `std`.

use std::collections::BTreeSet;

/// The ids of `rules.toml`: three capitals, a hyphen, a number from 1, each once.
pub fn ids<'a>(all: impl Iterator<Item = &'a str>) -> Result<BTreeSet<&'a str>, String> {
    let mut ids = BTreeSet::new();
    for id in all {
        let well_formed = id.split_once('-').is_some_and(|(family, number)| {
            family.len() == 3
                && family.bytes().all(|b| b.is_ascii_uppercase())
                && !number.starts_with('0')
                && !number.is_empty()
                && number.bytes().all(|b| b.is_ascii_digit())
        });
        if !well_formed {
            return Err(format!("rules.toml: `{id}` is not an id: three capitals, `-`, a number from 1"));
        }
        if !ids.insert(id) {
            return Err(format!("rules.toml: `{id}` stands there twice; a number is never used again"));
        }
    }
    Ok(ids)
}

/// The names of `file`: snake_case, each once, each of a rule that exists.
pub fn names<'a>(
    file: &str,
    ids: &BTreeSet<&str>,
    all: impl Iterator<Item = (&'a str, Option<&'a str>)>,
) -> Result<(), String> {
    let mut names = BTreeSet::new();
    for (name, rule) in all {
        let snake = name.starts_with(|c: char| c.is_ascii_lowercase())
            && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
            && !name.ends_with('_')
            && !name.contains("__");
        if !snake {
            return Err(format!("{file}: `{name}` is not snake_case"));
        }
        if !names.insert(name) {
            return Err(format!("{file}: `{name}` stands there twice"));
        }
        if let Some(rule) = rule.filter(|rule| !ids.contains(rule)) {
            return Err(format!("{file}: `{name}` names the rule `{rule}`, which is not in rules.toml"));
        }
    }
    Ok(())
}

/// Every text of `name` says something and has no space at an end.
pub fn texts(file: &str, name: &str, texts: &[&str]) -> Result<(), String> {
    let said = texts.iter().all(|text| !text.is_empty() && text.trim() == *text);
    if said { Ok(()) } else { Err(format!("{file}: a text of `{name}` is empty or has space at an end")) }
}

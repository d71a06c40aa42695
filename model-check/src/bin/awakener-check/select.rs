//! Which worlds, scopes and laws somebody means.
//!
//! Rules: CON-1.

use awakener_model_check::lookup::{Unknown, find};
use awakener_model_check::world::Group;
use awakener_model_check::worlds::{Listed, ScopeLine};

use crate::failure::Failure;

/// Worlds with the scopes of each that are meant.
pub type Chosen<'a> = Vec<(&'a dyn Listed, Vec<ScopeLine>)>;

const GROUPS: [(&str, Group); 4] =
    [("tiny", Group::Tiny), ("ci", Group::Ci), ("deep", Group::Deep), ("cyclic", Group::Cyclic)];

/// The world of this name.
pub fn world<'a>(worlds: &'a [Box<dyn Listed>], name: &str) -> Result<&'a dyn Listed, Unknown> {
    let names: Vec<&str> = worlds.iter().map(|world| world.name()).collect();
    Ok(worlds[find("world", name, &names)?].as_ref())
}

/// Worlds of which all scopes of `tiny` and `ci` are among those chosen.
pub fn whole<'a>(chosen: &Chosen<'a>) -> Vec<&'a str> {
    let gates = |line: &ScopeLine| matches!(line.group, Group::Tiny | Group::Ci);
    let all = chosen.iter().filter(|(world, scopes)| {
        world.scopes().iter().filter(|line| gates(line)).all(|line| scopes.contains(line))
    });
    all.map(|(world, _)| world.name()).collect()
}

/// The worlds and scopes that are meant.
pub fn scopes<'a>(
    worlds: &'a [Box<dyn Listed>],
    name: Option<&str>,
    scope: &str,
) -> Result<Chosen<'a>, Failure> {
    let among: Vec<&dyn Listed> = match name {
        Some(name) => vec![world(worlds, name)?],
        None => worlds.iter().map(AsRef::as_ref).collect(),
    };
    let group = GROUPS.iter().find(|(name, _)| *name == scope).map(|(_, group)| *group);
    let meant = |line: &ScopeLine| match group {
        // What is searched in every submission has what is searched in every test run.
        Some(Group::Ci) => matches!(line.group, Group::Tiny | Group::Ci),
        Some(group) => line.group == group,
        None => line.name == scope,
    };
    let chosen =
        among.iter().map(|world| (*world, world.scopes().into_iter().filter(meant).collect::<Vec<_>>()));
    let chosen: Chosen<'a> = chosen.filter(|(_, scopes)| !scopes.is_empty()).collect();
    if chosen.is_empty() {
        let mut known: Vec<&str> = GROUPS.iter().map(|(name, _)| *name).collect();
        known.extend(among.iter().flat_map(|world| world.scopes()).map(|line| line.name));
        return Err(match group {
            Some(_) => {
                let whose = name.unwrap_or("any world");
                Failure::usage(format!("there is no scope of {whose} in the group `{scope}`"))
            }
            None => Unknown::new("scope", scope, &known).into(),
        });
    }
    Ok(chosen)
}

/// The laws that are meant, by their whole names: one, or all of a rule.
pub fn laws(chosen: &Chosen<'_>, name: &str) -> Result<Vec<String>, Unknown> {
    let all: Vec<_> = chosen.iter().flat_map(|(world, _)| world.laws()).collect();
    let meant = |law: &&awakener_model_check::worlds::LawLine| {
        law.name == name || law.rule.eq_ignore_ascii_case(name)
    };
    let names: Vec<String> = all.iter().filter(meant).map(|law| law.name.to_owned()).collect();
    if names.is_empty() {
        let mut known: Vec<&str> = all.iter().map(|law| law.name).collect();
        known.dedup();
        return Err(Unknown::new("law", name, &known));
    }
    Ok(names)
}

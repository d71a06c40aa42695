//! A name that somebody wrote, looked up among the names that there are.
//!
//! Rules: CON-1.

use std::fmt;

use serde::Serialize;

/// There is no such name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unknown {
    /// What was looked for: `world`, `scope`, `law`.
    pub what: &'static str,
    /// What was written.
    pub name: String,
    /// The name that was perhaps meant.
    pub nearest: Option<String>,
    /// Every name that there is.
    pub known: Vec<String>,
}

impl fmt::Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there is no {} `{}`", self.what, self.name)
    }
}

/// The place of a name.
///
/// # Errors
/// It is not among them.
pub fn find(what: &'static str, name: &str, known: &[&str]) -> Result<usize, Unknown> {
    known.iter().position(|one| *one == name).ok_or_else(|| Unknown::new(what, name, known))
}

impl Unknown {
    /// A name that is not among those known.
    pub fn new(what: &'static str, name: &str, known: &[&str]) -> Self {
        Self {
            what,
            name: name.to_owned(),
            nearest: nearest(name, known),
            known: known.iter().map(|one| (*one).to_owned()).collect(),
        }
    }

    /// What to do now: the nearest name, and all of them.
    pub fn next(&self) -> String {
        let all = if self.known.iter().any(|name| name.contains(' ')) {
            let lines: Vec<String> = self.known.iter().map(|name| format!("\n  {name}")).collect();
            format!("There are:{}", lines.concat())
        } else {
            format!("There are: {}.", self.known.join(", "))
        };
        match &self.nearest {
            Some(near) => format!("Did you mean `{near}`? {all}"),
            None => all,
        }
    }
}

/// The known name closest to what was written, if any is close enough to be meant.
fn nearest(written: &str, known: &[&str]) -> Option<String> {
    let written = written.to_lowercase();
    let distance = |name: &&&str| strsim::damerau_levenshtein(&written, &name.to_lowercase());
    let close = |name: &&&str| distance(name) <= (name.len().max(written.len()) / 3).max(1);
    let begins = |name: &&&str| written.len() >= 3 && name.to_lowercase().contains(&written);
    let near = known.iter().filter(close).min_by_key(distance).or_else(|| known.iter().find(begins));
    near.map(|name| (*name).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn con_1_a_wrong_name_is_told_the_right_one_and_all_of_them() {
        let known = ["mailbox", "waker", "station"];
        assert_eq!(find("world", "waker", &known), Ok(1));
        let unknown = find("world", "mailbx", &known).unwrap_err();
        assert_eq!(unknown.to_string(), "there is no world `mailbx`");
        assert_eq!(unknown.next(), "Did you mean `mailbox`? There are: mailbox, waker, station.");
        assert_eq!(find("world", "x", &known).unwrap_err().nearest, None);
    }
}

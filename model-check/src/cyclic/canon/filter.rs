//! Reads `Debug` text, finds the numbers that a rule names, and makes pieces of the rest.
//!
//! Not here: what becomes of the numbers in the end ([`Canon::finish`]).

use std::collections::BTreeMap;
use std::fmt::{self, Write};

use super::{Canon, How, NEVER, Piece, Rule};

/// Reads `Debug` text as words, numbers and marks, and knows in which type and after which field it is.
pub(super) struct Filter<'a> {
    canon: &'a mut Canon,
    rules: &'a [Rule],
    /// Types whose braces are open, each with the field that is being read.
    open: Vec<(String, String)>,
    /// The word that is being read.
    word: String,
    /// The last whole word, if nothing came after it.
    last: String,
    /// The first halves that were read last.
    majors: BTreeMap<u8, u64>,
    /// Where text begins that is not a piece yet.
    from: usize,
}

impl<'a> Filter<'a> {
    pub(super) fn new(canon: &'a mut Canon, rules: &'a [Rule]) -> Self {
        let from = canon.text.len();
        let (open, word, last) = (Vec::new(), String::new(), String::new());
        Self { canon, rules, open, word, last, majors: BTreeMap::new(), from }
    }

    pub(super) fn close(&mut self) {
        self.end_word();
        self.cut();
        self.canon.text.push('\n');
        let end = self.canon.text.len();
        self.canon.pieces.push(Piece::Text(end - 1, end));
    }

    /// Makes a piece of the text so far.
    fn cut(&mut self) {
        let end = self.canon.text.len();
        if end > self.from {
            self.canon.pieces.push(Piece::Text(self.from, end));
        }
        self.from = end;
    }

    fn how(&self) -> Option<How> {
        let (kind, field) =
            self.open.last().map_or(("", ""), |(kind, field)| (kind.as_str(), field.as_str()));
        // `Fence(3)` within `Lease { fence: Fence(3) }`: the type is the innermost one with a name; the field is of
        // the innermost type that has fields.
        let outer = self.open.iter().rev().find(|(_, field)| !field.is_empty());
        let fits = |rule: &&Rule| match (rule.0, rule.1) {
            (of, "") => of == kind,
            (of, name) => {
                (name == field && of == kind)
                    || outer.is_some_and(|(kind, field)| name == field && (of.is_empty() || of == kind))
            }
        };
        self.rules.iter().find(fits).map(|rule| rule.2)
    }

    fn end_word(&mut self) {
        if self.word.is_empty() {
            return;
        }
        let word = std::mem::take(&mut self.word);
        match number(&word).and_then(|value| Some((self.how()?, value))) {
            Some((how, value)) => self.rewrite(how, value, &word),
            None => self.canon.text.push_str(&word),
        }
        self.last = word;
    }

    fn rewrite(&mut self, how: How, value: u64, word: &str) {
        let now = self.canon.now;
        match how {
            How::Since(back) => {
                let text = match (value.checked_sub(now), now.saturating_sub(value)) {
                    (Some(ahead), _) if ahead > NEVER / 2 => "never".to_owned(),
                    (Some(ahead), _) => format!("+{ahead}"),
                    // What is over is over, if nobody asks since when.
                    (None, ago) => format!("{}{}", if back == 0 { '+' } else { '-' }, ago.min(back)),
                };
                self.canon.text.push_str(&text);
            }
            How::Cap(most) => {
                let text = if value > most { format!("{most}") } else { word.to_owned() };
                self.canon.text.push_str(&text);
            }
            How::Nothing => self.canon.text.push('_'),
            How::Rank(sort) => self.number(sort, value, word),
            How::Major(sort) => {
                self.majors.insert(sort, value);
                self.number(sort, value, word);
            }
            How::Minor(sort) => {
                let major = self.majors.get(&sort).copied().unwrap_or_default();
                self.pair(sort, major, value, word);
            }
            How::Token(sort) => {
                self.canon.numbers.entry(sort).or_default().insert(value >> 32);
                self.pair(sort, value >> 32, value & 0xffff_ffff, word);
            }
        }
    }

    /// The number stays in the text, for [`Canon::mentions`], but not in the form.
    fn hide(&mut self, word: &str) {
        self.cut();
        self.canon.text.push_str(word);
        self.from = self.canon.text.len();
    }

    fn number(&mut self, sort: u8, value: u64, word: &str) {
        self.hide(word);
        self.canon.numbers.entry(sort).or_default().insert(value);
        self.canon.pieces.push(Piece::Number(sort, value));
    }

    fn pair(&mut self, sort: u8, major: u64, minor: u64, word: &str) {
        self.hide(word);
        self.canon.pairs.entry((sort, major)).or_default().insert(minor);
        self.canon.pieces.push(Piece::Pair(sort, major, minor));
    }
}

impl Write for Filter<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for c in text.chars() {
            if c.is_alphanumeric() || matches!(c, '_' | '-') {
                self.word.push(c);
                continue;
            }
            self.end_word();
            match c {
                '(' | '{' | '[' => {
                    let kind = std::mem::take(&mut self.last);
                    // What wraps without a name of its own (`Some(`, a list, a map) does not hide where we are.
                    let named = !matches!(kind.as_str(), "" | "Some" | "Ok" | "Err");
                    let within = self.open.last().cloned().unwrap_or_default();
                    self.open.push(if named { (kind, String::new()) } else { within });
                }
                ')' | '}' | ']' => {
                    self.open.pop();
                    self.last.clear();
                }
                ':' => {
                    // What stands before a colon in a map may be a number.
                    if let Some((_, field)) = self.open.last_mut()
                        && self.last.starts_with(|c: char| c.is_alphabetic())
                    {
                        field.clone_from(&self.last);
                    }
                    self.last.clear();
                }
                // A space may stand between a type and its brace.
                ' ' => {}
                _ => self.last.clear(),
            }
            self.canon.text.push(c);
        }
        Ok(())
    }
}

/// A number as `Debug` writes it, or the end of an id, which models count: a UUID, or a nonce in base64.
fn number(word: &str) -> Option<u64> {
    match word.len() {
        36 if word.as_bytes()[8] == b'-' => u64::from_str_radix(&word[24..], 16).ok(),
        22 => word.bytes().try_fold(0_u64, |sum, byte| Some(sum << 6 | sextet(byte)?)).map(|sum| sum >> 4),
        _ => word.parse().ok(),
    }
}

/// One digit of base64url. The last one of 22 holds two bits of the value above four spare ones.
fn sextet(byte: u8) -> Option<u64> {
    let value = match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'-' => 62,
        b'_' => 63,
        _ => return None,
    };
    Some(u64::from(value))
}

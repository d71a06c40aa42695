//! The canonical form of a state: what is left of it when instants are seen from now and numbers that only grow are
//! seen in their order.
//!
//! The live part of a machine is private, and the kernel has no code for whoever checks it. What a machine does show
//! is its `Debug` text, every field of it. So the form is made of that text: it streams through a filter that knows
//! where it is (type and field), keeps everything but the numbers that a [`Rule`] names, and rewrites those once the
//! whole state was seen. Numbers of one sort keep their order and their equality, nothing else: a machine compares
//! fences, tokens and tickets, and never counts with them but for taking the next one.
//!
//! Whether that is so is not believed here: [`super::faithful`] checks it against the concrete world.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Debug, Write};

/// How a number is rewritten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// An instant: seen from now, and no further back than this many milliseconds.
    Since(u64),
    /// A number of this sort: its place among all of its sort in the state. Zero means "none yet" and stays.
    Rank(u8),
    /// The first half of a pair, such as the boot of a ticket: as [`How::Rank`].
    Major(u8),
    /// The second half: its place among all of its sort that stand beside the same first half. The sort is that of the
    /// half before it.
    Minor(u8),
    /// A token: its epoch (sort) is a first half, its counter the second.
    Token(u8),
    /// A count that makes no difference from here on.
    Cap(u64),
    /// It is read by nobody, or follows from the rest.
    Nothing,
}

/// Which numbers are rewritten, and how: in this type (empty = anywhere), after this field (empty = the type's own
/// value, such as `Fence(3)`). The first that fits counts.
pub type Rule = (&'static str, &'static str, How);

/// An instant this far ahead is never reached: the limit that it belongs to is as good as switched off.
pub const NEVER: u64 = 1 << 40;

enum Piece {
    /// Text from here to there.
    Text(usize, usize),
    Number(u8, u64),
    Pair(u8, u64, u64),
}

/// Makes one form.
pub struct Canon {
    now: u64,
    text: String,
    pieces: Vec<Piece>,
    numbers: BTreeMap<u8, BTreeSet<u64>>,
    pairs: BTreeMap<(u8, u64), BTreeSet<u64>>,
}

impl Canon {
    /// A form as seen from `now`.
    pub fn new(now: u64) -> Self {
        let (pieces, numbers, pairs) = (Vec::new(), BTreeMap::new(), BTreeMap::new());
        Self { now, text: String::with_capacity(4096), pieces, numbers, pairs }
    }

    /// Adds a part of the state.
    pub fn part(&mut self, rules: &[Rule], value: &dyn Debug) {
        let mut filter = Filter::new(self, rules);
        write!(filter, "{value:?}").expect("a filter takes everything");
        filter.close();
    }

    /// Whether this text occurs in what was added so far, before any number was rewritten there.
    pub fn mentions(&self, text: &str) -> bool {
        self.text.contains(text)
    }

    /// The form.
    pub fn finish(self) -> String {
        let rank = |set: Option<&BTreeSet<u64>>, value: u64| match value {
            0 => 0,
            _ => set.map_or(0, |set| set.range(1..=value).count()),
        };
        let mut out = String::with_capacity(self.text.len());
        for piece in &self.pieces {
            match piece {
                Piece::Text(from, to) => out.push_str(&self.text[*from..*to]),
                Piece::Number(sort, value) => {
                    let rank = rank(self.numbers.get(sort), *value);
                    write!(out, "#{rank}").expect("a string takes everything");
                }
                Piece::Pair(sort, major, minor) => {
                    let first = rank(self.numbers.get(sort), *major);
                    let second = rank(self.pairs.get(&(*sort, *major)), *minor);
                    write!(out, "#{first}.{second}").expect("a string takes everything");
                }
            }
        }
        out
    }
}

impl Debug for Canon {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Canon").field("now", &self.now).finish_non_exhaustive()
    }
}

/// Reads `Debug` text as words, numbers and marks, and knows in which type and after which field it is.
struct Filter<'a> {
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
    fn new(canon: &'a mut Canon, rules: &'a [Rule]) -> Self {
        let from = canon.text.len();
        let (open, word, last) = (Vec::new(), String::new(), String::new());
        Self { canon, rules, open, word, last, majors: BTreeMap::new(), from }
    }

    fn close(&mut self) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use awakener_kernel::ids::{Fence, Nonce, Token, WakeId};
    use awakener_kernel::time::{Mono, Wall};
    use std::collections::BTreeMap;

    #[derive(Debug)]
    struct Ticket {
        #[expect(dead_code, reason = "its text is read")]
        boot: u64,
        #[expect(dead_code, reason = "its text is read")]
        number: u64,
    }

    #[derive(Debug)]
    struct Lease {
        #[expect(dead_code, reason = "its text is read")]
        fence: Option<Fence>,
        #[expect(dead_code, reason = "its text is read")]
        at: Wall,
        #[expect(dead_code, reason = "its text is read")]
        times: BTreeMap<u8, Mono>,
    }

    const RULES: &[Rule] = &[
        ("Lease", "at", How::Since(3)),
        ("Ticket", "boot", How::Major(1)),
        ("Ticket", "number", How::Minor(1)),
        ("Fence", "", How::Rank(2)),
        ("WakeId", "", How::Rank(3)),
        ("Nonce", "", How::Rank(3)),
        ("Token", "", How::Token(4)),
        ("Mono", "", How::Since(0)),
    ];

    fn form(now: u64, value: &dyn Debug) -> String {
        let mut canon = Canon::new(now);
        canon.part(RULES, value);
        canon.finish().trim_end().to_owned()
    }

    #[test]
    fn fml_3_instants_are_seen_from_now_and_no_further_back_than_matters() {
        let lease = |now: u64, at| {
            let times = BTreeMap::from([
                (7, Mono(now + 2)),
                (8, Mono(now.saturating_sub(9))),
                (9, Mono(NEVER + now)),
            ]);
            Lease { fence: Some(Fence(40 + now)), at: Wall(at), times }
        };
        let expected = "Lease { fence: Some(Fence(#1)), at: Wall(-2), times: {7: Mono(+2), 8: Mono(+0), 9: Mono(never)} }";
        assert_eq!(form(20, &lease(20, 18)), expected);
        assert_eq!(form(50, &lease(50, 48)), expected);
        assert_ne!(form(50, &lease(50, 49)), expected);
        assert_eq!(form(50, &lease(50, 2)), form(50, &lease(50, 47)));
    }

    #[test]
    fn fml_3_numbers_that_grow_keep_order_and_equality_and_nothing_else() {
        let pair = |a, b| form(0, &(Fence(a), Fence(b), Fence(0)));
        assert_eq!(pair(4, 9), pair(100, 300));
        assert_ne!(pair(4, 9), pair(9, 4));
        assert_ne!(pair(4, 9), pair(4, 4));
        assert_eq!(pair(4, 4), "(Fence(#1), Fence(#1), Fence(#0))");
        let tickets = |list: [(u64, u64); 3]| form(0, &list.map(|(boot, number)| Ticket { boot, number }));
        assert_eq!(tickets([(1, 5), (2, 3), (2, 4)]), tickets([(3, 1), (9, 7), (9, 8)]));
        assert_ne!(tickets([(1, 5), (2, 3), (2, 4)]), tickets([(1, 5), (2, 4), (2, 3)]));
        let token = |epoch, counter| Token::new(epoch, counter).expect("small");
        assert_eq!(form(0, &[token(3, 9), token(4, 2)]), form(0, &[token(1, 1), token(2, 1)]));
        assert_ne!(form(0, &[token(3, 9), token(4, 2)]), form(0, &[token(3, 2), token(3, 9)]));
    }

    #[test]
    fn fml_3_ids_are_read_as_numbers() {
        let ids = |n: u64| {
            let mut nonce = [0; 16];
            nonce[8..].copy_from_slice(&n.to_be_bytes());
            (WakeId::from_u128(u128::from(n)), Nonce(nonce))
        };
        for n in [1, 255, 70_000, u64::from(u32::MAX)] {
            assert_eq!(form(0, &ids(n)), "(WakeId(#1), Nonce(#1))", "{n}");
        }
        assert_eq!(form(0, &(ids(300), ids(7))), "((WakeId(#2), Nonce(#2)), (WakeId(#1), Nonce(#1)))");
    }

    #[test]
    fn fml_3_what_no_rule_names_stays() {
        assert_eq!(form(5, &(17_u8, "text", Some(-3))), "(17, \"text\", Some(-3))");
        let mut canon = Canon::new(0);
        canon.part(RULES, &WakeId::from_u128(18));
        assert!(canon.mentions(&format!("{:?}", WakeId::from_u128(18))));
        assert!(!canon.mentions(&format!("{:?}", WakeId::from_u128(19))));
    }
}

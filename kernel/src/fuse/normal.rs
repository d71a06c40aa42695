//! The normal form by which the fuse tells an echo from something new (FUS-1).
//!
//! Lower case; white space collapsed to single spaces, none at the ends; digits gone, and with them the marks that
//! hold a number, a date or a time together (`2026-02-03T04:05:06.7Z`, `+02:00`, `1,000`, `3.14`). Not a hash of
//! record: the content hash of a message is another thing (ADM-7).

use alloc::string::String;

use crate::ids::ContentHash;

/// The normal form of a text. Applying it twice gives the same as once.
pub fn normal_form(text: &str) -> String {
    let mut out = String::new();
    let mut gap = false;
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let after = after_number(rest);
        if let Some(after) = after {
            rest = after;
            continue;
        }
        rest = tail(rest, c);
        if c.is_whitespace() {
            gap = true;
            continue;
        }
        if gap && !out.is_empty() {
            out.push(' ');
        }
        gap = false;
        out.extend(c.to_lowercase());
    }
    out
}

/// SHA-256 of the normal form.
pub fn normal_hash(text: &str) -> ContentHash {
    ContentHash::of(normal_form(text).as_bytes())
}

fn tail(text: &str, first: char) -> &str {
    text.get(first.len_utf8()..).unwrap_or_default()
}

/// What comes after the number, date or time that `text` starts with, if it starts with one.
fn after_number(text: &str) -> Option<&str> {
    let first = text.chars().next()?;
    let sign = matches!(first, '+' | '-');
    let mut rest = if sign { tail(text, first) } else { text };
    if !starts_with_digit(rest) {
        return None;
    }
    loop {
        rest = rest.trim_start_matches(char::is_numeric);
        let Some(mark) = rest.chars().next() else { return Some(rest) };
        let next = tail(rest, mark);
        let joins = matches!(mark, ':' | '.' | ',' | '-' | '+' | '/' | 'T' | 't') && starts_with_digit(next);
        let zulu = matches!(mark, 'Z' | 'z') && !next.starts_with(char::is_alphanumeric);
        if zulu {
            return Some(next);
        }
        if !joins {
            return Some(rest);
        }
        rest = next;
    }
}

fn starts_with_digit(text: &str) -> bool {
    text.starts_with(char::is_numeric)
}

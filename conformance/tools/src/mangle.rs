//! Spoils documents: the bytes that a door meets when somebody means harm or a disk fails.
//!
//! Only how to spoil one, for JSON and TOML alike; which edits are made is chosen by the test (proptest makes triples of
//! numbers), and what must hold afterwards is said by the test of each door.

/// One edit: what, where (modulo the length), and with what.
pub type Edit = (u8, u16, u8);

/// Pieces that readers differ about, or that grow.
const PIECES: &[&str] = &[
    " ",
    "\n",
    "\t",
    "\"",
    "\\",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "=",
    "#",
    "\0",
    "\u{feff}",
    "\u{fffd}",
    "\\ud800",
    "\\u0061",
    "null",
    "true",
    "-0",
    "1.0",
    "1e999",
    "9007199254740992",
    "18446744073709551616",
    "-1",
    "1_0",
    "inf",
];

/// A piece that is nested this deep would exhaust the stack of a careless reader.
const DEEP: usize = 2_000;

/// The document after these edits, one after the other.
pub fn mangle(document: &[u8], edits: &[Edit]) -> Vec<u8> {
    let mut bytes = document.to_vec();
    for (what, place, with) in edits {
        let place = usize::from(*place) % (bytes.len() + 1);
        let with = usize::from(*with);
        match what % 10 {
            0 => flip(&mut bytes, place, with),
            1 => bytes.truncate(place),
            2 => insert(&mut bytes, place, &[u8::try_from(with % 256).unwrap_or_default()]),
            3 | 4 => insert(&mut bytes, place, piece(with)),
            5 => drop(bytes.drain(place..(place + 1 + with % 8).min(bytes.len()).max(place))),
            6 => copy(&mut bytes, place, with),
            7 => double(&mut bytes, place, with),
            8 => insert(&mut bytes, place, ["[", "{\"a\":", "[[a."][with % 3].repeat(DEEP).as_bytes()),
            _ => blank(&mut bytes, place),
        }
    }
    bytes
}

fn piece(number: usize) -> &'static [u8] {
    PIECES.get(number % PIECES.len()).map_or(b"", |piece| piece.as_bytes())
}

fn insert(bytes: &mut Vec<u8>, place: usize, new: &[u8]) {
    bytes.splice(place..place, new.iter().copied());
}

fn flip(bytes: &mut [u8], place: usize, bit: usize) {
    if let Some(byte) = bytes.get_mut(place) {
        *byte ^= 1 << (bit % 8);
    }
}

/// Something from one place stands in another as well.
fn copy(bytes: &mut Vec<u8>, place: usize, length: usize) {
    let part = bytes.get(place..(place + length).min(bytes.len())).unwrap_or_default().to_vec();
    let to = (place * 7 + length) % (bytes.len() + 1);
    insert(bytes, to, &part);
}

/// A key that is there already, once more, in front of another member or in another object.
fn double(bytes: &mut Vec<u8>, place: usize, number: usize) {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let keys: Vec<&str> =
        text.split("\":").filter_map(|part| part.rsplit_once('"')).map(|(_, key)| key).collect();
    let opens: Vec<usize> = text.match_indices('{').map(|(at, _)| at + 1).collect();
    let (Some(key), Some(at)) = (pick(&keys, number), pick(&opens, place)) else { return };
    if *at <= bytes.len() {
        insert(bytes, *at, format!("\"{key}\":{},", ["1", "\"x\"", "null", "{}"][number % 4]).as_bytes());
    }
}

/// White space where JSON allows it: the one edit that changes no meaning.
fn blank(bytes: &mut Vec<u8>, place: usize) {
    let gaps: Vec<usize> = (0..bytes.len()).filter(|at| bytes.get(*at) == Some(&b'{')).collect();
    if let Some(at) = pick(&gaps, place) {
        insert(bytes, at + 1, b" \n");
    }
}

fn pick<T>(list: &[T], number: usize) -> Option<&T> {
    list.get(number.checked_rem(list.len())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_edit_changes_something_and_none_fails() {
        let document = br#"{"a":{"b":1},"c":"d"}"#;
        assert_eq!(mangle(document, &[]), document);
        for what in 0..10 {
            assert_ne!(mangle(document, &[(what, 8, 1)]), document, "{what}");
            for place in 0..100 {
                mangle(document, &[(what, place, 255), (what, u16::MAX, 0), (1, 0, 0), (what, place, 3)]);
            }
        }
        assert_eq!(mangle(document, &[(7, 0, 1)]), br#"{"b":"x","a":{"b":1},"c":"d"}"#);
    }
}

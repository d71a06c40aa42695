//! AUD-1, AUD-3, AUD-5: the chain, its breaks, and what a kept checkpoint shows.

use awakener_kernel::audit::{
    AuditEntry, Break, BreakKind, Comparison, Correlation, Head, Identities, MACHINE, Reanchored, Walk, hash,
    verify, verify_from,
};
use awakener_kernel::ids::{ContentHash, KeyId, OperatorName, PlaneName, Principal, Station, Target};
use awakener_kernel::time::{Mono, Now, Wall};
use awakener_kernel::wire::{Checkpoint, SigningKey, public_key};
use awakener_spec::Reason;
use awakener_tools::enforces;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

fn entry(number: u64) -> AuditEntry {
    AuditEntry {
        v: 0,
        position: 0,
        prev: ContentHash([0; 32]),
        machine: "mailbox".into(),
        identities: Identities { target: Some(Target::parse("mira").unwrap()), ..Identities::default() },
        now: Now { wall: Wall(number), mono: Mono(number) },
        config: ContentHash([7; 32]),
        input: Some(json!({"z": number, "a": "\u{e9}\u{20ac}\n"})),
        facts: None,
        outcome: Some(json!("absorbed")),
        records: vec![json!({"cursor_advanced": {"to": number}})],
        correlation: Correlation::default(),
        trace: None,
    }
}

fn chain(records: u64) -> Vec<Vec<u8>> {
    let mut head = Head::EMPTY;
    (1..=records)
        .map(|number| {
            let stored = entry(number).behind(&head).stored().unwrap();
            head = Head { size: number, hash: hash(&stored) };
            stored
        })
        .collect()
}

fn walk(chain: &[Vec<u8>]) -> Result<Head, Break> {
    verify(chain.iter().map(Vec::as_slice))
}

fn broken(position: u64, kind: BreakKind) -> Result<Head, Break> {
    Err(Break { position, kind })
}

/// Whether one type turns into the other: the inherent constant is found first, but only where its bound holds.
struct Turns<A, B>(std::marker::PhantomData<(A, B)>);

trait Never {
    const INTO: bool = false;
}

impl<T> Never for T {}

impl<A: Into<B>, B> Turns<A, B> {
    const INTO: bool = true;
}

macro_rules! turns {
    ($($from:ty => [$($to:ty),+]),+ $(,)?) => {
        vec![$($((stringify!($from), stringify!($to), Turns::<$from, $to>::INTO)),+),+]
    };
}

enforces! {
    [Idn1]
    fn idn_1_five_identities_five_types_five_members(_seen) {
        let turned = turns! {
            Principal => [Target, KeyId, Station, OperatorName],
            Target => [Principal, KeyId, Station, OperatorName],
            KeyId => [Principal, Target, Station, OperatorName],
            Station => [Principal, Target, KeyId, OperatorName],
            OperatorName => [Principal, Target, KeyId, Station],
        };
        let turned: Vec<_> = turned.into_iter().filter(|(_, _, into)| *into).collect();
        assert!(turned.is_empty(), "{turned:?}");
        const { assert!(Turns::<Principal, Principal>::INTO, "control") };

        let identities = Identities {
            principal: Some(Principal::parse("mira").unwrap()),
            target: Some(Target::parse("otto").unwrap()),
            router: Some(KeyId([1; 32])),
            station: Some(Station::parse("desk").unwrap()),
            daemon: None,
            operator: Some(OperatorName::parse("root").unwrap()),
        };
        let stored = AuditEntry { identities: identities.clone(), ..entry(1) }.behind(&Head::EMPTY).stored().unwrap();
        let stored: Value = serde_json::from_slice(&stored).unwrap();
        let members = json!({
            "principal": "mira", "target": "otto", "router": KeyId([1; 32]), "station": "desk", "operator": "root",
        });
        assert_eq!(stored["identities"], members);
        assert_eq!(serde_json::from_value::<Identities>(members).unwrap(), identities);
        // What does not apply is absent, and never in another's place.
        let none = AuditEntry { identities: Identities::default(), ..entry(1) }.behind(&Head::EMPTY).stored().unwrap();
        assert_eq!(serde_json::from_slice::<Value>(&none).unwrap()["identities"], json!({}));
    }
}

enforces! {
    [Aud1]
    fn aud_1_a_record_is_hashed_under_its_domain_with_the_hash_before_it_inside(_seen) {
        let chain = chain(2);
        let first: Value = serde_json::from_slice(&chain[0]).unwrap();
        assert_eq!(first["prev"], format!("sha256:{}", "0".repeat(64)));
        assert_eq!(first["position"], 1);
        let mut hasher = Sha256::new();
        hasher.update(b"awakener-audit-v1\n");
        hasher.update(&chain[0]);
        let by_hand = ContentHash(hasher.finalize().into());
        assert_eq!(hash(&chain[0]), by_hand);
        let second: Value = serde_json::from_slice(&chain[1]).unwrap();
        assert_eq!(second["prev"], by_hand.to_string());
        assert_eq!(walk(&chain), Ok(Head { size: 2, hash: hash(&chain[1]) }));
        assert_eq!(walk(&[]), Ok(Head::EMPTY));
    }
}

enforces! {
    [Aud1]
    fn aud_1_what_is_stored_reads_back_and_has_one_form(_seen) {
        let written = entry(3).behind(&Head::EMPTY);
        let stored = written.stored().unwrap();
        let read: AuditEntry = serde_json::from_slice(&stored).unwrap();
        assert_eq!(read, written);
        assert_eq!(read.stored().unwrap(), stored);
        let text = String::from_utf8(stored).unwrap();
        assert!(
            text.starts_with(r#"{"config":"sha256:07"#) && text.contains(r#""input":{"a":"é€\n","z":3}"#),
            "{text}"
        );
    }
}

enforces! {
    [Aud5]
    fn aud_5_a_chain_can_be_walked_from_a_trusted_head(_seen) {
        let chain = chain(5);
        let middle = walk(&chain[..2]).unwrap();
        assert_eq!(verify_from(middle, chain[2..].iter().map(Vec::as_slice)), walk(&chain));
        assert_eq!(verify_from(middle, chain[1..].iter().map(Vec::as_slice)), broken(3, BreakKind::Gap));
    }
}

enforces! {
    [Aud5]
    fn aud_5_a_cut_last_record_is_torn_wherever_it_is_cut(_seen) {
        let whole = chain(3);
        for length in 0..whole[2].len() {
            let mut cut = whole.clone();
            cut[2].truncate(length);
            let verdict = walk(&cut);
            assert_eq!(verdict, broken(3, BreakKind::Torn), "{length}");
            assert_eq!(verdict.unwrap_err().reason(), Reason::ChainTorn);
            cut.push(whole[2].clone());
            let verdict = walk(&cut);
            assert_eq!(verdict, broken(3, BreakKind::Form), "not the last: no crash does that");
            assert_eq!(verdict.unwrap_err().reason(), Reason::ChainBroken);
        }
    }
}

enforces! {
    [Aud5]
    fn aud_5_what_was_altered_left_out_doubled_or_moved_shows(_seen) {
        let whole = chain(4);
        let altered = |from: &str, to: &str| {
            let mut chain = whole.clone();
            chain[1] = String::from_utf8(chain[1].clone()).unwrap().replacen(from, to, 1).into_bytes();
            assert_ne!(chain, whole);
            chain
        };
        // A changed record still is one; the next does not fit it any more.
        assert_eq!(walk(&altered("absorbed", "advanced")), broken(3, BreakKind::Hash));
        assert_eq!(walk(&altered("\"position\":2", "\"position\":3")), broken(2, BreakKind::Gap));
        assert_eq!(walk(&altered("\"prev\":\"sha256:", "\"prev\":\"sha256:0")), broken(2, BreakKind::Form));
        assert_eq!(walk(&altered(":", ": ")), broken(2, BreakKind::Form));
        assert_eq!(walk(&altered("\"v\":1", "\"v\":2")), broken(2, BreakKind::Form));
        assert_eq!(walk(&altered("\"v\":1", "\"v\":1,\"v\":1")), broken(2, BreakKind::Form));

        let without = |at: usize| {
            whole.iter().enumerate().filter(|(i, _)| *i != at).map(|(_, r)| r.clone()).collect::<Vec<_>>()
        };
        assert_eq!(walk(&without(0)), broken(1, BreakKind::Gap));
        assert_eq!(walk(&without(2)), broken(3, BreakKind::Gap));
        let mut doubled = whole.clone();
        doubled.insert(1, whole[0].clone());
        assert_eq!(walk(&doubled), broken(2, BreakKind::Gap));
        let mut swapped = whole.clone();
        swapped.swap(1, 2);
        assert_eq!(walk(&swapped), broken(2, BreakKind::Gap));
    }
}

enforces! {
    [Aud6]
    fn aud_6_a_member_that_a_later_version_added_does_not_break_the_chain(_seen) {
        let text = String::from_utf8(chain(1).remove(0)).unwrap();
        let more = text.replacen("\"machine\":\"mailbox\"", "\"machine\":\"mailbox\",\"more\":true", 1);
        assert_eq!(walk(&[more.clone().into_bytes()]), Ok(Head { size: 1, hash: hash(more.as_bytes()) }));
    }
}

enforces! {
    [Aud3]
    fn aud_3_a_kept_checkpoint_tells_a_missing_tail_and_another_history(_seen) {
        let home = PlaneName::parse("home").unwrap();
        // What a head is made of does not matter here, only that another history has another one.
        let chain = chain(5);
        let at = |size: usize| walk(&chain[..size]).unwrap().hash;
        let key_id = public_key(&SigningKey::from_bytes(&[3; 32])).key_id();
        let kept = Checkpoint { plane: home.clone(), size: 3, head: at(3), time: Wall(9), key_id };
        assert_eq!(kept.compare(&home, 5, Some(&at(3))), Comparison::Extends);
        assert_eq!(kept.compare(&home, 3, Some(&at(3))), Comparison::Extends);
        assert_eq!(kept.compare(&home, 2, None), Comparison::Truncated);
        assert_eq!(kept.compare(&home, 2, Some(&at(2))), Comparison::Truncated);
        assert_eq!(kept.compare(&home, 5, Some(&at(4))), Comparison::Differs);
        let away = PlaneName::parse("away").unwrap();
        assert_eq!(kept.compare(&away, 5, Some(&at(3))), Comparison::Foreign);
    }
}

/// A chain of four whose second record was altered, and what an operator and the driver put behind it.
fn anchored(command: Value, change: impl FnOnce(&mut Reanchored)) -> Vec<Vec<u8>> {
    let mut records = chain(4);
    let second = String::from_utf8(records[1].clone()).unwrap();
    records[1] = second.replacen("mailbox", "waker", 1).into_bytes();
    let push = |plain: AuditEntry, records: &mut Vec<Vec<u8>>| {
        let head = Head { size: records.len() as u64, hash: hash(records.last().unwrap()) };
        records.push(plain.behind(&head).stored().unwrap());
    };
    push(AuditEntry { machine: "registry".into(), records: vec![command], ..entry(5) }, &mut records);
    let mut seen = Walk::default();
    records.iter().for_each(|record| seen.record(record, None, false));
    let seen = seen.end();
    let mut says = Reanchored { named: seen.broken.unwrap(), sealed: seen.seal.unwrap() };
    change(&mut says);
    push(AuditEntry { machine: MACHINE.into(), outcome: Some(says.outcome()), ..entry(6) }, &mut records);
    push(entry(7), &mut records);
    records
}

fn command() -> Value {
    json!({"enacted": {"act": {"act": "reanchor", "subject": {}}}})
}

enforces! {
    [Aud5]
    fn aud_5_a_segment_that_names_the_break_goes_on_and_seals_what_was(_seen) {
        let whole = anchored(command(), |_| {});
        let last = hash(whole.last().unwrap());
        assert_eq!(walk(&whole), Ok(Head { size: 7, hash: last }));
        let mut seen = Walk::default();
        whole.iter().for_each(|record| seen.record(record, None, false));
        assert_eq!(seen.end().segments, [Break { position: 3, kind: BreakKind::Hash }]);
        // Without it the break stands.
        assert_eq!(walk(&whole[..5]), broken(3, BreakKind::Hash));
        // What is sealed cannot be altered any more, not even what was altered before.
        for at in 0..5 {
            let mut later = whole.clone();
            let text = String::from_utf8(later[at].clone()).unwrap();
            later[at] = text.replacen("\"absorbed\"", "\"absorbee\"", 1).into_bytes();
            assert_ne!(later[at], whole[at]);
            assert!(walk(&later).is_err(), "record {at}");
        }
        // Neither does anything begin a segment that no operator asked for, or that seals something else.
        assert_eq!(walk(&anchored(json!({"started": {}}), |_| {})), broken(3, BreakKind::Hash));
        let other = anchored(command(), |says| says.sealed = ContentHash([1; 32]));
        assert_eq!(walk(&other), broken(3, BreakKind::Hash));
        // A walk that has not seen what is sealed takes nobody's word for it.
        let from = Head { size: 1, hash: hash(&whole[0]) };
        assert_eq!(verify_from(from, whole[1..].iter().map(Vec::as_slice)), broken(3, BreakKind::Hash));
    }
}

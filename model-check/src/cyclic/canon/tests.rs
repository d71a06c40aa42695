//! What the form keeps of instants, numbers and ids, and what it does not.

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
        let times =
            BTreeMap::from([(7, Mono(now + 2)), (8, Mono(now.saturating_sub(9))), (9, Mono(NEVER + now))]);
        Lease { fence: Some(Fence(40 + now)), at: Wall(at), times }
    };
    let expected =
        "Lease { fence: Some(Fence(#1)), at: Wall(-2), times: {7: Mono(+2), 8: Mono(+0), 9: Mono(never)} }";
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

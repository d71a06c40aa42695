//! INB-5, INB-6, RTE-3: a reader gets everything once, in order, and no tier starves.

use awakener_kernel::config::Config;
use awakener_kernel::ids::{ContentHash, Seq, Tier};
use awakener_kernel::page::{InboxId, Page, Position, Waiting, order};
use awakener_spec::Reason;
use awakener_tools::enforces;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use proptest::prelude::*;

const INBOX: InboxId = InboxId(ContentHash([1; 32]));
const OTHER: InboxId = InboxId(ContentHash([2; 32]));

fn seq(number: usize) -> Seq {
    Seq::new(number as u64).unwrap()
}

/// An inbox: the tier of each message, from sequence 1 on.
struct Inbox(Vec<Tier>);

impl Inbox {
    /// What a store finds beyond a position: at most `limit` sequences per tier, and the count of all.
    fn waiting(&self, position: &Position, limit: usize) -> [Waiting; 4] {
        Tier::ALL.map(|tier| {
            let after = position.after()[tier.get() as usize];
            let all = self.0.iter().enumerate().filter(|(_, of)| **of == tier).map(|(i, _)| seq(i + 1));
            let beyond: Vec<Seq> = all.filter(|seq| Some(*seq) > after).collect();
            Waiting { total: beyond.len() as u64, seqs: beyond.into_iter().take(limit).collect() }
        })
    }

    fn read(&self, position: Position, size: u32, config: &Config) -> Page {
        order(&self.waiting(&position, size as usize), position, size, config)
    }
}

fn config(starvation: u32) -> Config {
    Config { starvation, page: 50, ..Config::default() }
}

fn tiers(numbers: &[u64]) -> Inbox {
    Inbox(numbers.iter().map(|n| Tier::from_u64(*n).unwrap()).collect())
}

fn seqs(page: &Page) -> Vec<u64> {
    page.items.iter().map(|(_, seq)| seq.get()).collect()
}

enforces! {
    [Rte3]
    fn rte_3_a_page_is_ordered_before_it_is_cut(_seen) {
        let inbox = tiers(&[3, 2, 1, 0, 2, 0]);
        let page = inbox.read(Position::start(INBOX), 4, &config(8));
        assert_eq!(seqs(&page), [4, 6, 3, 2]);
        assert_eq!((page.more, page.total), (true, 6));
        let rest = inbox.read(page.next, 4, &config(8));
        assert_eq!(seqs(&rest), [5, 1]);
        assert_eq!((rest.more, rest.total), (false, 2));
        let none = inbox.read(rest.next, 4, &config(8));
        assert_eq!((seqs(&none), none.more, none.total), (vec![], false, 0));
        assert_eq!(none.next, rest.next, "an empty page moves nothing");
    }
}

enforces! {
    [Inb5]
    fn inb_5_an_outstanding_alert_neither_holds_up_nor_comes_again(_seen) {
        // The alert at 1 is never finished; position knows nothing of that.
        let mut inbox = tiers(&[0, 2]);
        let page = inbox.read(Position::start(INBOX), 50, &config(8));
        assert_eq!(seqs(&page), [1, 2]);
        inbox.0.push(Tier::Two);
        let later = inbox.read(page.next, 50, &config(8));
        assert_eq!(seqs(&later), [3]);
    }
}

enforces! {
    [Inb5]
    fn inb_5_a_lost_page_is_handed_over_again_and_late_mail_of_a_higher_tier_is_not_skipped(_seen) {
        let mut inbox = tiers(&[2, 2, 2]);
        let start = Position::start(INBOX);
        let lost = inbox.read(start, 2, &config(8));
        let again = inbox.read(start, 2, &config(8));
        assert_eq!(lost, again);
        inbox.0.push(Tier::Zero);
        assert_eq!(seqs(&inbox.read(again.next, 2, &config(8))), [4, 3]);
    }
}

enforces! {
    [Inb6]
    fn inb_6_the_size_is_bounded_and_never_zero(_seen) {
        let inbox = Inbox(vec![Tier::Two; 60]);
        let config = Config { page: 5, ..Config::default() };
        assert_eq!(inbox.read(Position::start(INBOX), 60, &config).items.len(), 5);
        let page = order(&inbox.waiting(&Position::start(INBOX), 5), Position::start(INBOX), 0, &config);
        assert_eq!(page.items.len(), 1);
    }
}

enforces! {
    [Rte3]
    fn rte_3_one_read_in_so_many_serves_a_lower_tier_that_would_get_nothing(_seen) {
        let inbox = Inbox([vec![Tier::Zero; 40], vec![Tier::Two; 4]].concat());
        let mut position = Position::start(INBOX);
        let mut served = Vec::new();
        for read in 1..=8 {
            let page = inbox.read(position, 2, &config(4));
            if page.items.iter().any(|(tier, _)| *tier == Tier::Two) {
                served.push(read);
                assert_eq!(page.items[0].0, Tier::Zero, "Tier-0 stays first: {page:?}");
            }
            position = page.next;
        }
        assert_eq!(served, [4, 8]);
    }
}

enforces! {
    [Inb6]
    fn inb_6_a_foreign_or_garbled_position_is_unknown(_seen) {
        let inbox = tiers(&[2, 2, 2]);
        let position = inbox.read(Position::start(INBOX), 2, &config(8)).next;
        let text = position.encode();
        assert_eq!(Position::decode(&text, INBOX, Some(seq(3))), Ok(position));
        assert_eq!(Position::decode(&text, INBOX, Some(seq(2))), Ok(position));
        let unknown = Err(Reason::PositionUnknown);
        assert_eq!(Position::decode(&text, OTHER, Some(seq(3))), unknown, "another inbox");
        assert_eq!(Position::decode(&text, INBOX, Some(seq(1))), unknown, "beyond the last message");
        assert_eq!(Position::decode(&text, INBOX, None), unknown);
        assert_eq!(Position::decode("", INBOX, Some(seq(3))), unknown);
        assert_eq!(Position::decode(&"A".repeat(10_000), INBOX, Some(seq(3))), unknown);
        for at in 0..text.len() {
            let mut bytes = text.clone().into_bytes();
            bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
            let garbled = String::from_utf8(bytes).unwrap();
            assert_eq!(Position::decode(&garbled, INBOX, Some(seq(3))), unknown, "{at}");
        }
        let plain = URL_SAFE_NO_PAD.encode(serde_json::to_vec(&position).unwrap());
        assert_eq!(Position::decode(&plain, INBOX, Some(seq(3))), unknown, "without its check");
    }
}

fn any_tier() -> impl Strategy<Value = Tier> {
    (0..4_u64).prop_map(|n| Tier::from_u64(n).unwrap())
}

/// What a reader does: it reads so many, and maybe loses the page; mail comes in between.
fn any_reads() -> impl Strategy<Value = Vec<(u32, bool, Vec<Tier>)>> {
    proptest::collection::vec((1..6_u32, any::<bool>(), proptest::collection::vec(any_tier(), 0..3)), 0..30)
}

proptest! {
    #[test]
    fn inb_5_every_message_is_handed_over_exactly_once_and_in_order(
        first in proptest::collection::vec(any_tier(), 0..30),
        reads in any_reads(),
        starvation in 1..6_u32,
    ) {
        let config = config(starvation);
        let mut inbox = Inbox(first);
        let mut position = Position::start(INBOX);
        let mut got: Vec<(Tier, Seq)> = Vec::new();
        for (size, lost, mail) in reads {
            let last = inbox.0.len();
            let shown = Position::decode(&position.encode(), INBOX, Seq::new(last as u64)).unwrap();
            let page = inbox.read(shown, size, &config);
            prop_assert!(page.items.len() <= size as usize);
            prop_assert!(page.items.is_sorted(), "Tier-0 first, then by tier, then by sequence");
            prop_assert_eq!(page.total as usize, inbox.0.len() - got.len());
            prop_assert_eq!(page.more, page.total as usize > page.items.len());
            prop_assert!(page.items.is_empty() == (page.total == 0), "whoever waits gets something");
            if !lost {
                position = page.next;
                got.extend(page.items);
            }
            inbox.0.extend(mail);
        }
        loop {
            let page = inbox.read(position, 7, &config);
            if page.items.is_empty() {
                break;
            }
            position = page.next;
            got.extend(page.items);
        }
        for tier in Tier::ALL {
            let handed: Vec<Seq> = got.iter().filter(|(of, _)| *of == tier).map(|(_, seq)| *seq).collect();
            let there = inbox.0.iter().enumerate().filter(|(_, of)| **of == tier).map(|(i, _)| seq(i + 1));
            prop_assert_eq!(handed, there.collect::<Vec<_>>());
        }
    }

    #[test]
    fn rte_3_no_tier_waits_longer_than_the_bound(
        flood in 1..4_u32, starvation in 1..6_u32, size in 1..4_u32, low in 1..4_u64,
    ) {
        // Higher tiers are always full; one message waits in a low tier.
        let config = config(starvation);
        let low = Tier::from_u64(low).unwrap();
        let mut mail = vec![low];
        let mut position = Position::start(INBOX);
        let mut reads = 0;
        loop {
            for tier in Tier::ALL.into_iter().filter(|tier| *tier < low) {
                mail.extend(vec![tier; (flood + size) as usize]);
            }
            reads += 1;
            let inbox = Inbox(mail);
            let page = inbox.read(position, size, &config);
            mail = inbox.0;
            if page.items.contains(&(low, Seq::FIRST)) {
                break;
            }
            prop_assert!(reads <= 3 * starvation, "still waiting after {} reads", reads);
            position = page.next;
        }
    }
}

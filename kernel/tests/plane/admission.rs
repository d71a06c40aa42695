//! The order of ADM-2, row by row: each row breaks its own check and everything after it.

use awakener_kernel::admission::{
    AdmitFacts, Attempt, Cause, Prior, RosterVerdict, Submitted, Verdict, judge, screen,
};
use awakener_kernel::config::Config;
use awakener_kernel::ids::{ContentHash, MessageId, Principal, SchemaRef, Seq, Tier};
use awakener_kernel::time::{Millis, Mono, Now, Wall};
use awakener_spec::Reason;
use awakener_tools::enforces;
use proptest::prelude::*;

const NOW: Now = Now { wall: Wall(100 * 86_400_000), mono: Mono(5) };
const FREE: Attempt = Attempt {
    body_bytes: 10,
    authenticated: true,
    within_rate: true,
    well_formed: true,
    other_sender: false,
    schema_known: true,
    target_known: true,
};

fn id_at(wall: Wall) -> MessageId {
    MessageId::from_parts(wall.0, [7; 10])
}

fn submitted() -> Submitted {
    Submitted {
        id: id_at(NOW.wall),
        principal: Principal::parse("luna").unwrap(),
        content: ContentHash([1; 32]),
        schema: SchemaRef::parse("interrupt-alert/1").unwrap(),
        fence: None,
    }
}

fn facts() -> AdmitFacts {
    AdmitFacts {
        prior: None,
        id_taken: false,
        tier: Tier::Zero,
        acts_for_target: false,
        can_ack: true,
        roster: RosterVerdict::Listed,
        tier0_open: true,
        cause: None,
        lost_lease: false,
        repeats: 0,
        overloaded: false,
    }
}

fn config() -> Config {
    Config { queue: 4, tier0_reserve: 2, echo: 3, causal_depth: 2, ..Config::default() }
}

/// One submission with all that is known of it.
#[derive(Clone, Debug)]
struct Case {
    submitted: Submitted,
    facts: AdmitFacts,
    queued: u32,
}

impl Case {
    fn good() -> Self {
        Self { submitted: submitted(), facts: facts(), queued: 0 }
    }

    fn verdict(&self) -> Verdict {
        judge(&self.submitted, &self.facts, self.queued, &config(), NOW)
    }
}

/// A name for a fault and how to make it.
type Fault<T> = (Reason, fn(&mut T));

enforces! {
    [Adm2]
    fn adm_2_the_head_refuses_in_the_order_of_the_contract(_seen) {
        let order: [Fault<Attempt>; 7] = [
            (Reason::TooLarge, |a| a.body_bytes = u64::from(Config::default().body_bytes) + 1),
            (Reason::Unauthenticated, |a| a.authenticated = false),
            (Reason::RateLimited, |a| a.within_rate = false),
            (Reason::Malformed, |a| a.well_formed = false),
            (Reason::PrincipalMismatch, |a| a.other_sender = true),
            (Reason::UnknownSchema, |a| a.schema_known = false),
            (Reason::UnknownTarget, |a| a.target_known = false),
        ];
        let config = Config::default();
        assert_eq!(screen(&FREE, &config), Ok(()));
        let at_the_bound = Attempt { body_bytes: u64::from(config.body_bytes), ..FREE };
        assert_eq!(screen(&at_the_bound, &config), Ok(()));
        for (first, (reason, alone)) in order.iter().enumerate() {
            let mut attempt = FREE;
            alone(&mut attempt);
            assert_eq!(screen(&attempt, &config), Err(*reason), "alone");
            order[first..].iter().for_each(|(_, fault)| fault(&mut attempt));
            assert_eq!(screen(&attempt, &config), Err(*reason), "with everything after it");
        }
    }
}

enforces! {
    [Adm2]
    fn adm_2_the_rest_refuses_in_the_order_of_the_contract(_seen) {
        let order: [Fault<Case>; 14] = [
            (Reason::DuplicateConflict, |c| {
                c.facts.prior = Some(Prior { content: ContentHash([9; 32]), seq: Seq::FIRST });
            }),
            (Reason::Malformed, |c| c.submitted.id = id_at(NOW.wall + config().id_ahead + Millis(1))),
            (Reason::TooOld, |c| {
                // An id is either too far ahead or too old, never both.
                if c.submitted.id == id_at(NOW.wall) {
                    c.submitted.id = id_at(NOW.wall - config().dedup_horizon - Millis(1));
                }
            }),
            (Reason::SelfWake, |c| c.facts.acts_for_target = true),
            (Reason::TargetCannotAck, |c| c.facts.can_ack = false),
            (Reason::RosterAbsent, |c| c.facts.roster = RosterVerdict::Absent),
            (Reason::RosterMalformed, |c| worse(c, RosterVerdict::Malformed)),
            (Reason::RosterExpired, |c| worse(c, RosterVerdict::Expired)),
            (Reason::NotOnRoster, |c| worse(c, RosterVerdict::NotListed)),
            (Reason::Tier0Closed, |c| c.facts.tier0_open = false),
            (Reason::RepeatCap, |c| c.facts.repeats = 3),
            (Reason::RepeatCap, |c| c.facts.cause = Some(Cause { message: id_at(NOW.wall), depth: 2 })),
            (Reason::QueueFull, |c| c.queued = 6),
            (Reason::Overloaded, |c| c.facts.overloaded = true),
        ];
        assert!(matches!(Case::good().verdict(), Verdict::Admit { tier: Tier::Zero, cause: None, depth: 0 }));
        for (first, (reason, alone)) in order.iter().enumerate() {
            let mut case = Case::good();
            alone(&mut case);
            assert_eq!(case.verdict(), Verdict::Refuse(*reason), "alone: {case:?}");
            order[first..].iter().for_each(|(_, fault)| fault(&mut case));
            assert_eq!(case.verdict(), Verdict::Refuse(*reason), "with everything after it: {case:?}");
        }
    }
}

/// The roster has one verdict at a time: a fault further down does not cover one further up.
fn worse(case: &mut Case, verdict: RosterVerdict) {
    if case.facts.roster == RosterVerdict::Listed {
        case.facts.roster = verdict;
    }
}

enforces! {
    [Adm7]
    fn adm_7_a_repeat_gets_its_first_result_whatever_has_changed_since(_seen) {
        let prior = Prior { content: submitted().content, seq: Seq::FIRST };
        let mut case = Case::good();
        case.facts = AdmitFacts {
            prior: Some(prior),
            can_ack: false,
            roster: RosterVerdict::Absent,
            tier0_open: false,
            overloaded: true,
            ..facts()
        };
        case.queued = 99;
        assert_eq!(case.verdict(), Verdict::Repeat(prior));
    }
}

enforces! {
    [Adm8]
    fn adm_8_an_id_may_lie_within_the_bounds_and_not_beyond(_seen) {
        let verdict = |wall| {
            let mut case = Case::good();
            case.submitted.id = id_at(wall);
            case.verdict()
        };
        let admitted = |v| matches!(v, Verdict::Admit { .. });
        assert!(admitted(verdict(NOW.wall + config().id_ahead)));
        assert_eq!(verdict(NOW.wall + config().id_ahead + Millis(1)), Verdict::Refuse(Reason::Malformed));
        assert!(admitted(verdict(NOW.wall - config().dedup_horizon)));
        assert_eq!(verdict(NOW.wall - config().dedup_horizon - Millis(1)), Verdict::Refuse(Reason::TooOld));
    }
}

enforces! {
    [Adm12]
    fn adm_12_a_message_is_one_deeper_than_its_cause(_seen) {
        let cause = Cause { message: id_at(NOW.wall), depth: 1 };
        let mut case = Case::good();
        case.facts.cause = Some(cause);
        let admitted = Verdict::Admit { tier: Tier::Zero, cause: Some(cause.message), depth: 2 };
        assert_eq!(case.verdict(), admitted);
    }
}

enforces! {
    [Prt2]
    fn prt_2_the_reserve_is_for_tier_0_alone(_seen) {
        for (tier, room) in [(Tier::Zero, 6), (Tier::One, 4), (Tier::Two, 4), (Tier::Three, 4)] {
            let mut case = Case::good();
            case.facts.tier = tier;
            case.queued = room - 1;
            assert!(matches!(case.verdict(), Verdict::Admit { .. }), "{tier:?}");
            case.queued = room;
            assert_eq!(case.verdict(), Verdict::Refuse(Reason::QueueFull), "{tier:?}");
        }
    }
}

enforces! {
    [Fus1]
    fn fus_1_the_bound_on_repeats_lies_at_the_echo_limit(_seen) {
        let mut case = Case::good();
        case.facts.repeats = 2;
        assert!(matches!(case.verdict(), Verdict::Admit { .. }));
        case.facts.repeats = 3;
        assert_eq!(case.verdict(), Verdict::Refuse(Reason::RepeatCap));
    }
}

fn any_roster() -> impl Strategy<Value = RosterVerdict> {
    prop_oneof![
        Just(RosterVerdict::Absent),
        Just(RosterVerdict::Malformed),
        Just(RosterVerdict::Expired),
        Just(RosterVerdict::NotListed),
        Just(RosterVerdict::Listed),
    ]
}

fn any_facts() -> impl Strategy<Value = AdmitFacts> {
    let flags = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    (0..4_u64, flags, any_roster(), proptest::option::of(0..4_u32), 0..5_u32).prop_map(
        |(tier, (acts_for_target, can_ack, tier0_open, overloaded), roster, cause, repeats)| AdmitFacts {
            prior: None,
            id_taken: false,
            tier: Tier::from_u64(tier).unwrap(),
            acts_for_target,
            can_ack,
            roster,
            tier0_open,
            cause: cause.map(|depth| Cause { message: id_at(NOW.wall), depth }),
            lost_lease: false,
            repeats,
            overloaded,
        },
    )
}

proptest! {
    #[test]
    fn adm_3_an_authenticated_sender_gets_tier_0_only_with_everything_that_it_needs(
        facts in any_facts(), queued in 0..8_u32,
    ) {
        prop_assert_eq!(screen(&FREE, &config()), Ok(()));
        let verdict = judge(&submitted(), &facts, queued, &config(), NOW);
        if let Verdict::Admit { tier, .. } = verdict {
            prop_assert_eq!(tier, facts.tier);
            if tier == Tier::Zero {
                prop_assert_eq!(facts.roster, RosterVerdict::Listed);
                prop_assert!(facts.can_ack && facts.tier0_open && !facts.acts_for_target);
            }
        }
    }

    #[test]
    fn adm_3_what_tier_0_needs_is_not_asked_of_other_tiers(
        facts in any_facts(), other in any_facts(), tier in 1..4_u64, queued in 0..8_u32,
    ) {
        let facts = AdmitFacts { tier: Tier::from_u64(tier).unwrap(), ..facts };
        let changed = AdmitFacts {
            acts_for_target: other.acts_for_target,
            can_ack: other.can_ack,
            roster: other.roster,
            tier0_open: other.tier0_open,
            ..facts.clone()
        };
        let verdict = |facts| judge(&submitted(), facts, queued, &config(), NOW);
        prop_assert_eq!(verdict(&facts), verdict(&changed));
    }
}

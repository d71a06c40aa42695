//! Admission inside the mailbox: repeats, causes, queues (ADM-2, ADM-7, ADM-12, PRT-2).

use awakener_kernel::admission::{AdmitFacts, RosterVerdict, Submitted};
use awakener_kernel::config::Config;
use awakener_kernel::ids::{Fence, MessageId, SchemaRef, Tier};
use awakener_kernel::machine::Machine as _;
use awakener_kernel::mailbox::input::{Effect, Event, Facts, Input};
use awakener_kernel::mailbox::record::Record;
use awakener_kernel::router::Routes;
use awakener_kernel::time::Millis;
use awakener_kernel::values::{By, Finish, FlightReport, Response};
use awakener_spec::Reason;
use awakener_tools::enforces;

use crate::cast::*;
use crate::script::small;
use crate::world::{Seen, World, absorbed, advanced, refused};

/// Admits a message of the target's own principal under this lease; its cause and depth.
fn said(w: &mut World, n: u8, fence: Option<Fence>) -> (Option<MessageId>, u32) {
    let mut submitted = submitted(own(), "message/1", n);
    submitted.fence = fence;
    match advanced(w.give(Input::Admit(submitted))) {
        Event::Admitted { cause, depth, .. } => (cause, depth),
        other => panic!("{other:?}"),
    }
}

enforces! {
    [Adm7]
    fn adm_7_the_same_submission_is_one_message_and_wakes_once(seen) {
        let mut w = World::new();
        let hint = w.alerted(1);
        for crashed in [false, true] {
            if crashed {
                w.crash();
                w.start();
            }
            let before = w.snapshot();
            absorbed(w.give(alert(1)));
            let mut other = submitted(mira(), "interrupt-alert/1", 1);
            other.content = content(2);
            assert_eq!(refused(w.give(Input::Admit(other))), Reason::DuplicateConflict);
            assert_eq!(w.snapshot(), before);
        }
        seen.refusal(Reason::DuplicateConflict);
        assert_eq!((w.disk().rows.len(), hint.message), (1, msg(1)));
        // Also when it is finished, when the roster is gone, and when the id is too old by now.
        advanced(w.give(Input::Resolve { message: msg(1) }));
        w.registry.roster = RosterVerdict::Absent;
        w.tick(Millis(2 * w.config.dedup_horizon.0));
        absorbed(w.give(alert(1)));
        // A refusal is not remembered.
        w.registry.roster = RosterVerdict::Listed;
        assert_eq!(refused(w.give(alert(5))), Reason::TooOld);
    }

    [Adm7]
    fn adm_7_what_was_refused_may_come_again(_seen) {
        let mut w = World::new();
        w.registry.roster = RosterVerdict::NotListed;
        assert_eq!(refused(w.give(alert(1))), Reason::NotOnRoster);
        w.registry.roster = RosterVerdict::Listed;
        advanced(w.give(alert(1)));
        absorbed(w.give(alert(1)));
    }

    [Adm2, Adm3]
    fn adm_2_a_refused_alert_leaves_nothing(seen) {
        type Wrong = fn(&mut World);
        let table: [(Reason, Wrong); 9] = [
            (Reason::TargetCannotAck, |w| w.registry.can_ack = false),
            (Reason::RosterAbsent, |w| w.registry.roster = RosterVerdict::Absent),
            (Reason::RosterMalformed, |w| w.registry.roster = RosterVerdict::Malformed),
            (Reason::RosterExpired, |w| w.registry.roster = RosterVerdict::Expired),
            (Reason::NotOnRoster, |w| w.registry.roster = RosterVerdict::NotListed),
            (Reason::Tier0Closed, |w| w.registry.open = false),
            (Reason::RepeatCap, |w| w.registry.repeats = w.config.echo),
            (Reason::Overloaded, |w| w.registry.overloaded = true),
            (Reason::TooOld, |w| w.tick(Millis(w.config.dedup_horizon.0 + 1))),
        ];
        for (reason, wrong) in table {
            let mut w = World::new();
            wrong(&mut w);
            let before = w.snapshot();
            assert_eq!(refused(w.give(alert(1))), reason);
            assert_eq!(w.snapshot(), before);
            seen.refusal(reason);
        }
        advanced(World::new().give(alert(1)));
    }

    [Adm12]
    fn adm_12_the_cause_is_the_deepest_claimed_message_then_the_first(_seen) {
        let mut w = World::new();
        assert_eq!(said(&mut w, 50, None), (None, 0));
        for n in [1, 2] {
            advanced(w.give(mail(n)));
        }
        let fence = w.claimed(ann());
        // 50 is claimed as well; all three have depth 0, and it came first.
        assert_eq!(said(&mut w, 51, Some(fence)), (Some(msg(50)), 1));
        assert_eq!(said(&mut w, 52, None), (Some(msg(50)), 1));
        advanced(w.give(read(fence, 50)));
        advanced(w.give(respond(fence, 50, 1, Response::Done)));
        assert_eq!(said(&mut w, 53, None), (Some(msg(1)), 1));
        // A deeper one goes before an earlier one.
        advanced(w.give(Input::Release { fence }));
        assert_eq!(said(&mut w, 54, None), (None, 0));
        let fence = w.claimed(ann());
        assert_eq!(said(&mut w, 55, Some(fence)), (Some(msg(51)), 2));
        // Nobody else's submission has it.
        let told = advanced(w.give(mail(3)));
        assert!(matches!(told, Event::Admitted { cause: None, depth: 0, .. }), "{told:?}");
    }

    [Inb7]
    fn inb_7_a_lease_that_is_not_live_is_lost(seen) {
        let mut w = World::new();
        advanced(w.give(mail(1)));
        let fence = w.claimed(ann());
        w.tick(w.config.lease);
        let mut late = submitted(own(), "message/1", 2);
        late.fence = Some(fence);
        assert_eq!(refused(w.give(Input::Admit(late.clone()))), Reason::LostLease);
        seen.refusal(Reason::LostLease);
        // Without a lease it has no cause, and with the live one it has.
        late.fence = None;
        advanced(w.give(Input::Admit(late)));
        let fence = w.claimed(bob());
        assert_eq!(said(&mut w, 3, Some(fence)), (Some(msg(1)), 1));
    }

    [Adm2]
    fn adm_2_a_queue_is_per_sender_and_keeps_room_for_alerts(seen) {
        let mut w = World::with(Config { queue: 2, tier0_reserve: 1, ..Config::default() });
        for n in [1, 2] {
            advanced(w.give(mail(n)));
        }
        assert_eq!(refused(w.give(mail(3))), Reason::QueueFull);
        seen.refusal(Reason::QueueFull);
        advanced(w.give(Input::Admit(submitted(otto(), "message/1", 4))));
        advanced(w.give(alert(5)));
        assert_eq!(refused(w.give(alert(6))), Reason::QueueFull);
        w.crash();
        w.start();
        assert_eq!(refused(w.give(alert(6))), Reason::QueueFull);
        // What is finished makes room.
        let fence = w.reading(ann(), 1);
        advanced(w.give(respond(fence, 1, 1, Response::Done)));
        advanced(w.give(alert(6)));
        assert_eq!(refused(w.give(mail(7))), Reason::QueueFull);
    }
}

enforces! {
    [Adm11]
    fn adm_11_the_server_adds_the_rest(_seen) {
        let mut w = World::new();
        advanced(w.give(alert(1)));
        let fence = w.claimed(ann());
        w.tick(Millis(7));
        let told = advanced(w.give(Input::Admit(Submitted { fence: Some(fence), ..submitted(own(), "message/1", 2) })));
        let (seq, entry) = w.disk().row(msg(2)).unwrap();
        assert_eq!(told, Event::Admitted { seq, tier: Tier::Two, cause: Some(msg(1)), depth: 1 });
        let mut json = serde_json::to_value(&entry).unwrap();
        // What the work on it will change; nothing of that so far.
        let state = ["read", "turn", "response", "closed", "finished", "quarantined", "released"];
        for member in state {
            let value = json.as_object_mut().unwrap().remove(member).unwrap();
            assert!(value.is_null() || value == false || value == 0, "{member}");
        }
        let added = serde_json::json!({
            "id": msg(2), "principal": "own", "content": content(2), "tier": Tier::Two, "schema": "message/1",
            "admitted": w.now.wall, "cause": msg(1), "depth": 1,
        });
        assert_eq!((json, seq.get()), (added, 2));
    }

    [Rte2]
    fn rte_2_every_tier_is_kept_and_tier_0_alone_makes_hints(_seen) {
        let schema = |text: &str| SchemaRef::parse(text).unwrap();
        assert!(Routes::new([(schema("siren/1"), Tier::Zero)]).is_err());
        let extra = [("note/1", Tier::One), ("digest/1", Tier::Two), ("interrupt/1", Tier::Three)];
        let routes = Routes::new(extra.map(|(name, tier)| (schema(name), tier))).unwrap();
        let loud = Config { re_emissions: 9, queue: 1, tier0_reserve: 99, page: 1, ..Config::default() };
        let names = ["interrupt-alert/1", "directive/1", "message/1", "observation/1", "note/1", "digest/1", "interrupt/1"];
        for config in [Config::default(), small(), loud] {
            for name in names {
                // Roster, arming and gate are in favour of everything.
                let mut w = World::with(config.clone());
                let tier = routes.tier(&schema(name)).unwrap();
                let input = Input::Admit(submitted(mira(), name, 1));
                let Facts::Admit(facts) = w.facts(&input) else { panic!("facts of an admission") };
                advanced(w.give_with(input, Facts::Admit(AdmitFacts { tier, ..facts })));
                w.crash();
                w.start();
                assert_eq!(w.disk().row(msg(1)).map(|(_, entry)| entry.tier), Some(tier), "{name} is durable");
                w.pass(seconds(3_600));
                let swept = w.sweep().is_advanced();
                let hints = w.history.iter().flat_map(|seen| match seen {
                    Seen::Commit { effects, .. } => effects.clone(),
                    Seen::Lost { .. } | Seen::Boot { .. } => vec![],
                });
                let hints = hints.filter(|effect| matches!(effect, Effect::Publish(_))).count();
                let wakes = tier == Tier::Zero;
                assert_eq!((hints > 0, swept, !w.disk().mints.is_empty()), (wakes, wakes, wakes), "{name}");
                // It can be worked on, whatever its tier.
                w.reading(ann(), 1);
            }
        }
    }

    [Prt1]
    fn prt_1_whatever_comes_again_acts_once_also_after_a_restart(_seen) {
        fn again(w: &mut World, input: Input) {
            advanced(w.give(input.clone()));
            for crashed in [false, true] {
                if crashed {
                    w.crash();
                    w.start();
                }
                let before = w.snapshot();
                absorbed(w.give(input.clone()));
                assert_eq!(w.snapshot(), before, "{input:?}");
            }
        }
        let mut w = World::new();
        again(&mut w, alert(1));
        again(&mut w, mail(2));
        let hint = {
            advanced(w.fire());
            w.published().unwrap()
        };
        let permit = w.permitted(east(), hint);
        let (daemon, fence, wake) = (east(), permit.fence, hint.fresh.wake);
        again(&mut w, Input::Report { daemon: daemon.clone(), fence, wake, report: FlightReport::Attempted });
        again(&mut w, claim(ann()));
        let lease = w.image().lease_fence;
        for n in [1, 2] {
            again(&mut w, read(lease, n));
            again(&mut w, finish(lease, n, n, Finish::Complete));
            again(&mut w, respond(lease, n, n, reply(n)));
        }
        again(&mut w, ack(1, By::Station, Some(lease)));
        again(&mut w, Input::Report { daemon, fence, wake, report: ENDED });
        assert_eq!((w.disk().rows.len(), w.disk().mints.len(), w.cursor()), (2, 1, 2));
        let kinds = |kind: fn(&Record) -> bool| w.steps().flat_map(|step| &step.records).filter(|r| kind(r)).count();
        assert_eq!(kinds(|r| matches!(r, Record::TurnFinished { .. })), 2);
        assert_eq!(kinds(|r| matches!(r, Record::Responded { .. })), 2);
        assert_eq!(kinds(|r| matches!(r, Record::WitnessClosed { .. })), 1);
        // The first submission still, after hundreds of others were handled; and what is asked for it is its key.
        let known = w.machine().needs(&mail(2));
        for n in 3..=255 {
            advanced(w.give(mail(n)));
            let lease = w.reading(ann(), n);
            advanced(w.give(respond(lease, n, n, Response::Done)));
        }
        assert_eq!(w.machine().needs(&mail(2)), known);
        let before = w.snapshot();
        absorbed(w.give(mail(2)));
        absorbed(w.give(alert(1)));
        assert_eq!(w.snapshot(), before);
    }
}

#[test]
fn adm_12_the_cause_is_read_inside_the_transaction() {
    let mut w = World::new();
    advanced(w.give(mail(1)));
    let submission = Input::Admit(submitted(own(), "message/1", 2));
    let told = w.all(vec![(claim(ann()), None), (submission, None)]).unwrap();
    let cause = Some(msg(1));
    assert!(
        matches!(&told[1], awakener_kernel::machine::Outcome::Advanced(Event::Admitted { cause: c, .. }) if *c == cause),
        "{told:?}"
    );
}

#[test]
fn adm_7_a_repeat_inside_one_transaction_is_a_repeat() {
    let mut w = World::new();
    let told = w.all(vec![(mail(1), None), (mail(1), None), (mail(2), None::<Facts>)]).unwrap();
    assert!(told[0].is_advanced() && !told[1].is_advanced() && told[2].is_advanced());
    assert_eq!(w.disk().rows.len(), 2);
}

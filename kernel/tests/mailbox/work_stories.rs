//! Work under a lease, results, attempts (INB-3, INB-7 to INB-9, STN-6).

use awakener_kernel::config::Config;
use awakener_kernel::ids::{Fence, Holder};
use awakener_kernel::mailbox::entry::Finished;
use awakener_kernel::mailbox::input::{Event, Facts, Input};
use awakener_kernel::time::Millis;
use awakener_kernel::values::{By, Finish, Response};
use awakener_spec::Reason;
use awakener_tools::enforces;

use crate::cast::*;
use crate::store::Fate;
use crate::world::{World, absorbed, advanced, refused, seq};

fn two_attempts() -> World {
    World::with(Config { attempts: 2, ..Config::default() })
}

/// One attempt that comes to nothing.
fn failing(w: &mut World, n: u8) {
    let fence = w.reading(ann(), n);
    advanced(w.give(Input::Release { fence }));
}

enforces! {
    [Inb7]
    fn inb_7_a_claim_is_idempotent_per_holder_and_shuts_others_out(seen) {
        let mut w = World::new();
        advanced(w.give(mail(1)));
        let fence = w.claimed(ann());
        let before = w.snapshot();
        absorbed(w.give(claim(ann())));
        assert_eq!(refused(w.give(claim(bob()))), Reason::LeaseHeld);
        assert_eq!(w.snapshot(), before);
        seen.refusal(Reason::LeaseHeld);
        w.crash();
        absorbed(w.give(claim(ann())));
        assert_eq!(refused(w.give(claim(bob()))), Reason::LeaseHeld);
        // To the last moment it is hers, then it is his, whether or not a deadline has fired.
        w.tick(Millis(w.config.lease.0 - 1));
        assert_eq!(refused(w.give(claim(bob()))), Reason::LeaseHeld);
        w.tick(Millis(1));
        let new = w.claimed(bob());
        assert!(new > fence);
    }

    [Inb7]
    fn inb_7_a_wait_over_a_crash_is_neither_longer_than_itself_nor_less_than_nothing(_seen) {
        let hour = Millis::seconds(3_600);
        for (set_to, left) in [(DAWN - hour, None), (DAWN, None), (DAWN + hour, Some(Millis(0)))] {
            let mut w = World::new();
            advanced(w.give(mail(1)));
            w.claimed(ann());
            absorbed(w.give(claim(ann())));
            w.crash_to(set_to);
            let left = left.unwrap_or(w.config.lease);
            assert_eq!(w.pass(Millis(hour.0 / 2)), vec![(left, Event::LeaseExpired)], "{set_to:?}");
        }
    }

    [Inb7]
    fn inb_7_a_renewed_lease_lives_on_and_a_released_one_is_free(_seen) {
        let mut w = World::new();
        advanced(w.give(mail(1)));
        let fence = w.claimed(ann());
        absorbed(w.give(claim(ann())));
        for _ in 0..5 {
            w.tick(Millis(w.config.lease.0 - 1));
            assert_eq!(advanced(w.give(Input::Renew { fence })), Event::Renewed);
        }
        assert_eq!(refused(w.give(claim(bob()))), Reason::LeaseHeld);
        advanced(w.give(Input::Release { fence }));
        w.claimed(bob());
    }

    [Inb7]
    fn inb_7_a_stale_token_can_do_nothing_at_all(seen) {
        for n in [1, 2] {
            let mut w = World::new();
            advanced(w.give(alert(1)));
            advanced(w.give(mail(2)));
            let stale = w.reading(ann(), n);
            w.tick(w.config.lease);
            let with = |fence: Fence| [
                Input::Renew { fence },
                Input::Release { fence },
                read(fence, n),
                finish(fence, n, 1, Finish::Complete),
                respond(fence, n, 1, reply(1)),
                ack(1, By::Station, Some(fence)),
                ack(1, By::Agent, Some(fence)),
                ack(1, By::Human, Some(fence)),
            ];
            // Over, but nobody else has it; then somebody else has it.
            for taken in [false, true] {
                if taken {
                    w.claimed(bob());
                }
                let before = w.snapshot();
                for input in with(stale) {
                    assert_eq!(refused(w.give(input.clone())), Reason::LostLease, "{input:?}");
                    assert_eq!(w.snapshot(), before);
                }
            }
            seen.refusal(Reason::LostLease);
            // The control: the same acts under the token that holds.
            let fence = w.image().lease_fence;
            for input in with(fence).into_iter().filter(|i| !matches!(i, Input::Release { .. } | Input::Ack { .. })) {
                assert!(w.give(input.clone()).is_advanced(), "{input:?}");
            }
        }
    }

    [Inb7, Inb9]
    fn inb_7_a_lease_whose_work_is_finished_holds_nobody_up(_seen) {
        for next in [ann(), bob()] {
            let mut w = World::new();
            advanced(w.give(mail(1)));
            let fence = w.claimed(ann());
            absorbed(w.give(claim(ann())));
            advanced(w.give(read(fence, 1)));
            advanced(w.give(respond(fence, 1, 1, Response::Done)));
            advanced(w.give(Input::Renew { fence }));
            assert_eq!(refused(w.give(claim(next.clone()))), Reason::NothingToClaim);
            advanced(w.give(mail(2)));
            assert!(w.claimed(next) > fence);
            assert!(w.image().lease.as_ref().unwrap().claimed.contains_key(&seq(2)));
        }
    }

    [Inb7]
    fn inb_7_a_claim_takes_no_more_than_it_asks_for_and_a_page(_seen) {
        let mut w = World::with(Config { page: 3, ..Config::default() });
        for n in 1..=5 {
            advanced(w.give(mail(n)));
        }
        for (max, taken) in [(1, 1), (2, 2), (50, 3)] {
            let told = w.give(Input::Claim { holder: ann(), max });
            assert!(told.is_advanced());
            absorbed(w.give(claim(ann())));
            let lease = w.image().lease.clone().unwrap();
            assert_eq!(lease.claimed.len(), taken);
            advanced(w.give(Input::Release { fence: lease.fence }));
        }
        assert_eq!(refused(w.give(Input::Claim { holder: ann(), max: 0 })), Reason::NothingToClaim);
    }

    [Inb8, Inb7]
    fn inb_8_lost_answers_to_a_claim_cost_nothing(seen) {
        for first in [alert(1), mail(1)] {
            let mut w = two_attempts();
            advanced(w.give(first));
            for holder in [ann(), bob(), ann(), bob()] {
                // The answer is lost; the lease runs out.
                w.claimed(holder);
                w.pass(w.config.lease);
                assert_eq!(w.attempts(1), 0);
            }
            let fence = w.claimed(ann());
            assert_eq!(advanced(w.give(read(fence, 1))), Event::Read { attempt: 1 });
            absorbed(w.give(read(fence, 1)));
            assert_eq!(w.attempts(1), 1);
            assert_eq!(refused(w.give(read(Fence(1), 1))), Reason::LostLease);
            seen.refusal(Reason::LostLease);
        }
    }

    [Inb8, Inb3, Inb4]
    fn inb_8_mail_is_set_aside_after_its_attempts_and_the_operator_is_told(_seen) {
        let mut w = two_attempts();
        advanced(w.give(mail(1)));
        failing(&mut w, 1);
        assert_eq!((w.cursor(), w.told()), (0, vec![]));
        failing(&mut w, 1);
        assert_eq!((w.cursor(), w.told()), (1, vec![msg(1)]));
        let row = &w.disk().rows[&seq(1)];
        assert!(row.quarantined && row.finished == Some(Finished::Quarantined));
        assert_eq!(refused(w.give(claim(ann()))), Reason::NothingToClaim);
    }

    [Inb8, Ack9]
    fn inb_8_an_alert_is_set_aside_and_its_witness_stays(_seen) {
        let mut w = two_attempts();
        advanced(w.give(alert(1)));
        failing(&mut w, 1);
        failing(&mut w, 1);
        assert_eq!((w.cursor(), w.told()), (0, vec![msg(1)]));
        assert_eq!(w.image().witnesses.len(), 1, "quarantine closes no witness");
        assert_eq!(refused(w.give(claim(ann()))), Reason::NothingToClaim);
        assert_eq!(w.pass(Millis(10 * w.config.escalate.0)), vec![], "no more hints, nothing told twice");
        w.crash();
        w.start();
        assert_eq!(w.pass(Millis(10 * w.config.escalate.0)), vec![]);
        // Its own target may still acknowledge: it was read.
        w.acked(1, By::Agent, None);
        assert_eq!(w.cursor(), 1);
    }

    [Inb8]
    fn inb_8_a_claim_over_a_lease_that_ran_out_finds_what_its_end_leaves(_seen) {
        let mut w = two_attempts();
        advanced(w.give(mail(1)));
        failing(&mut w, 1);
        w.reading(ann(), 1);
        w.tick(w.config.lease);
        // No deadline has fired: the last attempt on 1 is over all the same, and there is nothing else.
        assert_eq!(refused(w.give(claim(bob()))), Reason::NothingToClaim);
        advanced(w.give(mail(2)));
        w.claimed(bob());
        let claimed: Vec<_> = w.image().lease.as_ref().unwrap().claimed.keys().copied().collect();
        assert_eq!(claimed, vec![seq(2)]);
        assert_eq!(w.disk().rows[&seq(1)].finished, Some(Finished::Quarantined));
    }

    [Inb8, Ack3]
    fn inb_8_work_with_a_result_has_one_attempt_more_for_its_ack(_seen) {
        let ready = || {
            let mut w = two_attempts();
            advanced(w.give(alert(1)));
            failing(&mut w, 1);
            let fence = w.worked(ann(), 1);
            advanced(w.give(Input::Release { fence }));
            assert_eq!((w.attempts(1), w.told()), (2, vec![]));
            w
        };
        let mut w = ready();
        let fence = w.reading(ann(), 1);
        w.acked(1, By::Station, Some(fence));
        // Without end it does not go on.
        let mut w = ready();
        failing(&mut w, 1);
        assert_eq!((w.attempts(1), w.told()), (3, vec![msg(1)]));
        assert_eq!(refused(w.give(claim(ann()))), Reason::NothingToClaim);
    }

    [Inb3, Inb9]
    fn inb_3_reading_finishes_nothing_and_each_result_does(_seen) {
        for response in [reply(1), Response::Silence, Response::Done] {
            let mut w = World::new();
            advanced(w.give(mail(1)));
            let fence = w.reading(ann(), 1);
            advanced(w.give(finish(fence, 1, 1, Finish::Complete)));
            assert_eq!((w.cursor(), w.disk().rows[&seq(1)].finished), (0, None));
            advanced(w.give(respond(fence, 1, 1, response)));
            assert_eq!((w.cursor(), w.disk().rows[&seq(1)].finished), (1, Some(Finished::Responded)));
        }
    }

    [Inb3]
    fn inb_3_mail_expires_at_its_age_and_alerts_never(seen) {
        let mut w = World::new();
        advanced(w.give(mail(1)));
        advanced(w.give(alert(2)));
        let expire = |n| Input::Expire { message: msg(n) };
        w.tick(Millis(w.config.message_age.0 - 1));
        absorbed(w.give(expire(1)));
        w.tick(Millis(1));
        // Whoever works on it is let finish.
        let fence = w.claimed(ann());
        absorbed(w.give(expire(1)));
        advanced(w.give(Input::Release { fence }));
        assert_eq!(advanced(w.give(expire(1))), Event::Expired);
        assert_eq!((w.cursor(), w.disk().rows[&seq(1)].finished), (1, Some(Finished::Expired)));
        absorbed(w.give(expire(1)));
        assert_eq!(refused(w.give(expire(2))), Reason::AckWrongTier);
        assert_eq!(refused(w.give(expire(3))), Reason::UnknownMessage);
        seen.refusal(Reason::AckWrongTier);
    }

    [Inb9, Inb7, Inb3]
    fn inb_9_a_result_names_claimed_and_read_work(seen) {
        let mut w = World::new();
        for n in [1, 2] {
            advanced(w.give(mail(n)));
        }
        let Facts::Candidates(mut candidates) = w.facts(&claim(ann())) else { panic!("other facts") };
        candidates.truncate(1);
        advanced(w.give_with(claim(ann()), Facts::Candidates(candidates)));
        let fence = w.image().lease_fence;
        for (n, reason) in [(1, Reason::NotClaimed), (2, Reason::NotClaimed), (9, Reason::UnknownMessage)] {
            for input in [finish(fence, n, 1, Finish::Complete), respond(fence, n, 1, reply(1))] {
                assert_eq!(refused(w.give(input)), reason, "{n}");
                seen.refusal(reason);
            }
        }
        advanced(w.give(read(fence, 1)));
        advanced(w.give(respond(fence, 1, 1, reply(1))));
        assert_eq!(refused(w.give(read(fence, 1))), Reason::AlreadyFinished);
        seen.refusal(Reason::AlreadyFinished);
    }

    [Stn6]
    fn stn_6_a_result_is_idempotent_by_turn_also_after_the_end(seen) {
        for alone in [true, false] {
            let mut w = World::new();
            advanced(w.give(if alone { mail(1) } else { alert(1) }));
            let fence = w.reading(ann(), 1);
            advanced(w.give(respond(fence, 1, 1, reply(1))));
            for round in 0..3 {
                let before = w.snapshot();
                absorbed(w.give(respond(fence, 1, 1, reply(1))));
                for other in [respond(fence, 1, 1, reply(2)), respond(fence, 1, 2, reply(1))] {
                    assert_eq!(refused(w.give(other)), Reason::ResultConflict);
                }
                assert_eq!(w.snapshot(), before);
                match round {
                    0 => drop(advanced(w.give(Input::Release { fence }))),
                    1 => w.crash(),
                    _ => {}
                }
            }
            seen.refusal(Reason::ResultConflict);
        }
    }

    [Stn6]
    fn stn_6_a_turn_ends_in_one_way(seen) {
        let mut w = World::new();
        advanced(w.give(alert(1)));
        let fence = w.reading(ann(), 1);
        advanced(w.give(finish(fence, 1, 1, Finish::Timeout)));
        absorbed(w.give(finish(fence, 1, 1, Finish::Timeout)));
        assert_eq!(refused(w.give(finish(fence, 1, 1, Finish::Complete))), Reason::ResultConflict);
        seen.refusal(Reason::ResultConflict);
        advanced(w.give(finish(fence, 1, 2, Finish::Complete)));
        // Neither is forgotten because another turn ended since.
        absorbed(w.give(finish(fence, 1, 1, Finish::Timeout)));
        assert_eq!(refused(w.give(finish(fence, 1, 1, Finish::Complete))), Reason::ResultConflict);
    }

    [Inb1, Inb2]
    fn inb_1_a_message_its_witness_and_its_number_exist_together_or_not_at_all(_seen) {
        for fate in [Fate::NotDurable, Fate::UnknownLost, Fate::BadWrite, Fate::UnknownKept] {
            let mut w = World::new();
            advanced(w.give(mail(1)));
            let before = w.disk().clone();
            assert_eq!(w.give_to(fate, alert(2)), None);
            if fate == Fate::UnknownKept {
                assert_eq!((w.disk().rows.len(), w.image().witnesses.len()), (2, 1));
                absorbed(w.give(alert(2)));
            } else {
                assert_eq!((w.disk(), w.image()), (&before, &before.image), "{fate:?}");
                advanced(w.give(alert(2)));
            }
            assert_eq!(w.disk().rows.keys().map(|seq| seq.get()).collect::<Vec<_>>(), vec![1, 2]);
        }
    }

    [Inb2]
    fn inb_2_refusals_and_repeats_use_up_no_number(_seen) {
        let mut w = World::new();
        for n in 1..=4 {
            w.registry.open = false;
            refused(w.give(alert(100 + n)));
            w.registry.open = true;
            let told = advanced(w.give(mail(n)));
            assert!(matches!(told, Event::Admitted { seq, .. } if seq.get() == u64::from(n)), "{told:?}");
            absorbed(w.give(mail(n)));
            w.crash();
            w.start();
        }
    }
}

#[test]
fn inb_7_a_holder_that_never_was_has_no_power() {
    let mut w = World::new();
    advanced(w.give(mail(1)));
    for fence in [Fence(0), Fence(1), Fence(u64::MAX)] {
        assert_eq!(refused(w.give(Input::Renew { fence })), Reason::LostLease);
    }
    let holder = Holder::parse("carl").unwrap();
    assert_eq!(w.claimed(holder), Fence(1));
}

//! When hints are minted, and what becomes of them (EMT-1 to EMT-4, ADM-6).

use awakener_kernel::config::Config;
use awakener_kernel::ids::Token;
use awakener_kernel::mailbox::input::{Event, Input};
use awakener_kernel::time::Millis;
use awakener_kernel::values::By;
use awakener_spec::{Class, Reason};
use awakener_tools::enforces;

use crate::cast::*;
use crate::store::Fate;
use crate::world::{Seen, World, absorbed, advanced, refused, seq, withheld};

enforces! {
    [Emt1, Emt3]
    fn emt_3_the_first_hint_is_due_at_once_and_each_next_after_twice_the_pause(_seen) {
        let mut w = World::new();
        advanced(w.give(alert(1)));
        let fired = emissions(w.pass(seconds(24 * 3_600)));
        let at = [0, 30, 90, 210, 450, 930].map(|s| (seconds(s), Event::Minted));
        assert_eq!(fired, at);
    }

    [Emt3, Adm6]
    fn emt_3_a_refused_emission_uses_one_up_and_mints_nothing(seen) {
        type Close = fn(&mut World, bool);
        let table: [(Reason, Close); 3] = [
            (Reason::NotArmed, |w, good| w.registry.armed = good),
            (Reason::Tier0Closed, |w, good| w.registry.open = good),
            (Reason::NotOnRoster, |w, good| {
                if good {
                    w.registry.withdrawn.clear();
                } else {
                    w.registry.withdrawn.insert(mira());
                }
            }),
        ];
        for (reason, set) in table {
            let mut w = World::new();
            advanced(w.give(alert(1)));
            set(&mut w, false);
            assert_eq!(advanced(w.fire()), Event::EmissionRefused(reason));
            assert_eq!((w.published(), w.disk().mints.len()), (None, 0));
            set(&mut w, true);
            let fired = emissions(w.pass(seconds(24 * 3_600)));
            assert_eq!(fired.len(), 5, "{reason}: one of six is gone");
            seen.refusal(reason);
        }
    }

    [Emt3]
    fn emt_3_the_schedule_survives_crashes_and_never_grows(_seen) {
        let mut w = World::new();
        advanced(w.give(alert(1)));
        let mut fired = 0;
        for _ in 0..200 {
            fired += emissions(w.pass(seconds(10))).len();
            w.crash();
            w.start();
        }
        assert_eq!(fired, 6);
    }

    [Emt3, Ack3]
    fn emt_3_no_hint_for_an_alert_that_is_closed_or_for_mail(_seen) {
        let mut w = World::new();
        advanced(w.give(mail(1)));
        assert_eq!(w.pass(seconds(9_999)), vec![]);
        w.alerted(2);
        w.reading(ann(), 2);
        w.acked(2, By::Agent, None);
        assert_eq!(emissions(w.pass(Millis(w.config.lease.0 - 1))), vec![]);
        assert_eq!(withheld(w.sweep()), Class::NotOutstanding);
    }

    [Emt2]
    fn emt_2_nothing_is_minted_before_the_emitter_has_its_epoch(seen) {
        let mut w = World::asleep(Config::default());
        advanced(w.give(alert(1)));
        for _ in 0..3 {
            assert_eq!(w.pass(seconds(60)), vec![]);
            absorbed(w.fire());
            assert_eq!(refused(w.sweep()), Reason::Tier0Closed);
            w.crash();
        }
        seen.refusal(Reason::Tier0Closed);
        assert_eq!(w.disk().mints.len(), 0);
        w.start();
        assert_eq!(advanced(w.fire()), Event::Minted);
    }

    [Emt2, Emt1]
    fn emt_2_each_start_takes_an_epoch_above_everything_known(_seen) {
        let mut w = World::asleep(Config::default());
        let mut last: Option<Token> = None;
        for (floor, epoch) in [(0, 1), (0, 2), (7, 8), (3, 9), (9, 10)] {
            advanced(w.give(Input::Start { floor }));
            assert_eq!(w.image().epoch, epoch);
            advanced(w.give(alert(u8::try_from(epoch).unwrap())));
            let token = w.swept().token;
            assert_eq!((token.epoch(), Some(token) > last), (epoch, true));
            last = Some(token);
            w.crash();
        }
    }

    [Emt2]
    fn emt_2_a_second_start_of_one_boot_is_absorbed_unless_somebody_else_has_the_epoch(_seen) {
        let mut w = World::new();
        absorbed(w.give(Input::Start { floor: 0 }));
        assert_eq!(w.image().epoch, 1);
        advanced(w.give(Input::Start { floor: 1 }));
        assert_eq!(w.image().epoch, 2);
        absorbed(w.give(Input::Start { floor: 1 }));
    }

    [Emt1, Emt2]
    fn emt_1_a_commit_that_fails_skips_or_loses_a_token_and_never_shows_it_twice(_seen) {
        for fate in [Fate::NotDurable, Fate::UnknownLost, Fate::UnknownKept, Fate::BadWrite] {
            let mut w = World::new();
            let first = w.alerted(1).token;
            let fresh = w.entropy();
            assert_eq!(w.give_to(fate, Input::Sweep { fresh }), None);
            w.start();
            let second = w.swept().token;
            assert!(second > first && second.epoch() == 2, "{fate:?}");
        }
    }

    [Emt4]
    fn emt_4_a_failed_publication_is_noted_and_changes_nothing_else(seen) {
        let mut w = World::new();
        let hint = w.alerted(1);
        let before = w.machine().clone();
        for handed_over in [true, false] {
            let told = w.give(Input::Published { wake: hint.fresh.wake, handed_over });
            assert_eq!(advanced(told), Event::Published);
            assert_eq!(w.machine(), &before);
        }
        let unknown = w.give(Input::Published { wake: wake(9_999), handed_over: true });
        assert_eq!(withheld(unknown), Class::Unminted);
        seen.class(Class::Unminted);
    }
}

#[test]
fn emt_1_hints_live_as_long_as_the_limit_says() {
    let mut w = World::new();
    advanced(w.give(alert(1)));
    w.tick(seconds(3));
    advanced(w.fire());
    let hint = w.published().unwrap();
    assert_eq!((hint.time, hint.expires), (w.now.wall, w.now.wall + w.config.hint_ttl));
    assert_eq!(hint.message, msg(1));
    assert_eq!(w.disk().mints[&hint.fresh.wake].seq, seq(1));
}

#[test]
fn emt_1_a_mint_is_durable_before_anybody_sees_the_hint() {
    let mut w = World::new();
    advanced(w.give(alert(1)));
    let fresh = w.entropy();
    assert_eq!(w.give_to(Fate::NotDurable, Input::Fire { fresh }), None);
    assert!(
        w.history.iter().all(|seen| !matches!(seen, Seen::Commit { effects, .. } if !effects.is_empty()))
    );
    assert_eq!(w.disk().mints.len(), 0);
}

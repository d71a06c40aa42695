//! What comes of acts outside the registry: the deny file, other machines, the clock.

use awakener_kernel::config::Config;
use awakener_kernel::machine::Outcome;
use awakener_kernel::operator::{ActName, Class, Denial, Found};
use awakener_kernel::registry::{Effect, Event, Input};
use awakener_kernel::time::{Millis, Now, Wall};
use awakener_spec::Reason;
use awakener_tools::enforces;
use serde_json::json;

use crate::plane::{HOUR, NOW, Plane, act, command_id, message, roster, signed, target, utc};

enforces! {
    [Opr2]
    fn opr_2_a_deny_file_takes_in_what_narrows_once_and_nothing_that_widens(_seen) {
        let mut plane = Plane::live();
        assert!(plane.may_wake());
        let abort =
            Denial::new(act("abort", &json!({})), Some((command_id(900), NOW.wall + HOUR)), NOW.wall).unwrap();
        let read = Denial::read_file(&abort.line());
        assert_eq!(read, std::slice::from_ref(&abort));
        let (outcome, effects) = plane.rig.step(NOW, Input::Deny(abort.clone()), Found::Nothing);
        assert_eq!(outcome, Outcome::Advanced(Event::Denied { act: ActName::Abort }));
        assert_eq!(effects, [Effect::Withdraw { target: target("mira") }]);
        assert!(!plane.may_wake());
        assert_eq!(plane.input(Input::Deny(abort.clone())), Outcome::Absorbed);
        // After the operator has armed again, the old file says nothing new.
        plane.does("install_roster", &roster(HOUR));
        plane.does("arm", &json!({"target": "mira", "until": utc(HOUR)}));
        assert_eq!(plane.input(Input::Deny(abort)), Outcome::Absorbed);
        assert!(plane.may_wake());

        for name in ActName::ALL {
            let act = act(name.name(), &crate::matrix::subject(*name));
            assert_eq!(Denial::new(act, None, NOW.wall).is_ok(), name.class() == Class::Narrow, "{name:?}");
        }
    }
}

enforces! {
    [Opr2]
    fn opr_2_a_deny_file_that_cannot_be_read_stops_everything(_seen) {
        let good = Denial::new(act("disarm", &json!({"target": "mira"})), None, NOW.wall).unwrap().line();
        let torn = &good[..good.len() / 2];
        let widening = good.replace("disarm", "resume");
        for bad in ["garbage", torn, widening.as_str()] {
            let read = Denial::read_file(&format!("{good}{bad}"));
            assert_eq!(read.len(), 2);
            assert_eq!(read[0].act().name(), ActName::Disarm);
            assert_eq!(read[1], Denial::stop_all(), "{bad}");
        }
        assert_eq!(Denial::read_file(""), []);
        let mut plane = Plane::live();
        assert!(plane.input(Input::Deny(Denial::stop_all())).is_advanced());
        assert!(!plane.may_wake());
        plane.does("resume", &json!({}));
        assert!(plane.may_wake());
    }
}

enforces! {
    [Ack9, Inb8, Fus7]
    fn ack_9_inb_8_fus_7_what_others_must_do_is_handed_on(_seen) {
        let mut plane = Plane::live();
        let (mira, alert) = (target("mira"), json!({"target": "mira", "message": message()}));
        let message = message();
        assert_eq!(plane.does("resolve", &alert), [Effect::Resolve { target: mira.clone(), message }]);
        let released = plane.does("release_quarantine", &alert);
        assert_eq!(released, [Effect::ReleaseQuarantine { target: mira.clone(), message }]);
        assert!(plane.rig.machine.armed(&mira, NOW));
        let cleared = plane.does("clear_latch", &json!({"target": "mira"}));
        assert!(!plane.rig.machine.armed(&mira, NOW), "a cleared station works again only under a new grant");
        assert!(matches!(&cleared[..], [Effect::ClearLatch { target, .. }] if *target == mira), "{cleared:?}");
        assert_eq!(plane.does("reanchor", &json!({})), [Effect::Reanchor]);

        let command = plane.command(act("resolve", &alert));
        let gone = plane.rig.step(NOW, Input::Command(signed(command.clone())), Found::Subject(None)).0;
        assert_eq!(gone, Outcome::Refused(Reason::OperatorUnknownSubject));
        let unasked = plane.rig.step(NOW, Input::Command(signed(command)), Found::Nothing).0;
        assert_eq!(unasked, Outcome::Refused(Reason::FactsMissing));
    }
}

enforces! {
    [Emt6]
    fn emt_6_a_clock_that_stepped_back_closes_tier_0_until_it_caught_up_or_was_accepted(_seen) {
        let skew = Config::default().skew;
        let mut plane = Plane::live();
        assert_eq!(plane.input(Input::Clock { observed: NOW.wall - skew }), Outcome::Absorbed);
        assert!(plane.may_wake());
        let back = Input::Clock { observed: NOW.wall - skew - Millis(1) };
        assert_eq!(plane.input(back.clone()), Outcome::Advanced(Event::ClockSteppedBack));
        assert!(!plane.may_wake());
        assert_eq!(plane.input(back.clone()), Outcome::Absorbed);
        assert_eq!(plane.input(Input::Clock { observed: NOW.wall }), Outcome::Advanced(Event::ClockCaughtUp));
        assert!(plane.may_wake());

        // A day back: only a command that is in time by the clock itself can accept it.
        let observed = NOW.wall - Millis(HOUR.0 * 24);
        assert!(plane.input(Input::Clock { observed }).is_advanced());
        let accept = |plane: &mut Plane, not_after: Wall, clock: Wall| {
            let mut command = plane.command(act("accept_clock", &json!({})));
            command.not_after = not_after;
            plane.rig.step(NOW, Input::Command(signed(command)), Found::Clock(clock))
        };
        let (by_store, _) = accept(&mut plane, NOW.wall + Millis::seconds(60), observed);
        assert_eq!(by_store, Outcome::Refused(Reason::OperatorBoundExceeded));
        let (by_clock, effects) = accept(&mut plane, observed + Millis::seconds(60), observed);
        assert!(by_clock.is_advanced(), "{by_clock:?}");
        assert_eq!(effects, [Effect::SetClock(observed)]);
        plane.now = Now { wall: observed, ..NOW };
        assert!(plane.may_wake());
        assert_eq!(plane.tries("accept_clock", &json!({})), Outcome::Refused(Reason::OperatorUnknownSubject));
    }
}

//! What operators do, and what they are told (ACK-9, INB-8).

use awakener_kernel::config::Config;
use awakener_kernel::mailbox::entry::Closed;
use awakener_kernel::mailbox::input::{Event, Input};
use awakener_kernel::time::Millis;
use awakener_kernel::values::{AckOutcome, By};
use awakener_spec::Reason;
use awakener_tools::enforces;

use crate::cast::*;
use crate::world::{World, absorbed, advanced, refused, seq};

fn resolve(n: u8) -> Input {
    Input::Resolve { message: msg(n) }
}

enforces! {
    [Ack9, Inb3, Inb4]
    fn ack_9_an_operator_resolves_an_alert_and_it_is_never_the_targets_ack(seen) {
        let mut w = World::new();
        for n in [1, 2] {
            advanced(w.give(alert(n)));
        }
        advanced(w.give(mail(3)));
        assert_eq!(refused(w.give(resolve(9))), Reason::UnknownMessage);
        assert_eq!(refused(w.give(resolve(3))), Reason::AckWrongTier);
        advanced(w.give(resolve(1)));
        absorbed(w.give(resolve(1)));
        assert_eq!(w.disk().rows[&seq(1)].closed, Some(Closed::OperatorResolved));
        // Neither changes what the other has closed.
        assert_eq!(refused(w.give(ack(1, By::Human, None))), Reason::AlreadyAcknowledged);
        w.reading(ann(), 2);
        w.acked(2, By::Agent, None);
        assert_eq!(refused(w.give(resolve(2))), Reason::AlreadyAcknowledged);
        let closed = Closed::Acknowledged(AckOutcome::Handled, By::Agent, key(By::Agent));
        assert_eq!(w.disk().rows[&seq(2)].closed, Some(closed));
        seen.refusal(Reason::AlreadyAcknowledged);
        assert_eq!(w.cursor(), 2);
    }

    [Ack9]
    fn ack_9_age_is_told_once_and_acknowledges_nothing(_seen) {
        let mut w = World::asleep(Config::default());
        advanced(w.give(alert(1)));
        let escalate = w.config.escalate;
        assert_eq!(w.pass(Millis(escalate.0 - 1)), vec![]);
        // A crash neither hastens nor delays it.
        w.crash();
        assert_eq!(w.pass(Millis(1)), vec![(Millis(1), Event::Escalated)]);
        assert_eq!(w.told(), vec![msg(1)]);
        w.crash();
        assert_eq!(w.pass(Millis(10 * escalate.0)), vec![]);
        assert_eq!((w.cursor(), w.image().witnesses.len()), (0, 1));
        // Nobody is told of what was closed in time.
        advanced(w.give(alert(2)));
        advanced(w.give(resolve(2)));
        assert_eq!(w.pass(escalate), vec![]);
    }

    [Inb8, Emt3]
    fn inb_8_a_released_alert_has_fresh_attempts_and_what_is_left_of_its_hints(seen) {
        let mut w = World::with(Config { attempts: 1, ..Config::default() });
        w.alerted(1);
        let give_back = Input::ReleaseQuarantine { message: msg(1) };
        absorbed(w.give(give_back.clone()));
        let fence = w.reading(ann(), 1);
        advanced(w.give(Input::Release { fence }));
        assert_eq!(refused(w.give(claim(ann()))), Reason::NothingToClaim);
        assert_eq!(advanced(w.give(give_back.clone())), Event::QuarantineReleased);
        absorbed(w.give(give_back));
        assert_eq!((w.attempts(1), w.pass(Millis::seconds(30)).len()), (0, 1));
        let fence = w.reading(ann(), 1);
        advanced(w.give(Input::Release { fence }));
        assert_eq!(w.told(), vec![msg(1)], "set aside anew, told anew");
        assert_eq!(refused(w.give(Input::ReleaseQuarantine { message: msg(9) })), Reason::UnknownMessage);
        seen.refusal(Reason::UnknownMessage);
    }
}

#[test]
fn inb_8_quarantined_mail_is_finished_and_stays_so() {
    let mut w = World::with(Config { attempts: 1, ..Config::default() });
    advanced(w.give(mail(1)));
    let fence = w.reading(ann(), 1);
    advanced(w.give(Input::Release { fence }));
    let give_back = Input::ReleaseQuarantine { message: msg(1) };
    assert_eq!(refused(w.give(give_back)), Reason::AlreadyFinished);
}

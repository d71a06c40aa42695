//! The rows and columns of the golden matrix: how each situation comes about, and what each input is in it.

use awakener_kernel::ids::Fence;
use awakener_kernel::mailbox::input::Input;
use awakener_kernel::time::Millis;
use awakener_kernel::values::{Ack, AckOutcome, By, Finish, FlightEnd, FlightReport, Question, Response};

use crate::cast::*;
use crate::world::{World, advanced};

pub type Stage = fn(&mut World);

pub const SITUATIONS: &[(&str, &str, Stage)] = &[
    ("empty", "nothing was ever sent", |_| {}),
    ("asleep", "an alert is outstanding and the emitter has not started in this boot", |w| {
        advanced(w.give(alert(1)));
        w.crash();
    }),
    ("outstanding", "an alert is outstanding, its first hint is due", |w| {
        advanced(w.give(alert(1)));
    }),
    ("minted", "its first hint was minted", |w| {
        w.alerted(1);
    }),
    ("withdrawn", "minted, then its sender left the roster", |w| {
        w.alerted(1);
        w.registry.withdrawn.insert(mira());
    }),
    ("disarmed", "minted, then the target was disarmed", |w| {
        w.alerted(1);
        w.registry.armed = false;
    }),
    ("closed", "minted, then Tier-0 was closed", |w| {
        w.alerted(1);
        w.registry.open = false;
    }),
    ("permitted", "minted, and daemon east has the permit", |w| {
        let hint = w.alerted(1);
        w.permitted(east(), hint);
    }),
    ("permit_over", "the permit of daemon east ran out unused", |w| {
        let hint = w.alerted(1);
        w.permitted(east(), hint);
        w.tick(w.config.permit);
    }),
    ("flying", "daemon east flies", |w| {
        let hint = w.alerted(1);
        w.flying(east(), hint);
    }),
    ("flight_over", "the longest flight is over and the deadline has not fired", |w| {
        let hint = w.alerted(1);
        w.flying(east(), hint);
        until(w, w.config.flight_max);
    }),
    ("claimed", "ann has claimed the alert", |w| {
        w.alerted(1);
        w.claimed(ann());
    }),
    ("claimed_again", "ann has lost her lease and claimed again: two tokens", |w| {
        w.alerted(1);
        let fence = w.claimed(ann());
        advanced(w.give(Input::Release { fence }));
        w.claimed(ann());
    }),
    ("lease_over", "the lease of ann is over and the deadline has not fired", |w| {
        w.alerted(1);
        w.claimed(ann());
        until(w, w.config.lease);
    }),
    ("read", "ann has read the alert", |w| {
        w.alerted(1);
        w.reading(ann(), 1);
    }),
    ("truncated", "ann's turn was truncated", |w| {
        w.alerted(1);
        let fence = w.reading(ann(), 1);
        advanced(w.give(finish(fence, 1, 1, Finish::Truncated)));
    }),
    ("complete", "ann's turn is complete", |w| {
        w.alerted(1);
        let fence = w.reading(ann(), 1);
        advanced(w.give(finish(fence, 1, 1, Finish::Complete)));
    }),
    ("responded", "and its silence is recorded", |w| {
        w.alerted(1);
        w.worked(ann(), 1);
    }),
    ("responded_lease_over", "recorded, and the lease is released", |w| {
        w.alerted(1);
        let fence = w.worked(ann(), 1);
        advanced(w.give(Input::Release { fence }));
    }),
    ("acknowledged", "the station has acknowledged as handled", |w| {
        w.alerted(1);
        let fence = w.worked(ann(), 1);
        w.acked(1, By::Station, Some(fence));
    }),
    ("resolved", "an operator has resolved the alert", |w| {
        w.alerted(1);
        advanced(w.give(Input::Resolve { message: msg(1) }));
    }),
    ("quarantined", "both attempts are used up", |w| {
        w.alerted(1);
        for _ in 0..2 {
            let fence = w.reading(ann(), 1);
            advanced(w.give(Input::Release { fence }));
        }
    }),
    ("mail", "a message of tier 2 waits", |w| {
        advanced(w.give(mail(1)));
    }),
    ("mail_old", "and is beyond the configured age", |w| {
        advanced(w.give(mail(1)));
        w.tick(w.config.message_age);
    }),
    ("mail_read", "ann has read it", |w| {
        advanced(w.give(mail(1)));
        w.reading(ann(), 1);
    }),
    ("mail_responded", "and its silence is recorded", |w| {
        advanced(w.give(mail(1)));
        w.worked(ann(), 1);
    }),
    ("mail_quarantined", "both attempts are used up", |w| {
        advanced(w.give(mail(1)));
        for _ in 0..2 {
            let fence = w.reading(ann(), 1);
            advanced(w.give(Input::Release { fence }));
        }
    }),
];

/// Time passes up to the very moment, in which nothing has fired yet.
fn until(w: &mut World, length: Millis) {
    w.pass(Millis(length.0 - 1));
    w.tick(Millis(1));
}

pub type Make = fn(&mut World) -> Input;

pub const INPUTS: &[(&str, &str, Make)] = &[
    ("start", "the emitter starts, nothing higher is known outside", |_| Input::Start { floor: 0 }),
    ("start_above", "the emitter starts under a floor of 7", |_| Input::Start { floor: 7 }),
    ("admit_alert", "another alert", |_| alert(2)),
    ("admit_mail", "another message of tier 2", |_| mail(2)),
    ("admit_own_alert", "an alert by the principal that acts for the target", |_| {
        Input::Admit(submitted(own(), "interrupt-alert/1", 2))
    }),
    ("admit_again", "message 1 once more (where there is none: a message)", |w| {
        if w.disk().row(msg(1)).is_some_and(|(_, row)| row.schema.name() == "message") {
            mail(1)
        } else {
            alert(1)
        }
    }),
    ("admit_conflict", "other content under the id of message 1", |_| {
        let mut other = submitted(mira(), "interrupt-alert/1", 1);
        other.content = content(99);
        Input::Admit(other)
    }),
    ("claim_ann", "ann claims", |_| claim(ann())),
    ("claim_bob", "bob claims", |_| claim(bob())),
    ("renew", "the lease is renewed", |w| Input::Renew { fence: fence(w) }),
    ("renew_old_fence", "an old lease is renewed", |w| Input::Renew { fence: old_fence(w) }),
    ("release", "the lease is released", |w| Input::Release { fence: fence(w) }),
    ("read", "the message is read under the lease", |w| read(fence(w), 1)),
    ("read_old_fence", "the message is read under an old lease", |w| read(old_fence(w), 1)),
    ("finish_complete", "turn 1 is complete", |w| finish(fence(w), 1, 1, Finish::Complete)),
    ("finish_truncated", "turn 1 is truncated", |w| finish(fence(w), 1, 1, Finish::Truncated)),
    ("finish_next", "turn 2 is complete", |w| finish(fence(w), 1, 2, Finish::Complete)),
    ("respond_silence", "silence as the result of turn 1", |w| respond(fence(w), 1, 1, Response::Silence)),
    ("respond_reply", "a reply as the result of turn 1", |w| respond(fence(w), 1, 1, reply(1))),
    ("respond_done", "done as the result of turn 1", |w| respond(fence(w), 1, 1, Response::Done)),
    ("respond_old_fence", "a reply under an old lease", |w| respond(old_fence(w), 1, 1, reply(1))),
    ("ack_station", "handled, by the station, under the lease", |w| ack(1, By::Station, Some(fence(w)))),
    ("ack_station_no_fence", "handled, by the station, without a lease", |_| ack(1, By::Station, None)),
    ("ack_station_old_fence", "handled, by the station, under an old lease", |w| {
        ack(1, By::Station, Some(old_fence(w)))
    }),
    ("ack_agent", "handled, by the agent", |_| ack(1, By::Agent, None)),
    ("ack_human_declined", "declined, by a human", |_| Input::Ack {
        ack: Ack { outcome: AckOutcome::Declined, ..statement(1, By::Human, AckOutcome::Handled) },
        fence: None,
    }),
    ("ask_east", "daemon east asks about the wake", |w| ask(w, east())),
    ("ask_west", "daemon west asks about the wake", |w| ask(w, west())),
    ("report_attempted", "an attempt under the last permit", |w| told(w, FlightReport::Attempted)),
    ("report_ended", "its process ended", |w| told(w, ENDED)),
    ("report_never_started", "it never started", |w| told(w, FlightReport::Ended(FlightEnd::NeverStarted))),
    ("sweep", "a daemon asks what is owed", |w| Input::Sweep { fresh: w.entropy() }),
    ("published", "the hint was handed to the broker client", |w| Input::Published {
        wake: last_mint(w).wake,
        handed_over: true,
    }),
    ("resolve", "an operator resolves the message", |_| Input::Resolve { message: msg(1) }),
    ("release_quarantine", "an operator gives the message back", |_| Input::ReleaseQuarantine {
        message: msg(1),
    }),
    ("expire", "the driver says that the message is old", |_| Input::Expire { message: msg(1) }),
    ("fire", "the deadline is looked at", |w| Input::Fire { fresh: w.entropy() }),
];

fn fence(w: &World) -> Fence {
    w.image().lease_fence
}

fn old_fence(w: &World) -> Fence {
    Fence(w.image().lease_fence.0.saturating_sub(1))
}

fn last_mint(w: &World) -> Question {
    let unknown = question(9_999, 1, awakener_kernel::ids::Token::new(1, 9).unwrap());
    w.disk().mints.iter().rfind(|(_, mint)| mint.message == msg(1)).map_or(unknown, |(wake, mint)| Question {
        wake: *wake,
        message: mint.message,
        token: mint.token,
    })
}

fn ask(w: &World, daemon: awakener_kernel::ids::DaemonName) -> Input {
    Input::Ask { daemon, question: last_mint(w) }
}

fn told(w: &World, report: FlightReport) -> Input {
    Input::Report { daemon: east(), fence: w.image().permit_fence, wake: last_mint(w).wake, report }
}

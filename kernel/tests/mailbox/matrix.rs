//! The golden matrix: what each input comes to in each situation, as `spec/machines/mailbox.toml` says.
//!
//! The file is written by this test with `AWAKENER_ACCEPT=1` and reviewed by hand; no rule rests on it alone (CNF-1).

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use awakener_kernel::config::Config;
use awakener_kernel::ids::Fence;
use awakener_kernel::machine::Outcome;
use awakener_kernel::mailbox::input::{Event, Input, Refusal};
use awakener_kernel::time::Millis;
use awakener_kernel::values::{Ack, AckOutcome, By, Finish, FlightEnd, FlightReport, Question, Response};

use crate::cast::*;
use crate::world::{Told, World, advanced};

const HEAD: &str = "\
# The mailbox, seen from outside: what each input comes to in each situation.
#
# Written by `AWAKENER_ACCEPT=1 cargo test -p awakener-kernel --test mailbox matrix` from the kernel and reviewed by
# hand; no rule rests on this file alone (CNF-1). In every situation the message is number 1 of mira's, sent to a
# target with attempts = 2; `fence` is the last token that was given out, `old_fence` the one before it; the wake is
# the last one that was minted for the message.
#
# `situations` says how each came about. Each table of `inputs` lists its outcomes, and the situations in which that is
# the one; every situation stands once in each. An outcome is `advanced <event>`, `absorbed`, `refused <reason>` or
# `withheld <class>`; all but the first leave everything as it was.
";

type Stage = fn(&mut World);

const SITUATIONS: &[(&str, &str, Stage)] = &[
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

type Make = fn(&mut World) -> Input;

const INPUTS: &[(&str, &str, Make)] = &[
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
    Input::Report { fence: w.image().permit_fence, wake: last_mint(w).wake, report }
}

/// An outcome in the words of the file.
pub fn words(told: &Told) -> String {
    let name = |value: serde_json::Value| match value {
        serde_json::Value::String(name) => name,
        serde_json::Value::Object(members) => members.keys().next().cloned().unwrap_or_default(),
        other => panic!("{other}"),
    };
    match told {
        Outcome::Advanced(Event::EmissionRefused(why)) => format!("advanced emission_refused {why}"),
        Outcome::Advanced(event) => format!("advanced {}", name(serde_json::to_value(event).unwrap())),
        Outcome::Absorbed => "absorbed".to_owned(),
        Outcome::Refused(Refusal::Because(reason)) => format!("refused {reason}"),
        Outcome::Refused(Refusal::Withheld(class)) => format!("withheld {class}"),
    }
}

/// Every outcome of every input, with the situations in which it is the one.
type Cells = Vec<BTreeMap<String, Vec<&'static str>>>;

fn cells() -> Cells {
    let cell = |(name, _, make): &(&str, &str, Make), (situation, _, stage): &(&str, &str, Stage)| {
        let mut world = World::with(Config { attempts: 2, ..Config::default() });
        stage(&mut world);
        let input = make(&mut world);
        let before = world.snapshot();
        let told = world.give(input);
        if !told.is_advanced() {
            assert_eq!(world.snapshot(), before, "{situation}: {name} is {told:?} and changed something");
        }
        words(&told)
    };
    INPUTS
        .iter()
        .map(|input| {
            let mut by_outcome: BTreeMap<String, Vec<&'static str>> = BTreeMap::new();
            for situation in SITUATIONS {
                by_outcome.entry(cell(input, situation)).or_default().push(situation.0);
            }
            by_outcome
        })
        .collect()
}

fn text(cells: &Cells) -> String {
    let mut text = HEAD.to_owned();
    text.push_str("\n[situations]\n");
    for (situation, about, _) in SITUATIONS {
        writeln!(text, "{situation} = \"{about}\"").unwrap();
    }
    for ((name, about, _), by_outcome) in INPUTS.iter().zip(cells) {
        write!(text, "\n# {about}\n[inputs.{name}]\n").unwrap();
        for (outcome, situations) in by_outcome {
            writeln!(text, "\"{outcome}\" = [").unwrap();
            for line in situations.chunks(5) {
                writeln!(text, "    \"{}\",", line.join("\", \"")).unwrap();
            }
            text.push_str("]\n");
        }
    }
    text
}

#[test]
fn matrix_is_the_one_in_the_spec() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../spec/machines/mailbox.toml");
    let now = text(&cells());
    if std::env::var_os("AWAKENER_ACCEPT").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, &now).unwrap();
    }
    let golden = std::fs::read_to_string(&path).unwrap_or_default();
    toml::from_str::<toml::Table>(&golden).expect("a file that parses");
    let different: Vec<String> = golden
        .lines()
        .zip(now.lines())
        .enumerate()
        .filter(|(_, (then, now))| then != now)
        .map(|(at, (then, now))| format!("line {}: {then}  is now  {now}", at + 1))
        .take(20)
        .collect();
    assert!(golden == now, "spec/machines/mailbox.toml differs:\n{}", different.join("\n"));
}

/// The positive control of the comparison: each input does something somewhere, and is turned down somewhere.
#[test]
fn matrix_has_no_input_with_one_outcome_only() {
    for ((name, ..), by_outcome) in INPUTS.iter().zip(cells()) {
        let outcomes: Vec<&str> = by_outcome.keys().map(String::as_str).collect();
        let never = ["admit_own_alert", "ack_station_no_fence", "ack_station_old_fence"];
        if !never.contains(name) && !name.ends_with("_old_fence") {
            assert!(outcomes.iter().any(|o| o.starts_with("advanced")), "{name} never does anything");
        }
        let always = ["admit_mail", "start_above"];
        if !always.contains(name) {
            assert!(outcomes.iter().any(|o| !o.starts_with("advanced")), "{name} is never turned down");
        }
    }
}

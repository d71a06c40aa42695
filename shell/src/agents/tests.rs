//! The golden tables of the judgement: every condition alone, with each kind of waiting work, and what outweighs what.
//!
//! To write them anew: `INSTA_UPDATE=always cargo test -p awakener --lib agents`, and look at what changed.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use awakener_kernel::config::Config;
use awakener_kernel::fuse::{self, Reading, Trip};
use awakener_kernel::ids::{ContentHash, Fence, MessageId, Target};
use awakener_kernel::station::{LatchCause, PhaseName, RefusedCause};
use awakener_kernel::time::{Millis, Wall};
use awakener_kernel::values::DispatchOutcome;
use awakener_kernel::waker::{Capability, Missing, Notice, Phase};
use awakener_tools::enforces;
use serde_json::json;

use super::facts::{
    Facts, FileFacts, FlightFacts, FuseLimits, LatchFact, PlaneFacts, RosterFact, Shut, Source, StationFacts,
    WakeFacts, WakerFacts,
};
use super::{Cause, State, judge, next, row, waits_for};
use crate::http::wire::status::{LeaseStatus, OutstandingAlert, PermitStatus, TargetStatus};

const NOW: Wall = Wall(1_800_000_000_000);

fn ago(ms: u64) -> Wall {
    Wall(NOW.0 - ms)
}

fn message(n: u8) -> MessageId {
    MessageId::from_parts(NOW.0, [n; 10])
}

fn lotse() -> Target {
    Target::parse("lotse").unwrap()
}

/// What waits.
#[derive(Clone, Copy, Debug)]
enum Work {
    Nothing,
    Mail,
    Alert,
}

/// An agent that nothing keeps from anything: armed, on the roster, served, with a station or without.
pub(crate) fn facts(hosted: bool) -> Facts {
    let mail = TargetStatus {
        target: lotse(),
        last: 3,
        cursor: 3,
        outstanding: Vec::new(),
        lease: None,
        permit: None,
        armed: true,
        paused: false,
        granted_until: Some((NOW + Millis::seconds(3_600)).utc()),
        queued: Vec::new(),
    };
    let plane = PlaneFacts {
        running: true,
        shut: None,
        stopped: false,
        fleet_pause: None,
        pause: None,
        grant: Some(NOW + Millis::seconds(3_600)),
        roster: RosterFact::Listed,
        can_ack: true,
        mail,
        unread: 0,
        answered: None,
        attempts_limit: 5,
        emissions_limit: 6,
    };
    let waker = WakerFacts {
        target: lotse(),
        phase: Phase::Resting,
        since: ago(60_000),
        held_by: None,
        capability: Some(Capability::Unattended),
        paused: false,
        flight: None,
        rests_ms: 0,
        cooldown_ms: 30_000,
        failures: 0,
        last_outcome: None,
    };
    let station = StationFacts {
        target: lotse(),
        phase: PhaseName::Armed,
        since: ago(120_000),
        refused_by: None,
        latch: None,
        turn: None,
        rests_until: None,
        turns: Reading { hour: 3, day: 10, boot: 3 },
        limits: FuseLimits { turns_per_hour: 30, turns_per_day: 200, turns_per_boot: 100 },
    };
    let files = FileFacts { state: "/var/lib/it's".to_owned(), latch: None, stop_all: false, pause: false };
    Facts {
        target: lotse(),
        now: NOW,
        plane: Source::Known(plane),
        files: Source::Known(files),
        wake: Source::Known(WakeFacts {
            daemon: "local".to_owned(),
            plane_reachable: true,
            waker: Some(waker),
        }),
        station: if hosted { Source::Known(station) } else { Source::Absent },
    }
}

fn with(work: Work, hosted: bool) -> Facts {
    let mut facts = facts(hosted);
    match work {
        Work::Nothing => {}
        Work::Mail => plane(&mut facts, |plane| plane.unread = 2),
        Work::Alert => plane(&mut facts, |plane| {
            plane.unread = 1;
            plane.mail.outstanding.push(OutstandingAlert {
                seq: 4,
                message: message(1),
                opened: ago(300_000),
                age_ms: 300_000,
                emissions: 0,
                attempts: 0,
                escalated: false,
                quarantined: false,
            });
        }),
    }
    facts
}

fn plane(facts: &mut Facts, change: impl FnOnce(&mut PlaneFacts)) {
    if let Source::Known(plane) = &mut facts.plane {
        change(plane);
    }
}

fn files(facts: &mut Facts, change: impl FnOnce(&mut FileFacts)) {
    if let Source::Known(files) = &mut facts.files {
        change(files);
    }
}

fn waker(facts: &mut Facts, change: impl FnOnce(&mut WakerFacts)) {
    if let Source::Known(WakeFacts { waker: Some(waker), .. }) = &mut facts.wake {
        change(waker);
    }
}

fn station(facts: &mut Facts, change: impl FnOnce(&mut StationFacts)) {
    if let Source::Known(station) = &mut facts.station {
        change(station);
    }
}

fn phase(name: PhaseName) -> impl Fn(&mut Facts) {
    move |facts| station(facts, |station| station.phase = name)
}

fn shut(why: Shut) -> impl Fn(&mut Facts) {
    move |facts| plane(facts, |plane| plane.shut = Some(why))
}

fn roster(fact: RosterFact) -> impl Fn(&mut Facts) {
    move |facts| plane(facts, |plane| plane.roster = fact)
}

fn alert(change: fn(&mut OutstandingAlert)) -> impl Fn(&mut Facts) {
    move |facts| plane(facts, |plane| plane.mail.outstanding.iter_mut().for_each(change))
}

fn flight(phase: Phase, notice: Notice) -> impl Fn(&mut Facts) {
    move |facts| {
        waker(facts, |waker| {
            waker.phase = phase;
            waker.flight =
                Some(FlightFacts { message: message(1), started: ago(20_000), notice, read: false });
        });
    }
}

fn latch(clearing: bool) -> LatchFact {
    let trip = Trip::Hour { turns: 30, limit: 30 };
    let cause = LatchCause::Tripped { message: message(1), trip };
    LatchFact { at: Some(ago(90_000)), cause: Some(cause), clearing }
}

fn failed(outcome: Option<DispatchOutcome>) -> impl Fn(&mut Facts) {
    move |facts| {
        waker(facts, |waker| {
            (waker.failures, waker.rests_ms, waker.last_outcome) = (2, 60_000, outcome);
        });
    }
}

type Change = Box<dyn Fn(&mut Facts)>;

/// Everything that can be the case beside the ordinary.
fn conditions() -> Vec<(&'static str, Change)> {
    fn of(name: &'static str, change: impl Fn(&mut Facts) + 'static) -> (&'static str, Change) {
        (name, Box::new(change))
    }
    let why = || "it did not answer in time".to_owned();
    vec![
        of("ordinary", |_| {}),
        of("plane unread", move |facts| facts.plane = Source::Unread(why())),
        of("plane down", |facts| plane(facts, |plane| plane.running = false)),
        of("latch file", |facts| files(facts, |files| files.latch = Some(latch(false)))),
        of("latch file unreadable", |facts| {
            files(facts, |files| files.latch = Some(LatchFact { at: None, cause: None, clearing: false }));
        }),
        of("station latched", |facts| {
            station(facts, |station| {
                (station.phase, station.latch) = (PhaseName::LatchedDown, Some(latch(false)))
            });
        }),
        of("latch clearing", |facts| {
            station(facts, |station| {
                (station.phase, station.latch) = (PhaseName::LatchedDown, Some(latch(true)))
            });
        }),
        of("station refused", |facts| {
            station(facts, |station| {
                station.phase = PhaseName::Refused;
                station.refused_by = Some(vec![RefusedCause::AuditUnavailable]);
            });
        }),
        of("quarantined", alert(|alert| alert.quarantined = true)),
        of("waking", phase(PhaseName::Waking)),
        of("reading", phase(PhaseName::Reading)),
        of("cognizing", phase(PhaseName::Cognizing)),
        of("acking", phase(PhaseName::Acking)),
        of("synced", phase(PhaseName::Synced)),
        of("lease held", |facts| {
            plane(facts, |plane| {
                plane.mail.lease = Some(LeaseStatus {
                    holder: "pane".to_owned(),
                    fence: Fence(7),
                    at: ago(9_000),
                    claimed: 1,
                });
            });
        }),
        of("dispatch under way", flight(Phase::Attempting, Notice::Attempting)),
        of("runtime told", flight(Phase::Told, Notice::Told)),
        of("person told", |facts| {
            flight(Phase::Told, Notice::Told)(facts);
            waker(facts, |waker| waker.capability = Some(Capability::Attended));
        }),
        of("dispatch unknown", flight(Phase::Unknown, Notice::Unknown)),
        of("fate unknown", flight(Phase::Resolving, Notice::Told)),
        of("files unread", move |facts| facts.files = Source::Unread(why())),
        of("stopped", |facts| plane(facts, |plane| plane.stopped = true)),
        of("stop-all file", |facts| files(facts, |files| files.stop_all = true)),
        of("fleet paused", |facts| {
            plane(facts, |plane| plane.fleet_pause = Some(NOW + Millis::seconds(600)))
        }),
        of("paused", |facts| plane(facts, |plane| plane.pause = Some(NOW + Millis::seconds(600)))),
        of("pause file", |facts| files(facts, |files| files.pause = true)),
        of("daemon paused", |facts| waker(facts, |waker| waker.paused = true)),
        of("not armed", |facts| plane(facts, |plane| plane.grant = None)),
        of("grant over", |facts| plane(facts, |plane| plane.grant = Some(ago(5_000)))),
        of("start not on record", shut(Shut::NotStarted)),
        of("manifest refused", shut(Shut::ManifestRefused)),
        of("chain broken", shut(Shut::ChainBroken)),
        of("chain walked", shut(Shut::ChainWalked)),
        of("clock behind", shut(Shut::ClockBehind)),
        of("no roster", roster(RosterFact::Absent)),
        of("roster malformed", roster(RosterFact::Malformed)),
        of("roster over", roster(RosterFact::Expired(ago(7_000)))),
        of("not on the roster", roster(RosterFact::NotListed)),
        of("no ACK key", |facts| plane(facts, |plane| plane.can_ack = false)),
        of("no station running", |facts| {
            if facts.hosted() {
                facts.station = Source::Silent;
            }
        }),
        of("station unread", |facts| {
            if facts.hosted() {
                facts.station = Source::Unread("its answer is too long".to_owned());
            }
        }),
        of("station dark", phase(PhaseName::Dark)),
        of("fuse hour used up", |facts| station(facts, |station| station.turns.hour = 30)),
        of("fuse day used up", |facts| station(facts, |station| station.turns.day = 200)),
        of("fuse boot used up", |facts| station(facts, |station| station.turns.boot = 100)),
        of("result without ACK", |facts| {
            plane(facts, |plane| {
                plane.answered = plane.mail.outstanding.first().map(|alert| alert.message);
            });
        }),
        of("no daemon configured", |facts| facts.wake = Source::Absent),
        of("no daemon running", |facts| facts.wake = Source::Silent),
        of("daemon unread", |facts| facts.wake = Source::Unread("it broke off".to_owned())),
        of("daemon cut off", |facts| {
            if let Source::Known(wake) = &mut facts.wake {
                wake.plane_reachable = false;
            }
        }),
        of("not served", |facts| {
            if let Source::Known(wake) = &mut facts.wake {
                wake.waker = None;
            }
        }),
        of("not in the manifest", |facts| waker(facts, |waker| waker.capability = None)),
        of("no adapter", |facts| {
            waker(facts, |waker| waker.capability = Some(Capability::Missing(Missing::NoAdapter)));
        }),
        of("no tier0_ack", |facts| {
            waker(facts, |waker| waker.capability = Some(Capability::Missing(Missing::NoTier0Ack)));
        }),
        of("adapter unavailable", failed(Some(DispatchOutcome::Unavailable))),
        of("escalated", alert(|alert| alert.escalated = true)),
        of("work rests", |facts| {
            station(facts, |station| station.rests_until = Some((NOW + Millis::seconds(40)).utc()));
        }),
        of("runtime busy", failed(Some(DispatchOutcome::RefusedBusy))),
        of("back-off", failed(None)),
        of("cooldown", |facts| waker(facts, |waker| waker.rests_ms = 12_000)),
        of("permit held", |facts| {
            plane(facts, |plane| {
                plane.mail.permit = Some(PermitStatus {
                    daemon: "other".to_owned(),
                    fence: Fence(3),
                    wake: "019ae3c0-0000-7000-8000-000000000001".parse().unwrap(),
                    flying: false,
                    at: ago(4_000),
                });
            });
        }),
        of("permit asked", |facts| waker(facts, |waker| waker.phase = Phase::Asking)),
        of("start due", |facts| waker(facts, |waker| waker.phase = Phase::Waiting)),
        of("held by the host", |facts| {
            waker(facts, |waker| {
                (waker.phase, waker.held_by) = (Phase::Waiting, Some(json!("host_full")));
            });
        }),
        of("hint out", alert(|alert| alert.emissions = 1)),
        of("hints used up", alert(|alert| alert.emissions = 6)),
    ]
}

fn name(of: impl serde::Serialize) -> String {
    serde_json::to_value(of).unwrap().as_str().unwrap().to_owned()
}

fn clock(at: Option<Wall>) -> String {
    at.map_or("-".to_owned(), |at| {
        if at <= NOW {
            format!("-{}s", (NOW.0 - at.0) / 1_000)
        } else {
            format!("+{}s", (at.0 - NOW.0) / 1_000)
        }
    })
}

enforces! {
    [Why1, Con1] fn why_1_each_condition_alone_has_one_answer(_seen) {
        let mut table = String::new();
        let mut before = String::new();
        for (condition, change) in conditions() {
            for hosted in [true, false] {
                for work in [Work::Nothing, Work::Mail, Work::Alert] {
                    let mut facts = with(work, hosted);
                    let ordinary = condition == "ordinary" || {
                        let plain = judge(&facts);
                        change(&mut facts);
                        plain != judge(&facts)
                    };
                    // What makes no difference is not shown.
                    if !ordinary {
                        continue;
                    }
                    let verdict = judge(&facts);
                    let lane = if hosted { "hosted" } else { "attached" };
                    let said = format!(
                        "    {}, {}, since {}, until {}\n    waits for {}\n    next {}\n",
                        name(verdict.cause),
                        verdict.cause.rule(),
                        clock(verdict.since),
                        clock(verdict.until),
                        waits_for(&facts, &verdict),
                        next(&facts, &verdict).unwrap_or_else(|| "-".to_owned()),
                    );
                    let work = format!("{work:?}").to_lowercase();
                    writeln!(table, "{condition} | {lane} | {work} | {}", name(verdict.state)).unwrap();
                    if said != before {
                        table += &said;
                    }
                    before = said;
                }
            }
        }
        insta::assert_snapshot!("alone", table);
    }

    [Why1] fn why_1_of_two_conditions_the_one_to_mend_first_is_named(_seen) {
        let all = conditions();
        let (mut exceptions, mut judged) = (String::new(), 0);
        let causes = |hosted: bool, changes: &[&Change]| {
            let mut facts = with(Work::Alert, hosted);
            changes.iter().for_each(|change| change(&mut facts));
            judge(&facts).cause
        };
        for hosted in [true, false] {
            let ordinary = causes(hosted, &[]);
            for (at, (one, first)) in all.iter().enumerate() {
                let own = causes(hosted, &[first]);
                for (other, second) in all.iter().skip(at + 1) {
                    let both = (causes(hosted, &[first, second]), causes(hosted, &[second, first]));
                    // Where the order of telling matters they cannot hold together; where one changes nothing there
                    // is nothing to choose.
                    if both.0 != both.1 || own == ordinary || causes(hosted, &[second]) == ordinary {
                        continue;
                    }
                    judged += 1;
                    if both.0 != own {
                        let lane = if hosted { "hosted" } else { "attached" };
                        writeln!(exceptions, "{lane} | {one} + {other} = {}", name(both.0)).unwrap();
                    }
                }
            }
        }
        assert!(judged > 1_500, "{judged}");
        // The earlier in the list is named, but for these.
        insta::assert_snapshot!("pairs", exceptions);
    }

    [Con1, Why1] fn con_1_what_could_not_be_read_is_never_rest(_seen) {
        type Hide = fn(&mut Facts);
        let missing: [(&str, Hide); 6] = [
            ("files", |facts| facts.files = Source::Unread(String::new())),
            ("wake", |facts| facts.wake = Source::Unread(String::new())),
            ("wake", |facts| facts.wake = Source::Silent),
            ("station", |facts| facts.station = Source::Unread(String::new())),
            ("station", |facts| facts.station = Source::Silent),
            ("plane", |facts| facts.plane = Source::Unread(String::new())),
        ];
        let mut rested = 0;
        for (_, change) in conditions() {
            for hosted in [true, false] {
                for work in [Work::Nothing, Work::Mail, Work::Alert] {
                    let mut known = with(work, hosted);
                    change(&mut known);
                    rested += u32::from(judge(&known).state == State::Idle);
                    for (part, hide) in missing {
                        let mut facts = known.clone();
                        hide(&mut facts);
                        let row = row(&facts);
                        assert_ne!(row.state, State::Idle, "{facts:?}");
                        let named: Vec<&str> =
                            row.could_not_read.iter().filter_map(|unread| unread.part.rsplit('.').next()).collect();
                        assert!(named.contains(&part), "{part} is not in {named:?}");
                        if part == "plane" {
                            assert_eq!((row.unread, row.outstanding, row.plane), (None, None, None));
                        }
                        if part == "station" {
                            assert_eq!(row.phase, None);
                            assert!(!row.counters.iter().any(|counter| counter.of == "station"));
                        }
                    }
                }
            }
        }
        assert!(rested > 10, "control: what is known does rest");
    }
}

enforces! {
    [Aud8, Fus2] fn aud_8_what_is_shown_of_the_fuse_is_what_it_judges(_seen) {
        let work = fuse::Work {
            message: message(1),
            normal: ContentHash([1; 32]),
            depth: 0,
            descends_from_own: false,
            ancestry: Vec::new(),
        };
        let config = Config { turns_per_hour: 3, turns_per_day: 5, turns_per_boot: 4, ..Config::default() };
        let mut counters = fuse::Counters::default();
        let mut trips = 0;
        for turn in 0..6 {
            let mut facts = with(Work::Alert, true);
            station(&mut facts, |station| {
                station.turns = counters.reading(NOW);
                station.limits = FuseLimits {
                    turns_per_hour: config.turns_per_hour,
                    turns_per_day: config.turns_per_day,
                    turns_per_boot: config.turns_per_boot,
                };
            });
            let row = row(&facts);
            let tripped = fuse::judge(&config, &counters, NOW, &work).is_err();
            trips += u32::from(tripped);
            assert_eq!(row.cause == Cause::FuseUsedUp, tripped, "before turn {turn}");
            let shown = |name: &str| {
                let found = row.counters.iter().find(|counter| counter.name == name).unwrap();
                (found.value, found.limit.unwrap())
            };
            assert_eq!(shown("turns_per_hour"), (turn, 3));
            assert_eq!((shown("turns_per_day"), shown("turns_per_boot")), ((turn, 5), (turn, 4)));
            counters.raise(NOW, &work);
        }
        assert_eq!(trips, 3);
    }
}

#[test]
fn why_1_every_cause_can_be_reached_and_none_says_too_much() {
    let all = conditions();
    let mut reached = BTreeSet::new();
    for hosted in [true, false] {
        for work in [Work::Nothing, Work::Mail, Work::Alert] {
            for (_, change) in &all {
                let mut facts = with(work, hosted);
                change(&mut facts);
                let verdict = judge(&facts);
                reached.insert(verdict.cause);
                let words = waits_for(&facts, &verdict);
                assert!(words.len() <= 88 && !words.ends_with('.') && !words.contains('"'), "{words}");
                let acts = next(&facts, &verdict).is_some();
                match verdict.state {
                    // Whoever is asked to act is told how.
                    State::NeedsInput | State::Failed | State::Unknown => {
                        assert!(acts || verdict.cause == Cause::DaemonPaused, "{verdict:?}");
                    }
                    State::Working | State::Idle => {}
                }
            }
        }
    }
    let missed: Vec<&Cause> = Cause::ALL.iter().filter(|cause| !reached.contains(*cause)).collect();
    assert!(missed.is_empty(), "{missed:?}");
}

/// The commands of all conditions, for the test that reads them as the program does.
pub(crate) fn commands() -> BTreeSet<String> {
    let mut commands = BTreeSet::new();
    for hosted in [true, false] {
        for work in [Work::Nothing, Work::Mail, Work::Alert] {
            for (_, change) in conditions() {
                let mut facts = with(work, hosted);
                change(&mut facts);
                commands.extend(next(&facts, &judge(&facts)));
            }
        }
    }
    commands
}

/// Every row that the golden table is about, for the test that lays it out.
pub(crate) fn rows() -> Vec<crate::http::wire::agents::Agent> {
    let mut rows = Vec::new();
    for hosted in [true, false] {
        for work in [Work::Nothing, Work::Mail, Work::Alert] {
            for (_, change) in conditions() {
                let mut facts = with(work, hosted);
                change(&mut facts);
                rows.push(row(&facts));
            }
        }
    }
    rows
}

//! The machine as a table: one state of each phase is shown one input of each class, and what comes of it must be
//! what `spec/machines/waker.toml` says. The file is written by hand; the snapshot is the same for the eye.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use awakener_kernel::config::Config;
use awakener_kernel::machine::Outcome;
use awakener_kernel::time::{Millis, Wall};
use awakener_kernel::values::{Answer, DispatchOutcome, FlightEnd, Hint};
use awakener_kernel::waker::{Capability, Effect, Event, Fate, Input, Missing, Next, Phase, Ticket};
use awakener_spec::Class;

use crate::rig::{Rig, Seen, hint, name};
use crate::stories::{MINUTE, SECOND};

type Table = BTreeMap<String, BTreeMap<String, String>>;

/// A waker in some phase, with the tickets that are out. One hint was accepted long ago, one sweep is out.
#[derive(Clone)]
struct Stage {
    rig: Rig,
    question: Ticket,
    dispatch: Ticket,
    probe: Ticket,
    sweep: Ticket,
}

const NONE: Ticket = Ticket { boot: 0, number: 0 };

impl Stage {
    fn give(&mut self, input: Input) -> Seen {
        let seen = self.rig.give(input);
        self.note(&seen);
        seen
    }

    fn note(&mut self, seen: &Seen) {
        for effect in &seen.effects {
            match effect {
                Effect::Ask { ticket, .. } => self.question = *ticket,
                Effect::Dispatch { ticket, .. } => self.dispatch = *ticket,
                Effect::Probe { ticket, .. } => self.probe = *ticket,
                Effect::Sweep { ticket } => self.sweep = *ticket,
                Effect::Report { .. } | Effect::TellOperator(_) => {}
            }
        }
    }

    fn settle(&mut self) {
        for seen in self.rig.settle() {
            self.note(&seen);
        }
    }

    fn hint(&mut self) {
        let hint = self.rig.mint(30 * SECOND);
        self.give(Input::Hint(hint));
    }

    fn grant(&mut self) {
        let seen = self.rig.grant(self.question);
        self.note(&seen);
    }

    fn resting() -> Self {
        let rig = Rig::new(Config::default());
        let mut stage = Self { rig, question: NONE, dispatch: NONE, probe: NONE, sweep: NONE };
        stage.give(Input::Capability(Capability::Unattended));
        stage.hint();
        stage.grant();
        stage.give(Input::FlightEnded { attempt: 1, end: FlightEnd::WorkFinished });
        stage.rig.wait(MINUTE);
        stage.settle();
        stage
    }

    fn in_phase(phase: Phase) -> Self {
        let mut stage = Self::resting();
        if phase == Phase::Resting {
            return stage;
        }
        stage.hint();
        if phase == Phase::Asking {
            return stage;
        }
        match phase {
            Phase::Waiting | Phase::Renewing => {
                stage.give(Input::Capability(Capability::Missing(Missing::NoAdapter)));
                stage.grant();
                stage.give(Input::Capability(Capability::Unattended));
            }
            Phase::Attempting | Phase::Told | Phase::Unknown | Phase::Resolving => stage.grant(),
            Phase::Resting | Phase::Asking => unreachable!(),
        }
        let ticket = stage.dispatch;
        match phase {
            Phase::Renewing => stage.settle(),
            Phase::Told => {
                stage.give(Input::Dispatched { ticket, outcome: DispatchOutcome::NotifiedVerified });
            }
            Phase::Unknown => {
                stage.give(Input::Dispatched { ticket, outcome: DispatchOutcome::OutcomeUnknown });
            }
            Phase::Resolving => {
                stage.rig.crash(SECOND, 7);
                stage.give(Input::Capability(Capability::Unattended));
                stage.settle();
            }
            Phase::Resting | Phase::Asking | Phase::Waiting | Phase::Attempting => {}
        }
        stage
    }

    fn old_hint(&self, number: u64) -> Hint {
        hint(number, self.rig.now.wall, 30 * SECOND)
    }

    /// Fires at each deadline until one is not a mere sweep; nothing else comes in `Resting`.
    fn fire_beyond_sweeps(&mut self) -> Seen {
        let mut seen = self.rig.fire();
        for _ in 0..20 {
            if seen.event() != Event::Sweeping {
                break;
            }
            seen = self.rig.fire();
        }
        seen
    }
}

type Show = fn(&mut Stage) -> Seen;

fn dispatched(stage: &mut Stage, outcome: DispatchOutcome) -> Seen {
    stage.give(Input::Dispatched { ticket: stage.dispatch, outcome })
}

fn probed(stage: &mut Stage, fate: Fate) -> Seen {
    stage.give(Input::Probed { ticket: stage.probe, fate })
}

fn withheld(stage: &mut Stage, class: Class) -> Seen {
    stage.give(Input::Answer { ticket: stage.question, answer: Answer::Withheld(class) })
}

const INPUTS: &[(&str, Show)] = &[
    ("hint", |s| {
        let hint = s.rig.mint(30 * SECOND);
        s.give(Input::Hint(hint))
    }),
    ("hint_stale", |s| s.give(Input::Hint(hint(900, Wall(0), 1)))),
    ("hint_replay", |s| s.give(Input::Hint(s.old_hint(1)))),
    ("hint_regression", |s| s.give(Input::Hint(Hint { nonce: s.old_hint(901).nonce, ..s.old_hint(1) }))),
    ("hint_window_full", |s| {
        s.rig.config.nonce_history = u32::try_from(s.rig.disk.image.window.len()).unwrap();
        s.rig.config.skew = Millis(60 * MINUTE);
        s.give(Input::Hint(s.old_hint(902)))
    }),
    ("answer_granted", |s| s.rig.grant(s.question)),
    ("answer_granted_expired", |s| {
        s.rig.now.wall = s.rig.now.wall + Millis(30 * SECOND);
        s.rig.grant(s.question)
    }),
    ("answer_withheld", |s| withheld(s, Class::NotOutstanding)),
    ("answer_permit_held", |s| withheld(s, Class::PermitHeld)),
    ("answer_late", |s| s.rig.grant(NONE)),
    ("ask_failed", |s| s.give(Input::AskFailed { ticket: s.question })),
    ("sweep_failed", |s| s.give(Input::AskFailed { ticket: s.sweep })),
    ("swept", |s| s.give(Input::Swept { ticket: s.sweep, any: false })),
    ("swept_late", |s| s.give(Input::Swept { ticket: NONE, any: false })),
    ("dispatched_told", |s| dispatched(s, DispatchOutcome::NotifiedVerified)),
    ("dispatched_unknown", |s| dispatched(s, DispatchOutcome::OutcomeUnknown)),
    ("dispatched_nothing", |s| dispatched(s, DispatchOutcome::Unavailable)),
    ("dispatched_late", |s| {
        s.give(Input::Dispatched { ticket: NONE, outcome: DispatchOutcome::NotifiedVerified })
    }),
    ("probed_alive", |s| probed(s, Fate::Alive)),
    ("probed_cannot_tell", |s| probed(s, Fate::CannotTell)),
    ("probed_gone", |s| probed(s, Fate::Gone)),
    ("probed_late", |s| s.give(Input::Probed { ticket: NONE, fate: Fate::Gone })),
    ("flight_ended", |s| s.give(Input::FlightEnded { attempt: 2, end: FlightEnd::Idle })),
    ("flight_ended_expired", |s| s.give(Input::FlightEnded { attempt: 2, end: FlightEnd::Expired })),
    ("flight_ended_late", |s| s.give(Input::FlightEnded { attempt: 1, end: FlightEnd::Idle })),
    ("inbox_read", |s| s.give(Input::InboxRead { attempt: 2 })),
    ("inbox_read_late", |s| s.give(Input::InboxRead { attempt: 1 })),
    ("pause", |s| s.give(Input::Pause)),
    ("pause_again", |s| {
        s.give(Input::Pause);
        s.give(Input::Pause)
    }),
    ("resume", |s| {
        s.give(Input::Pause);
        s.give(Input::Resume)
    }),
    ("resume_again", |s| s.give(Input::Resume)),
    ("capability", |s| s.give(Input::Capability(Capability::Missing(Missing::NoAdapter)))),
    ("capability_again", |s| s.give(Input::Capability(Capability::Unattended))),
    ("reconnect", |s| s.give(Input::Reconnect)),
    ("reconnect_again", |s| {
        s.give(Input::Reconnect);
        s.give(Input::Reconnect)
    }),
    ("fire_due", Stage::fire_beyond_sweeps),
    ("fire_early", |s| {
        s.settle();
        s.give(Input::Fire)
    }),
];

fn cell(stage: &Stage, seen: &Seen) -> String {
    let event = match seen.outcome {
        Outcome::Absorbed => return "absorbed".into(),
        Outcome::Refused(class) => return format!("refused {} {class}", class.rule()),
        Outcome::Advanced(event) => event,
    };
    let phase = name(&stage.rig.waker.phase());
    match event {
        Event::Accepted { next, .. } | Event::Permitted { next, .. } => {
            let next = match next {
                Next::Dispatch { .. } => "dispatch".into(),
                Next::Wait(hold) => format!("wait {}", name(&hold)),
            };
            format!("{phase}: {}, {next}", name(&event))
        }
        Event::Withheld { class, .. } | Event::Dropped { class, .. } => {
            format!("{phase}: {} {class}", name(&event))
        }
        Event::FlightEnded { end, .. } => format!("{phase}: {} {}", name(&event), name(&end)),
        _ => format!("{phase}: {}", name(&event)),
    }
}

fn of_the_machine() -> Table {
    let mut table = Table::new();
    for phase in Phase::ALL {
        let stage = Stage::in_phase(phase);
        assert_eq!(stage.rig.waker.phase(), phase);
        for (input, show) in INPUTS {
            let mut stage = stage.clone();
            let seen = show(&mut stage);
            table.entry(name(&phase)).or_default().insert((*input).into(), cell(&stage, &seen));
        }
    }
    table
}

/// What the file says of each phase: its own section, what holds in every phase, else `absorbed`.
fn of_the_file() -> Table {
    let mut file: Table = toml::from_str(include_str!("../../../spec/machines/waker.toml")).unwrap();
    let every = file.remove("every_phase").unwrap();
    for phase in Phase::ALL {
        let row = file.entry(name(&phase)).or_default();
        for (input, _) in INPUTS {
            let common = every.get(*input).cloned().unwrap_or_else(|| "absorbed".into());
            row.entry((*input).into()).or_insert(common);
        }
    }
    file
}

#[test]
fn ver_5_the_machine_is_its_table() {
    let (law, machine) = (of_the_file(), of_the_machine());
    for (phase, row) in &law {
        for (input, cell) in row {
            let found = machine.get(phase).and_then(|row| row.get(input));
            assert_eq!(found, Some(cell), "{phase}, {input}");
        }
    }
}

#[test]
fn ver_5_the_table_for_the_eye() {
    let mut text = String::new();
    let machine = of_the_machine();
    for (input, _) in INPUTS {
        writeln!(text, "{input}").unwrap();
        for phase in Phase::ALL.map(|phase| name(&phase)) {
            let cell = &machine[&phase][*input];
            if cell != "absorbed" {
                writeln!(text, "    {phase:10} -> {cell}").unwrap();
            }
        }
    }
    insta::assert_snapshot!(text);
}

//! STN-3, STN-4: every phase against every class of input, run and compared with `spec/machines/station.toml`.

use std::collections::{BTreeMap, BTreeSet};

use awakener_kernel::ids::Fence;
use awakener_kernel::machine::{Machine as _, Outcome};
use awakener_kernel::station::*;
use awakener_kernel::time::Millis;
use awakener_kernel::values::Response;
use awakener_spec::Reason;
use awakener_tools::enforces;
use serde::Deserialize;

use crate::rig::*;

/// A class of input: its name, the time that passes before it, and the input itself.
pub type Class = (&'static str, fn(&Rig) -> Millis, fn(&Rig) -> Input);

fn at_once(_: &Rig) -> Millis {
    Millis::ZERO
}

fn at_deadline(rig: &Rig) -> Millis {
    rig.deadline().map_or(Millis::ZERO, |at| at.saturating_since(rig.now.mono))
}

fn claimed(rig: &Rig, lane: Lane, work: Option<Work>) -> Input {
    let fresh = u128::from(rig.station.last_ticket().number) << 32 | u128::from(rig.station.image().epoch);
    Input::Claimed { ticket: rig.any_ticket(), turn: turn(fresh), lane, work }
}

fn finished(rig: &Rig, run: Run) -> Input {
    Input::TurnFinished { ticket: rig.any_ticket(), evidence: Evidence::Ran(run), answer: Some(reply()) }
}

fn unmapped() -> Lane {
    Lane::Hosted { directive: hash(2), model: Model("x".into()), mapped: None }
}

pub const CLASSES: [Class; 41] = [
    ("grant", at_once, |r| Input::Grant { until: r.now.wall + HOUR, command: command(50) }),
    ("grant_over", |_| HOUR, |_| Input::Fire),
    ("flight_max_over", |r| r.config.flight_max, |_| Input::Fire),
    ("disarm", at_once, |_| Input::Disarm),
    ("abort", at_once, |_| Input::Abort),
    ("mark_tail", at_once, |r| Input::MarkTail {
        tail: r.station.image().tail.map_or(Tail(1), |known| Tail(known.0 + 1)),
    }),
    ("hint", at_once, |_| Input::Hint { wake: wake(1) }),
    ("work_found", at_once, |_| Input::WorkFound),
    ("inbox_read", at_once, |r| Input::InboxRead { ticket: r.any_ticket() }),
    ("dispatch_failed", at_once, |r| Input::DispatchFailed { ticket: r.any_ticket() }),
    ("claimed_nothing", at_once, |r| claimed(r, hosted(), None)),
    ("claimed_alert", at_once, |r| claimed(r, hosted(), Some(work(1)))),
    ("claimed_mail", at_once, |r| claimed(r, Lane::Attached, Some(mail(1)))),
    ("claimed_with_complete_turn", at_once, |r| {
        let prior = Some(Prior { turn: turn(77), response: Response::Done });
        claimed(r, hosted(), Some(Work { prior, ..work(1) }))
    }),
    ("claimed_and_fuse_trips", at_once, |r| claimed(r, hosted(), Some(tripping()))),
    ("claimed_for_unmapped_model", at_once, |r| claimed(r, unmapped(), Some(work(1)))),
    ("lease_lost", at_once, |_| Input::LeaseLost { fence: Fence(1) }),
    ("lease_lost_of_another", at_once, |_| Input::LeaseLost { fence: Fence(0) }),
    ("turn_complete", at_once, |r| finished(r, well())),
    ("turn_truncated", at_once, |r| finished(r, Run { stop: Stop::Length, ..well() })),
    ("turn_unreported", at_once, |r| Input::TurnFinished {
        ticket: r.any_ticket(),
        evidence: Evidence::Unreported,
        answer: None,
    }),
    ("result_recorded", at_once, |r| Input::ResultRecorded { ticket: r.any_ticket() }),
    ("result_refused", at_once, |r| Input::ResultRefused { ticket: r.any_ticket(), why: Reason::LostLease }),
    ("ack_accepted", at_once, |r| Input::AckAccepted { ticket: r.any_ticket() }),
    ("ack_refused", at_once, |r| Input::AckRefused { ticket: r.any_ticket(), why: Reason::AckKeyRevoked }),
    ("own_ack", at_once, |_| Input::OwnAck { message: message(1), seq: seq(10), by: Hand::Agent }),
    ("cleanup_done", at_once, |r| {
        let ticket = r.station.cleaning().unwrap_or_else(|| r.any_ticket());
        Input::CleanupDone { ticket, cursor: CursorAfter::Moved }
    }),
    ("audit_unavailable", at_once, |_| Input::CauseFound { cause: RefusedCause::AuditUnavailable }),
    ("config_invalid", at_once, |_| Input::CauseFound { cause: RefusedCause::ConfigInvalid }),
    ("audit_available", at_once, |_| Input::CauseGone { cause: RefusedCause::AuditUnavailable }),
    ("latch_found", at_once, |_| Input::LatchFound { latch: LatchId(turn(5)) }),
    ("trip_audit_recorded", at_once, |r| Input::TripAuditDone {
        ticket: r.any_ticket(),
        result: Ok(hash(9)),
    }),
    ("trip_audit_failed", at_once, |r| Input::TripAuditDone {
        ticket: r.any_ticket(),
        result: Err(Reason::StoreUnavailable),
    }),
    ("latch_written", at_once, |r| Input::LatchWritten { ticket: r.any_ticket(), ok: true }),
    ("clear", at_once, |_| Input::Clear { command: command(2) }),
    ("latch_archived", at_once, |r| Input::LatchArchived { ticket: r.any_ticket(), ok: true }),
    ("latch_archive_failed", at_once, |r| Input::LatchArchived { ticket: r.any_ticket(), ok: false }),
    ("latch_removed", at_once, |r| Input::LatchRemoved { ticket: r.any_ticket(), ok: true }),
    ("latch_remove_failed", at_once, |r| Input::LatchRemoved { ticket: r.any_ticket(), ok: false }),
    ("fire_early", at_once, |_| Input::Fire),
    ("fire", at_deadline, |_| Input::Fire),
];

/// One state per phase, and per stage where the stage decides.
pub fn states() -> Vec<(&'static str, Rig)> {
    let armed = || {
        // With a pass behind it, so that late completions exist.
        let mut rig = Rig::new().arm();
        rig.go(Input::Hint { wake: wake(1) });
        rig.go(Input::DispatchFailed { ticket: rig.ticket() });
        rig
    };
    let with = |mut rig: Rig, change: fn(&mut Rig)| {
        change(&mut rig);
        rig
    };
    vec![
        ("dark", with(armed(), |r| drop(r.go(Input::Disarm)))),
        ("armed", armed()),
        ("waking", with(armed(), |r| drop(r.go(Input::Hint { wake: wake(1) })))),
        ("reading", armed().reading()),
        ("cognizing", armed().cognizing()),
        ("acking_result", armed().acking()),
        ("acking_ack", with(armed().acking(), |r| drop(r.go(Input::ResultRecorded { ticket: r.ticket() })))),
        (
            "acking_own",
            with(armed(), |r| {
                drop(r.go(Input::OwnAck { message: message(1), seq: seq(10), by: Hand::Human }))
            }),
        ),
        (
            "acking_result_of_mail",
            with(armed().reading(), |r| {
                r.claim(mail(1));
                r.finish(well());
            }),
        ),
        ("synced", armed().synced()),
        (
            "refused",
            with(armed(), |r| drop(r.go(Input::CauseFound { cause: RefusedCause::AuditUnavailable }))),
        ),
        (
            "refused_twice",
            with(armed(), |r| {
                r.go(Input::CauseFound { cause: RefusedCause::AuditUnavailable });
                r.go(Input::CauseFound { cause: RefusedCause::ConfigInvalid });
            }),
        ),
        ("latched_down_auditing", armed().tripped()),
        ("latched_down_writing", with(armed().tripped(), |r| drop(r.audit(Ok(hash(9)))))),
        ("latched_down", armed().latched()),
        (
            "latched_down_archiving",
            with(armed().latched(), |r| drop(r.go(Input::Clear { command: command(2) }))),
        ),
        (
            "latched_down_removing",
            with(armed().latched(), |r| {
                r.go(Input::Clear { command: command(2) });
                r.go(Input::LatchArchived { ticket: r.ticket(), ok: true });
            }),
        ),
        ("latched_down_owed", with(armed().latched(), Rig::crash)),
    ]
}

fn word(phase: PhaseName) -> String {
    let text = format!("{phase:?}");
    let mut out = String::new();
    for c in text.chars() {
        if c.is_uppercase() && !out.is_empty() {
            out.push('_');
        }
        out.extend(c.to_lowercase());
    }
    out
}

/// What one cell of the table says.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Row {
    /// Classes that lead to another phase, or do something in this one.
    next: BTreeMap<String, String>,
    /// Classes that change nothing, being late or repeated.
    absorbed: BTreeSet<String>,
    /// Classes that are refused, by reason.
    refused: BTreeMap<String, BTreeSet<String>>,
}

fn run() -> BTreeMap<String, Row> {
    let mut table = BTreeMap::new();
    for (state, rig) in states() {
        let mut row = Row::default();
        for (class, wait, input) in CLASSES {
            let mut rig = rig.clone();
            rig.wait(wait(&rig));
            let input = input(&rig);
            match rig.step(input).outcome {
                Outcome::Advanced(_) => drop(row.next.insert(class.into(), word(rig.name()))),
                Outcome::Absorbed => drop(row.absorbed.insert(class.into())),
                Outcome::Refused(why) => {
                    row.refused.entry(why.name().into()).or_default().insert(class.into());
                }
            }
        }
        table.insert(state.into(), row);
    }
    table
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Spec {
    machine: String,
    rules: Vec<String>,
    phases: Vec<String>,
    edge: Vec<Edge>,
    state: BTreeMap<String, Row>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Edge {
    from: Vec<String>,
    to: String,
    by: Vec<String>,
}

fn spec() -> Spec {
    toml::from_str(include_str!("../../../spec/machines/station.toml")).expect("the table parses")
}

impl Spec {
    fn edges(&self) -> BTreeSet<(String, String, String)> {
        let mut edges = BTreeSet::new();
        for edge in &self.edge {
            for from in &edge.from {
                edges.extend(edge.by.iter().map(|by| (from.clone(), by.clone(), edge.to.clone())));
            }
        }
        edges
    }

    fn phase_of(&self, state: &str) -> String {
        let of = |phase: &&String| state == *phase || state.starts_with(&format!("{phase}_"));
        self.phases.iter().filter(of).max_by_key(|p| p.len()).expect("a state of a phase").clone()
    }
}

/// The edges of STN-3 as pairs of phases.
pub fn allowed(from: PhaseName, to: PhaseName) -> bool {
    use PhaseName::*;
    let active = from.is_active();
    match to {
        Dark => from != Dark,
        Armed => matches!(from, Dark | Waking | Reading | Cognizing | Acking | Synced | Refused),
        Waking => from == Armed,
        Reading => matches!(from, Armed | Waking),
        Cognizing => from == Reading,
        Acking => matches!(from, Armed | Reading | Cognizing),
        Synced => from == Acking,
        Refused | LatchedDown => active,
    }
}

enforces! {
    [Stn4]
    fn stn_4_the_table_is_what_the_machine_does(_seen) {
        let (spec, table) = (spec(), run());
        assert_eq!(spec.machine, "station");
        assert!(spec.rules.iter().any(|rule| rule == "STN-3"));
        assert_eq!(spec.phases, PhaseName::ALL.map(word));
        for (state, row) in &table {
            assert_eq!(spec.state.get(state), Some(row), "state {state}; the whole table is:\n{}", print(&table));
        }
        assert_eq!(spec.state.len(), table.len(), "a state that nobody runs");
    }
}

enforces! {
    [Stn3]
    fn stn_3_the_table_has_every_edge_and_no_other(_seen) {
        let (spec, edges) = (spec(), spec().edges());
        let mut met = BTreeSet::new();
        for (state, row) in run() {
            let from = spec.phase_of(&state);
            for (by, to) in row.next {
                if from != to {
                    met.insert((from.clone(), by, to));
                }
            }
        }
        let strange: Vec<_> = met.difference(&edges).collect();
        let missing: Vec<_> = edges.difference(&met).collect();
        assert!(
            strange.is_empty() && missing.is_empty(),
            "not in the table: {strange:?}; never taken: {missing:?}"
        );
    }
}

#[test]
fn stn_3_the_edges_are_those_of_the_contract() {
    let pairs: BTreeSet<_> = spec().edges().into_iter().map(|(from, _, to)| (from, to)).collect();
    let mut contract = BTreeSet::new();
    for from in PhaseName::ALL {
        for to in PhaseName::ALL {
            if allowed(from, to) && from != to {
                contract.insert((word(from), word(to)));
            }
        }
    }
    assert_eq!(pairs, contract);
}

enforces! {
    [Stn1]
    fn stn_1_there_are_nine_phases_and_what_is_active_of_them(_seen) {
        use PhaseName::*;
        let active = [Armed, Waking, Reading, Cognizing, Acking, Synced];
        let words = [
            "dark", "armed", "waking", "reading", "cognizing", "acking", "synced", "refused", "latched_down",
        ];
        assert_eq!(PhaseName::ALL.map(|name| serde_json::to_value(name).unwrap()), words);
        let mut met = BTreeSet::new();
        for (state, rig) in states() {
            let name = rig.name();
            met.insert(name);
            assert_eq!(name.is_active(), active.contains(&name), "{state}");
            let outcome = |input| rig.clone().step(input).outcome;
            // A wake, or work that was found, is taken up or waits; what is not active says no.
            for input in [Input::Hint { wake: wake(9) }, Input::WorkFound] {
                let refused = matches!(outcome(input.clone()), Outcome::Refused(_));
                assert_eq!(refused, !name.is_active(), "{state} × {input:?}");
            }
            // REFUSED and LATCHED_DOWN are reached from what is active and from nothing else.
            let stops = [
                Input::LatchFound { latch: LatchId(turn(5)) },
                Input::CauseFound { cause: RefusedCause::ConfigInvalid },
            ];
            for input in stops {
                let mut rig = rig.clone();
                rig.step(input.clone());
                assert_eq!(rig.name() != name, name.is_active(), "{state} × {input:?}");
            }
        }
        assert_eq!(met, PhaseName::ALL.into());
    }
}

#[test]
fn stn_4_golden_matrix() {
    insta::assert_snapshot!(print(&run()));
}

fn print(table: &BTreeMap<String, Row>) -> String {
    let list = |names: &BTreeSet<String>| {
        let quoted: Vec<_> = names.iter().map(|name| format!("\"{name}\"")).collect();
        let one = format!("[{}]", quoted.join(", "));
        if one.len() < 100 { one } else { format!("[\n    {},\n]", quoted.join(",\n    ")) }
    };
    let mut out = String::new();
    for (state, row) in table {
        out += &format!("[state.{state}]\nabsorbed = {}\n", list(&row.absorbed));
        out += &format!("[state.{state}.next]\n");
        row.next.iter().for_each(|(class, to)| out += &format!("{class} = \"{to}\"\n"));
        out += &format!("[state.{state}.refused]\n");
        row.refused.iter().for_each(|(why, names)| out += &format!("{why} = {}\n", list(names)));
        out.push('\n');
    }
    out
}

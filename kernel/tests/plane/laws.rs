//! The registry over random histories. The rig checks the laws of a step on the way.

use awakener_kernel::admission::RosterVerdict;
use awakener_kernel::ids::ContentHash;
use awakener_kernel::machine::{Machine, Outcome};
use awakener_kernel::mailbox::input::AckKey;
use awakener_kernel::operator::{Act, ActName, Class, Denial, Roster, RosterEntry};
use awakener_kernel::registry::{Input, Registry};
use awakener_kernel::time::{Millis, Now};
use awakener_kernel::values::By;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::plane::{HOUR, LATER, NOW, Plane, ROOT, act, alert, key, key_id, principal, signed, target, utc};

/// Everything that somebody could be allowed, over the names of this small world.
fn allowed(registry: &Registry, now: Now) -> Vec<String> {
    let mut out = Vec::new();
    let mut note = |yes: bool, what: String| {
        if yes {
            out.push(what);
        }
    };
    note(registry.tier0_open(), "open".into());
    for t in ["mira", "nova"].map(target) {
        note(registry.target_known(&t), format!("known {t}"));
        note(registry.armed(&t, now), format!("armed {t}"));
        note(registry.can_ack(&t, now), format!("can_ack {t}"));
        for by in [By::Station, By::Agent, By::Human] {
            for number in 30..34 {
                let valid = registry.ack_key(&key_id(number), &t, by, now) == AckKey::Valid;
                note(valid, format!("ack {t} {by:?} {number}"));
            }
        }
        for p in ["luna", "sol"].map(principal) {
            let listed = registry.roster_verdict(&p, &alert(), &t, now) == RosterVerdict::Listed;
            note(listed, format!("roster {p} {t}"));
            // Not to be held back as one's own alert is a permission too, while the target is there.
            let free = registry.target_known(&t) && !registry.acts_for(&p, &t);
            note(free, format!("not self {p} {t}"));
        }
        for number in 0..3 {
            let credential = registry.credential(&ContentHash([number; 32]));
            note(credential.is_some_and(|held| held.may_read(&t)), format!("reads {number} {t}"));
        }
    }
    for (id, _) in registry.router_ring(now).1 {
        note(true, format!("router {id}"));
    }
    for number in (30..34).chain([ROOT, LATER]) {
        note(registry.operator_key(&key_id(number)).is_some(), format!("operator {number}"));
    }
    out
}

fn name() -> impl Strategy<Value = &'static str> {
    prop_oneof![Just("mira"), Just("nova")]
}

fn sender() -> impl Strategy<Value = &'static str> {
    prop_oneof![Just("luna"), Just("sol")]
}

fn some_roster() -> impl Strategy<Value = Roster> {
    proptest::collection::vec((sender(), name()), 0..3).prop_map(|entries| Roster {
        version: 1,
        not_after: NOW.wall + HOUR,
        entries: entries
            .into_iter()
            .map(|(p, t)| RosterEntry { principal: principal(p), schema: alert(), target: target(t) })
            .collect(),
    })
}

fn some_subject(name_of: ActName) -> BoxedStrategy<Value> {
    let life = (30..34_u8, 1..3_u64).prop_map(|(number, hours)| {
        json!({"key": key(number), "not_before": utc(Millis::ZERO), "not_after": utc(Millis(HOUR.0 * hours))})
    });
    let known_key = (30..34_u8).prop_map(|number| json!({"key_id": key_id(number)}));
    let one = name().prop_map(|t| json!({"target": t}));
    let maybe = proptest::option::of(name());
    match name_of {
        ActName::InstallRoster => {
            some_roster().prop_map(|roster| serde_json::to_value(roster).unwrap()).boxed()
        }
        ActName::Arm => (name(), 1..3_u64)
            .prop_map(|(t, hours)| json!({"target": t, "until": utc(Millis(HOUR.0 * hours))}))
            .boxed(),
        ActName::Pause => (maybe, 0..3_u64)
            .prop_map(|(t, hours)| {
                let until = utc(Millis(HOUR.0 * hours));
                t.map_or(json!({"until": until}), |t| json!({"target": t, "until": until}))
            })
            .boxed(),
        ActName::Resume => maybe.prop_map(|t| t.map_or(json!({}), |t| json!({"target": t}))).boxed(),
        ActName::Disarm | ActName::ClearLatch | ActName::RegisterTarget | ActName::RemoveTarget => {
            one.boxed()
        }
        ActName::RegisterPrincipal => (sender(), 0..3_u8, name(), proptest::option::of(name()))
            .prop_map(|(p, number, t, acts_for)| {
                let mut subject =
                    json!({"principal": p, "credential": ContentHash([number; 32]), "may_read": [t]});
                if let Some(acts_for) = acts_for {
                    subject["acts_for"] = acts_for.into();
                }
                subject
            })
            .boxed(),
        ActName::RevokePrincipal => sender().prop_map(|p| json!({"principal": p})).boxed(),
        ActName::RegisterAckKey => (name(), 30..34_u8, prop_oneof![Just("agent"), Just("human")])
            .prop_map(|(t, number, by)| {
                json!({
                    "target": t, "by": by, "key": key(number),
                    "not_before": utc(Millis::ZERO), "not_after": utc(HOUR),
                })
            })
            .boxed(),
        ActName::RevokeAckKey => {
            (name(), 30..34_u8).prop_map(|(t, number)| json!({"target": t, "key_id": key_id(number)})).boxed()
        }
        ActName::RegisterRouterKey | ActName::RegisterAuditKey => life.boxed(),
        ActName::RevokeRouterKey | ActName::RevokeAuditKey | ActName::RevokeOperatorKey => known_key.boxed(),
        ActName::RegisterOperatorKey => {
            (30..34_u8).prop_map(|n| json!({"operator": "bob", "key": key(n), "scopes": ["arm"]})).boxed()
        }
        ActName::Resolve
        | ActName::ReleaseQuarantine
        | ActName::RemoveRoster
        | ActName::Abort
        | ActName::StopAll
        | ActName::AcceptClock
        | ActName::Reanchor => Just(crate::matrix::subject(name_of)).boxed(),
    }
}

fn some_act() -> impl Strategy<Value = Act> {
    proptest::sample::select(ActName::ALL)
        .prop_flat_map(|name| some_subject(name).prop_map(move |subject| act(name.name(), &subject)))
}

/// One event of a random history.
#[derive(Clone, Debug)]
enum Move {
    Command { act: Act, forged: bool, id: u64 },
    Deny(Act),
    Manifest(bool),
    Chain(bool),
    Clock(u64),
    Crash,
    Later(u64),
}

fn some_move() -> impl Strategy<Value = Move> {
    prop_oneof![
        20 => (some_act(), proptest::bool::weighted(0.1), 100..130_u64)
            .prop_map(|(act, forged, id)| Move::Command { act, forged, id }),
        3 => some_act().prop_map(Move::Deny),
        1 => any::<bool>().prop_map(Move::Manifest),
        1 => any::<bool>().prop_map(Move::Chain),
        1 => (0..5_000_u64).prop_map(Move::Clock),
        1 => Just(Move::Crash),
        2 => (0..2_000_000_u64).prop_map(Move::Later),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    /// The laws of a step are checked by the rig on the way.
    #[test]
    fn opr_1_opr_2_random_histories_keep_the_laws(moves in proptest::collection::vec(some_move(), 1..60)) {
        let mut plane = Plane::enrolled();
        let mut accepted = std::collections::BTreeSet::new();
        for step in moves {
            let before = allowed(&plane.rig.machine, plane.now);
            match step {
                Move::Command { act, forged, id } => {
                    let class = act.class();
                    let mut command = plane.command(act);
                    command.id = crate::plane::command_id(id);
                    let mut presented = signed(command);
                    presented.signature_valid = !forged;
                    if plane.input(Input::Command(presented)).is_advanced() {
                        prop_assert!(!forged, "a forged command took effect");
                        let end = plane.now.wall + Millis::seconds(60);
                        prop_assert!(accepted.insert((id, end)), "the same command took effect twice");
                        let after = allowed(&plane.rig.machine, plane.now);
                        if class == Class::Narrow {
                            prop_assert!(after.iter().all(|a| before.contains(a)), "{before:?} -> {after:?}");
                        }
                    }
                }
                Move::Deny(act) => {
                    if let Ok(denial) = Denial::new(act, None, plane.now.wall) {
                        plane.input(Input::Deny(denial.clone()));
                        let after = allowed(&plane.rig.machine, plane.now);
                        prop_assert!(after.iter().all(|a| before.contains(a)), "{before:?} -> {after:?}");
                        prop_assert_eq!(plane.input(Input::Deny(denial)), Outcome::Absorbed);
                    }
                }
                Move::Manifest(accepted) => { plane.input(Input::Manifest { accepted }); }
                Move::Chain(intact) => { plane.input(Input::Chain { intact }); }
                Move::Clock(back) => {
                    plane.input(Input::Clock { observed: plane.now.wall - Millis(back) });
                }
                Move::Crash => {
                    plane = plane.crash();
                    let after = allowed(&plane.rig.machine, plane.now);
                    prop_assert!(after.iter().all(|a| before.contains(a)), "a crash grants nothing");
                    prop_assert!(!after.iter().any(|a| a == "open" || a.starts_with("roster")));
                    let stored = plane.rig.machine.image().roster.clone();
                    plane.start(stored.map(|stored| (stored.key, stored.roster)));
                }
                Move::Later(after) => plane.now.wall = plane.now.wall + Millis(after),
            }
        }
    }
}

//! What the registry says to others, and its laws over random histories.

use awakener_kernel::admission::RosterVerdict;
use awakener_kernel::ids::ContentHash;
use awakener_kernel::machine::{Machine, Outcome};
use awakener_kernel::mailbox::input::AckKey;
use awakener_kernel::operator::{Act, ActName, Class, Denial, Roster, RosterEntry};
use awakener_kernel::registry::{Event, Input, Registry, Running};
use awakener_kernel::time::{Millis, Now};
use awakener_kernel::values::By;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::plane::{
    ACK, HOUR, LATER, NOW, Plane, ROOT, ROUTER, act, alert, key, key_id, principal, signed, target, utc,
};

const CREDENTIAL: ContentHash = ContentHash([8; 32]);

fn verdict(plane: &Plane) -> RosterVerdict {
    plane.rig.machine.roster_verdict(&principal("luna"), &alert(), &target("mira"), plane.now)
}

fn later(after: Millis) -> Now {
    Now { wall: NOW.wall + after, ..NOW }
}

#[test]
fn opr_3_after_install_and_after_abort_everything_is_denied() {
    let denied = |plane: &Plane| {
        assert_eq!(verdict(plane), RosterVerdict::Absent);
        assert!(!plane.rig.machine.armed(&target("mira"), NOW) && !plane.may_wake());
    };
    denied(&Plane::bare());
    assert!(!Plane::bare().rig.machine.tier0_open());
    denied(&Plane::enrolled());
    denied(&Plane::staffed());
    let mut plane = Plane::live();
    assert!(plane.may_wake(), "control");
    plane.does("abort", &json!({}));
    denied(&plane);
    assert!(plane.rig.machine.target_known(&target("mira")), "the inbox still accumulates");
}

#[test]
fn adm_4_a_roster_with_any_fault_admits_nobody() {
    let entry = |principal: &str, schema: &str, target: &str| {
        json!({
            "principal": principal, "schema": schema, "target": target,
        })
    };
    let with = |version: u32, entries: Value| json!({"version": version, "not_after": utc(HOUR), "entries": entries});
    let good = entry("luna", "interrupt-alert/1", "mira");
    for faulty in [
        with(1, json!([])),
        with(2, json!([good])),
        with(1, json!([good, entry("nobody", "interrupt-alert/1", "mira")])),
        with(1, json!([good, entry("luna", "interrupt-alert/1", "nobody")])),
        with(1, json!([good, entry("luna", "interrupt-alert/9", "mira")])),
        with(1, json!([good, entry("luna", "message/1", "mira")])),
    ] {
        let mut plane = Plane::staffed();
        assert!(!plane.tries("install_roster", &faulty).is_advanced(), "{faulty}");
        assert_eq!(verdict(&plane), RosterVerdict::Absent);
    }
    let mut plane = Plane::staffed();
    plane.does("install_roster", &with(1, json!([good])));
    assert_eq!(verdict(&plane), RosterVerdict::Listed, "control");
    let mira = target("mira");
    let registry = &plane.rig.machine;
    let other = registry.roster_verdict(&principal("sol"), &alert(), &mira, NOW);
    assert_eq!(other, RosterVerdict::NotListed);
    // What a roster names can become unknown later.
    plane.does("remove_target", &json!({"target": "mira"}));
    assert_eq!(verdict(&plane), RosterVerdict::Malformed);
}

#[test]
fn adm_5_a_roster_survives_restarts_until_its_own_end_if_its_command_still_verifies() {
    let installed = || {
        let plane = Plane::live();
        let stored = plane.rig.machine.image().roster.clone().unwrap();
        (plane.crash(), (stored.key, stored.roster))
    };
    let (mut plane, good) = installed();
    assert_eq!(verdict(&plane), RosterVerdict::Malformed, "not before it was checked");
    plane.start(Some(good.clone()));
    assert_eq!(verdict(&plane), RosterVerdict::Listed);
    assert!(plane.may_wake());
    // The command that installed it is long over; only the roster's own end counts.
    for (after, expected) in [(Millis(HOUR.0 - 1), RosterVerdict::Listed), (HOUR, RosterVerdict::Expired)] {
        plane.now = later(after);
        assert_eq!(verdict(&plane), expected);
    }
    plane.now = NOW;
    plane.does("revoke_operator_key", &json!({"key_id": key_id(ROOT)}));
    assert_eq!(verdict(&plane), RosterVerdict::Malformed, "its signer is no operator any more");

    let mut longer = good.1.clone();
    longer.entries.push(longer.entries[0].clone());
    for bad in [None, Some((key_id(LATER), good.1)), Some((good.0, longer))] {
        let (mut plane, _) = installed();
        plane.start(bad.clone());
        assert_eq!(verdict(&plane), RosterVerdict::Malformed, "{bad:?}");
    }
}

#[test]
fn stn_2_dsp_10_a_target_is_armed_while_its_grant_holds_and_nothing_rests() {
    let armed = |plane: &Plane, after| plane.rig.machine.armed(&target("mira"), later(after));
    let mut plane = Plane::live();
    assert!(armed(&plane, Millis(HOUR.0 - 1)) && !armed(&plane, HOUR));
    plane.does("pause", &json!({"target": "mira", "until": utc(Millis(100))}));
    assert!(!armed(&plane, Millis(99)) && armed(&plane, Millis(100)));
    plane.does("pause", &json!({"target": "mira", "until": utc(Millis(50))}));
    assert!(!armed(&plane, Millis(99)), "a pause is never shortened by a pause");
    plane.does("resume", &json!({"target": "mira"}));
    assert!(armed(&plane, Millis::ZERO));
    plane.does("pause", &json!({"until": utc(Millis(100))}));
    plane.does("resume", &json!({"target": "mira"}));
    assert!(!armed(&plane, Millis(99)) && armed(&plane, Millis(100)), "a pause of all holds for each");
    plane.does("stop_all", &json!({}));
    assert!(!armed(&plane, Millis(100)));
    plane.does("resume", &json!({}));
    assert!(armed(&plane, Millis::ZERO));
    plane.does("disarm", &json!({"target": "mira"}));
    assert!(!armed(&plane, Millis::ZERO));
}

#[test]
fn adm_13_ack_3_an_ack_key_counts_for_its_target_its_role_and_its_time() {
    let mut plane = Plane::staffed();
    plane.does("register_target", &json!({"target": "nova"}));
    let day = Millis(HOUR.0 * 24);
    let key_of =
        |plane: &Plane, name: &str, by, now| plane.rig.machine.ack_key(&key_id(ACK), &target(name), by, now);
    assert_eq!(key_of(&plane, "mira", By::Agent, NOW), AckKey::Valid);
    assert_eq!(key_of(&plane, "mira", By::Human, NOW), AckKey::Wrong);
    assert_eq!(key_of(&plane, "nova", By::Agent, NOW), AckKey::Wrong);
    assert_eq!(key_of(&plane, "mira", By::Agent, later(day)), AckKey::Revoked);
    let before = Now { wall: NOW.wall - Millis(1), ..NOW };
    assert_eq!(key_of(&plane, "mira", By::Agent, before), AckKey::Revoked);
    let can = |plane: &Plane, name: &str, now| plane.rig.machine.can_ack(&target(name), now);
    assert!(can(&plane, "mira", NOW) && !can(&plane, "nova", NOW) && !can(&plane, "mira", later(day)));
    plane.does("revoke_ack_key", &json!({"target": "mira", "key_id": key_id(ACK)}));
    assert_eq!(key_of(&plane, "mira", By::Agent, NOW), AckKey::Revoked);
    assert!(!can(&plane, "mira", NOW));
    assert_eq!(plane.rig.machine.ack_public_key(&key_id(ACK), &target("mira")), Some(&key(ACK)));
}

#[test]
fn idn_6_a_credential_reads_what_it_names_and_its_principal_cannot_shed_acts_for() {
    let mut plane = Plane::staffed();
    plane.does("register_target", &json!({"target": "nova"}));
    let (one, two) = (ContentHash([20; 32]), ContentHash([21; 32]));
    plane.does("register_principal", &json!({"principal": "sol", "credential": one, "acts_for": "nova"}));
    plane.does("register_principal", &json!({"principal": "sol", "credential": two, "may_read": ["nova"]}));
    let registry = &plane.rig.machine;
    assert_eq!(registry.principal_of(&CREDENTIAL), Some(&principal("luna")));
    assert_eq!(registry.principal_of(&ContentHash([1; 32])), None);
    let reads = |hash, name: &str| registry.credential(hash).unwrap().may_read(&target(name));
    assert!(reads(&CREDENTIAL, "mira") && !reads(&CREDENTIAL, "nova"));
    assert!(!reads(&one, "nova") && reads(&two, "nova"), "each credential for itself");
    assert!(registry.acts_for(&principal("sol"), &target("nova")));
    assert!(!registry.acts_for(&principal("luna"), &target("nova")));
    plane.does("revoke_principal", &json!({"principal": "sol", "credential": one}));
    let registry = &plane.rig.machine;
    assert!(registry.credential(&one).is_none() && registry.credential(&two).is_some());
    assert!(registry.acts_for(&principal("sol"), &target("nova")), "still the same principal");
    plane.does("revoke_principal", &json!({"principal": "sol"}));
    assert!(plane.rig.machine.credential(&two).is_none());
}

#[test]
fn haf_3_the_ring_has_the_keys_that_hold_or_will_and_its_version_grows() {
    let mut plane = Plane::staffed();
    let ring = |plane: &Plane, now| {
        let (version, keys) = plane.rig.machine.router_ring(now);
        (version, keys.map(|(id, _)| *id).collect::<Vec<_>>())
    };
    assert_eq!(ring(&plane, NOW), (1, vec![key_id(ROUTER)]));
    let next = json!({"key": key(60), "not_before": utc(HOUR), "not_after": utc(Millis(HOUR.0 * 48))});
    plane.does("register_router_key", &next);
    let (version, keys) = ring(&plane, NOW);
    assert_eq!((version, keys.len()), (2, 2));
    assert_eq!(ring(&plane, later(Millis(HOUR.0 * 24))), (2, vec![key_id(60)]));
    plane.does("revoke_router_key", &json!({"key_id": key_id(60)}));
    assert_eq!(ring(&plane, NOW), (3, vec![key_id(ROUTER)]));
}

#[test]
fn opr_2_a_start_with_another_binary_or_configuration_is_recorded() {
    let running =
        |binary, config| Running { binary: ContentHash([binary; 32]), config: ContentHash([config; 32]) };
    let mut plane = Plane::bare();
    let mut changed = |binary, config| {
        let input = Input::Start { running: running(binary, config), roster: None };
        matches!(plane.input(input), Outcome::Advanced(Event::Started { changed: true, .. }))
    };
    assert!(changed(1, 1), "the first start");
    assert!(!changed(1, 1) && changed(2, 1) && changed(2, 2) && !changed(2, 2));
    assert_eq!(plane.rig.machine.image().running, Some(running(2, 2)));
}

#[test]
fn adm_2_tier_0_is_open_only_while_manifest_chain_and_start_are_good() {
    let open = |plane: &Plane| plane.rig.machine.tier0_open();
    let mut plane = Plane::live();
    assert!(open(&plane));
    for (close, reopen) in [
        (Input::Manifest { accepted: false }, Input::Manifest { accepted: true }),
        (Input::Chain { intact: false }, Input::Chain { intact: true }),
    ] {
        plane.input(close.clone());
        assert!(!open(&plane) && !plane.may_wake());
        assert_eq!(plane.input(close), Outcome::Absorbed);
        plane.input(reopen);
        assert!(open(&plane));
    }
    let plane = plane.crash();
    assert!(!open(&plane), "all of it must be shown anew");
}

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

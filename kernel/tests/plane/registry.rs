//! What the registry says to others.

use awakener_kernel::admission::RosterVerdict;
use awakener_kernel::ids::ContentHash;
use awakener_kernel::machine::{Machine, Outcome};
use awakener_kernel::mailbox::input::AckKey;
use awakener_kernel::registry::{Effect, Event, Input, Running};
use awakener_kernel::time::{Millis, Now};
use awakener_kernel::values::By;
use awakener_tools::enforces;
use serde_json::{Value, json};

use crate::plane::{ACK, HOUR, LATER, NOW, Plane, ROOT, ROUTER, alert, key, key_id, principal, target, utc};

const CREDENTIAL: ContentHash = ContentHash([8; 32]);

fn verdict(plane: &Plane) -> RosterVerdict {
    plane.rig.machine.roster_verdict(&principal("luna"), &alert(), &target("mira"), plane.now)
}

fn later(after: Millis) -> Now {
    Now { wall: NOW.wall + after, ..NOW }
}

enforces! {
    [Opr3]
    fn opr_3_after_install_and_after_abort_everything_is_denied(_seen) {
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
}

enforces! {
    [Adm4]
    fn adm_4_a_roster_with_any_fault_admits_nobody(_seen) {
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
}

enforces! {
    [Adm5]
    fn adm_5_a_roster_survives_restarts_until_its_own_end_if_its_command_still_verifies(_seen) {
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
}

enforces! {
    [Stn2, Dsp10]
    fn stn_2_dsp_10_a_target_is_armed_while_its_grant_holds_and_nothing_rests(_seen) {
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
        plane.does("pause", &json!({"until": utc(Millis(50))}));
        plane.does("resume", &json!({"target": "mira"}));
        assert!(!armed(&plane, Millis(99)) && armed(&plane, Millis(100)), "a pause of all holds for each");
        plane.does("stop_all", &json!({}));
        assert!(!armed(&plane, Millis(100)));
        plane.does("resume", &json!({}));
        assert!(armed(&plane, Millis::ZERO));
        plane.does("disarm", &json!({"target": "mira"}));
        assert!(!armed(&plane, Millis::ZERO));
    }
}

enforces! {
    [Adm13, Ack3]
    fn adm_13_ack_3_an_ack_key_counts_for_its_target_its_role_and_its_time(_seen) {
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
}

enforces! {
    [Adm13]
    fn adm_13_a_target_that_is_removed_takes_its_grant_and_keys_along(_seen) {
        let mut plane = Plane::live();
        let effects = plane.does("remove_target", &json!({"target": "mira"}));
        assert_eq!(effects, [Effect::Withdraw { target: target("mira") }]);
        plane.does("register_target", &json!({"target": "mira"}));
        let registry = &plane.rig.machine;
        assert!(!registry.armed(&target("mira"), NOW) && !registry.can_ack(&target("mira"), NOW));
        assert!(!registry.credential(&CREDENTIAL).unwrap().may_read(&target("mira")));
    }
}

enforces! {
    [Idn6]
    fn idn_6_a_credential_reads_what_it_names_and_its_principal_cannot_shed_acts_for(_seen) {
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
}

enforces! {
    [Haf3]
    fn haf_3_the_ring_has_the_keys_that_hold_or_will_and_its_version_grows(_seen) {
        let mut plane = Plane::staffed();
        let ring = |plane: &Plane, now| {
            let (version, keys) = plane.rig.machine.router_ring(now);
            (version, keys.map(|(id, _)| *id).collect::<Vec<_>>())
        };
        assert_eq!(ring(&plane, NOW), (1, vec![key_id(ROUTER)]));
        let next = json!({"key": key(60), "not_before": utc(HOUR), "not_after": utc(Millis(HOUR.0 * 48))});
        let told = plane.does("register_router_key", &next);
        assert_eq!(told, [Effect::PublishRing(2)]);
        let (version, keys) = ring(&plane, NOW);
        assert_eq!((version, keys.len()), (2, 2));
        assert_eq!(ring(&plane, later(Millis(HOUR.0 * 24))), (2, vec![key_id(60)]));
        plane.does("revoke_router_key", &json!({"key_id": key_id(60)}));
        assert_eq!(ring(&plane, NOW), (3, vec![key_id(ROUTER)]));
    }
}

enforces! {
    [Opr2]
    fn opr_2_a_start_with_another_binary_or_configuration_is_recorded(_seen) {
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
}

enforces! {
    [Adm2]
    fn adm_2_tier_0_is_open_only_while_manifest_chain_and_start_are_good(_seen) {
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
        let mut plane = plane;
        plane.input(Input::Manifest { accepted: true });
        plane.input(Input::Chain { intact: true });
        assert!(!open(&plane), "the start is not on record");
        plane.start(None);
        assert!(open(&plane));
    }
}

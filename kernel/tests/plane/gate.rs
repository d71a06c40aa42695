//! OPR-1, OPR-2: the order of the gate, and what passes it.

use awakener_kernel::config::Config;
use awakener_kernel::ids::PlaneName;
use awakener_kernel::machine::{Machine, Outcome};
use awakener_kernel::operator::{Act, ActName, Found, Presented, authorise};
use awakener_kernel::registry::Input;
use awakener_kernel::time::Millis;
use awakener_spec::Reason;
use awakener_tools::enforces;
use serde_json::json;

use crate::plane::{
    ACK, AUDIT, HOUR, LATER, NOW, Plane, ROOT, ROUTER, act, command_id, key, key_id, roster, signed, target,
    utc,
};

fn arm(name: &str, until: Millis) -> Act {
    act("arm", &json!({"target": name, "until": utc(until)}))
}

/// `LATER` may do everything about grants and nothing else.
fn plane_with_a_narrow_key() -> Plane {
    let mut plane = Plane::staffed();
    plane.does("register_operator_key", &json!({"operator": "bob", "key": key(LATER), "scopes": ["arm"]}));
    plane
}

enforces! {
    [Opr1]
    fn opr_1_the_gate_refuses_in_its_order(_seen) {
        type Fault = (Reason, fn(&mut Presented));
        fn command(p: &mut Presented) -> &mut awakener_kernel::operator::Command {
            p.command.as_mut().unwrap()
        }
        let order: [Fault; 10] = [
            (Reason::OperatorWrongPlane, |p| command(p).plane = PlaneName::parse("away").unwrap()),
            (Reason::OperatorUnknownKey, |p| command(p).key = key_id(99)),
            (Reason::OperatorBadSignature, |p| p.signature_valid = false),
            (Reason::OperatorExpired, |p| command(p).not_after = NOW.wall - Millis(1)),
            (Reason::OperatorBoundExceeded, |p| {
                if command(p).not_after > NOW.wall {
                    command(p).not_after = NOW.wall + Config::default().command + Millis(1);
                }
            }),
            (Reason::OperatorOutOfScope, |p| {
                if command(p).key == key_id(ROOT) {
                    command(p).key = key_id(LATER);
                }
            }),
            (Reason::OperatorReplayed, |p| command(p).id = command_id(1)),
            (Reason::OperatorStateConflict, |p| command(p).expected_state = Some("absent".into())),
            (Reason::OperatorUnknownSubject, |p| {
                // The roster's own end stays what it is; only its names become unknown.
                let Act::InstallRoster(roster) = &mut command(p).act else { panic!() };
                roster.entries[0].target = target("nobody");
            }),
            (Reason::OperatorBoundExceeded, |p| {
                let Act::InstallRoster(roster) = &mut command(p).act else { panic!() };
                roster.not_after = NOW.wall + Config::default().roster + Millis(1);
            }),
        ];
        let mut plane = plane_with_a_narrow_key();
        plane.does("install_roster", &roster(HOUR));
        let good = signed(plane.command(act("install_roster", &roster(HOUR))));
        let judge = |presented: &Presented| {
            let image = plane.rig.machine.image();
            authorise(image, presented, &Found::Nothing, &Config::default(), NOW).map(|_| ())
        };
        assert_eq!(judge(&good), Ok(()));
        for (first, (reason, alone)) in order.iter().enumerate() {
            let mut presented = good.clone();
            alone(&mut presented);
            assert_eq!(judge(&presented), Err(*reason), "alone");
            order[first..].iter().for_each(|(_, fault)| fault(&mut presented));
            assert_eq!(judge(&presented), Err(*reason), "with everything after it");
            assert_eq!(judge(&Presented { command: None, ..presented }), Err(Reason::OperatorMalformed));
        }
    }
}

enforces! {
    [Opr1]
    fn opr_1_ends_count_to_the_millisecond(_seen) {
        let mut plane = Plane::staffed();
        for (after, verdict) in [
            (Millis::ZERO, None),
            (Config::default().command, None),
            (Config::default().command + Millis(1), Some(Reason::OperatorBoundExceeded)),
        ] {
            let mut command = plane.command(arm("mira", HOUR));
            command.not_after = NOW.wall + after;
            let outcome = plane.input(Input::Command(signed(command)));
            assert_eq!(outcome.is_advanced(), verdict.is_none(), "{after:?} {outcome:?}");
            if let Some(reason) = verdict {
                assert_eq!(outcome, Outcome::Refused(reason));
            }
        }
    }
}

enforces! {
    [Opr1]
    fn opr_1_no_scope_grants_another(_seen) {
        for name in ActName::ALL {
            for holder in awakener_kernel::operator::Scope::ALL {
                let mut plane = Plane::live();
                plane.does(
                    "register_operator_key",
                    &json!({"operator": "bob", "key": key(LATER), "scopes": [holder]}),
                );
                let mut command = plane.command(act(name.name(), &crate::matrix::subject(*name)));
                command.key = key_id(LATER);
                let refused =
                    plane.input(Input::Command(signed(command))) == Outcome::Refused(Reason::OperatorOutOfScope);
                // Registering an operator key also needs the scopes that it hands out.
                let hands_out = *name == ActName::RegisterOperatorKey;
                assert_eq!(refused, holder != name.scope() || hands_out, "{name:?} with {holder:?}");
            }
        }
    }
}

enforces! {
    [Opr1]
    fn opr_1_a_key_hands_out_only_scopes_that_it_has(_seen) {
        let mut plane = Plane::staffed();
        let scopes = json!(["operator_key", "arm"]);
        plane.does("register_operator_key", &json!({"operator": "bob", "key": key(LATER), "scopes": scopes}));
        for (scopes, allowed) in [(json!(["arm"]), true), (json!(["arm", "roster"]), false)] {
            let subject = json!({"operator": "eve", "key": key(77), "scopes": scopes});
            let mut command = plane.command(act("register_operator_key", &subject));
            command.key = key_id(LATER);
            assert_eq!(plane.input(Input::Command(signed(command))).is_advanced(), allowed, "{scopes}");
        }
    }
}

enforces! {
    [Opr1]
    fn opr_1_an_id_is_accepted_once_also_after_it_was_forgotten_and_the_clock_went_back(_seen) {
        let mut plane = Plane::staffed();
        let first = signed(plane.command(arm("mira", HOUR)));
        assert!(plane.input(Input::Command(first.clone())).is_advanced());
        assert_eq!(plane.input(Input::Command(first.clone())), Outcome::Refused(Reason::OperatorReplayed));
        // Twenty minutes later the id is forgotten: another command is accepted and clears the memory.
        plane.now.wall = NOW.wall + Millis::seconds(1_200);
        plane.does("disarm", &json!({"target": "mira"}));
        let remembered = plane.rig.machine.image().commands.clone();
        assert_eq!(remembered.len(), 1, "memory is bounded: {remembered:?}");
        assert_eq!(plane.input(Input::Command(first.clone())), Outcome::Refused(Reason::OperatorExpired));
        // Even at the time for which it was signed.
        plane.now = NOW;
        assert_eq!(plane.input(Input::Command(first)), Outcome::Refused(Reason::OperatorExpired));
    }
}

enforces! {
    [Opr1]
    fn opr_1_a_command_says_in_which_state_it_expects_its_subject(_seen) {
        let mut plane = Plane::staffed();
        let with = |plane: &mut Plane, state: &str| {
            let mut command = plane.command(arm("mira", HOUR));
            command.expected_state = Some(state.into());
            plane.input(Input::Command(signed(command)))
        };
        assert!(with(&mut plane, "absent").is_advanced());
        assert_eq!(with(&mut plane, "absent"), Outcome::Refused(Reason::OperatorStateConflict));
        let state = plane.rig.machine.image().state(&arm("mira", HOUR));
        assert!(with(&mut plane, &state).is_advanced());
    }
}

enforces! {
    [Opr1]
    fn opr_1_subjects_are_closed_objects(_seen) {
        let good = json!({"target": "mira"});
        assert!(Act::parse("disarm", &good).is_ok());
        for bad in [
            json!({}),
            json!(["mira"]),
            json!("mira"),
            json!({"target": "Mira"}),
            json!({"target": "mira", "now": true}),
            json!({"target": null}),
        ] {
            assert_eq!(Act::parse("disarm", &bad), Err(Reason::OperatorMalformed), "{bad}");
        }
        assert_eq!(Act::parse("disarms", &good), Err(Reason::OperatorMalformed));
        let entry = json!(["luna", "interrupt-alert/1", "mira"]);
        let as_array = json!({"version": 1, "not_after": utc(HOUR), "entries": [entry]});
        assert_eq!(Act::parse("install_roster", &as_array), Err(Reason::OperatorMalformed));
        assert!(Act::parse("install_roster", &roster(HOUR)).is_ok());
        let as_number = json!({"target": "mira", "until": 1_767_312_000_000_u64});
        assert_eq!(Act::parse("arm", &as_number), Err(Reason::OperatorMalformed));
    }
}

enforces! {
    [Opr1]
    fn opr_1_an_act_reads_back_from_its_own_json(_seen) {
        for name in ActName::ALL {
            let act = act(name.name(), &crate::matrix::subject(*name));
            let json = serde_json::to_value(&act).unwrap();
            assert_eq!(json["act"], name.name());
            assert_eq!(ActName::from_name(name.name()), Some(*name));
            assert_eq!(Act::parse(name.name(), &json["subject"]), Ok(act.clone()));
            assert_eq!(serde_json::from_value::<Act>(json).unwrap(), act);
        }
    }
}

enforces! {
    [Opr1]
    fn opr_1_a_subject_that_cannot_mean_anything_is_malformed(_seen) {
        let mut plane = Plane::staffed();
        let life = |from, until| json!({"key": key(44), "not_before": utc(from), "not_after": utc(until)});
        let ack_key = |from, until| {
            let mut subject = life(from, until);
            (subject["target"], subject["by"]) = ("mira".into(), "human".into());
            subject["key"] = serde_json::to_value(key(46)).unwrap();
            subject
        };
        let operator = |scopes| json!({"operator": "bob", "key": key(45), "scopes": scopes});
        for (name, bad, good) in [
            ("register_router_key", life(HOUR, HOUR), life(Millis::ZERO, HOUR)),
            ("register_ack_key", ack_key(HOUR, HOUR), ack_key(Millis::ZERO, HOUR)),
            ("register_operator_key", operator(json!([])), operator(json!(["arm"]))),
        ] {
            assert_eq!(plane.tries(name, &bad), Outcome::Refused(Reason::OperatorMalformed), "{name}");
            assert!(plane.tries(name, &good).is_advanced(), "{name}");
            assert_eq!(plane.tries(name, &good), Outcome::Refused(Reason::OperatorStateConflict), "{name} again");
        }
        // The same key may acknowledge for another target, as another role.
        plane.does("register_target", &json!({"target": "nova"}));
        let mut elsewhere = ack_key(Millis::ZERO, HOUR);
        (elsewhere["target"], elsewhere["key"]) = ("nova".into(), serde_json::to_value(key(ACK)).unwrap());
        assert!(plane.tries("register_ack_key", &elsewhere).is_advanced());
    }
}

enforces! {
    [Adm5, Stn2]
    fn adm_5_stn_2_rosters_and_grants_end_within_their_bounds(_seen) {
        let limits = Config::default();
        let mut plane = Plane::staffed();
        for (longest, make) in [
            (limits.roster, (|end| act("install_roster", &roster(end))) as fn(Millis) -> Act),
            (limits.grant, |end| arm("mira", end)),
        ] {
            for (end, verdict) in [
                (Millis::ZERO, Some(Reason::OperatorExpired)),
                (Millis(1), None),
                (longest, None),
                (longest + Millis(1), Some(Reason::OperatorBoundExceeded)),
            ] {
                let command = plane.command(make(end));
                let outcome = plane.input(Input::Command(signed(command)));
                match verdict {
                    None => assert!(outcome.is_advanced(), "{end:?}: {outcome:?}"),
                    Some(reason) => assert_eq!(outcome, Outcome::Refused(reason), "{end:?}"),
                }
            }
        }
    }
}

enforces! {
    [Idn7]
    fn idn_7_the_first_key_is_enrolled_once_and_a_key_has_one_role(_seen) {
        let mut plane = Plane::enrolled();
        let again = Input::Enrol {
            plane: PlaneName::parse("home").unwrap(),
            operator: awakener_kernel::ids::OperatorName::parse("eve").unwrap(),
            key: key(66),
            audit: key(67),
            router: None,
        };
        let mut one_for_both = Plane::bare();
        let Input::Enrol { plane: name, operator, key: same, .. } = again.clone() else { panic!() };
        let enrol = |audit, router| {
            let (plane, operator) = (name.clone(), operator.clone());
            Input::Enrol { plane, operator, key: same, audit, router }
        };
        let malformed = Outcome::Refused(Reason::OperatorMalformed);
        assert_eq!(one_for_both.input(enrol(same, None)), malformed);
        assert_eq!(one_for_both.input(enrol(key(67), Some(same))), malformed);
        assert_eq!(one_for_both.input(enrol(key(67), Some(key(67)))), malformed);
        assert!(one_for_both.input(enrol(key(67), Some(key(68)))).is_advanced());

        assert_eq!(plane.input(again.clone()), Outcome::Refused(Reason::OperatorStateConflict));
        plane.does("revoke_operator_key", &json!({"key_id": key_id(ROOT)}));
        assert_eq!(
            plane.input(again),
            Outcome::Refused(Reason::OperatorStateConflict),
            "not even without any operator"
        );
        assert_eq!(plane.tries("stop_all", &json!({})), Outcome::Refused(Reason::OperatorUnknownKey));

        let mut plane = Plane::staffed();
        let life = |number| json!({"key": key(number), "not_before": utc(Millis::ZERO), "not_after": utc(HOUR)});
        for taken in [ROOT, AUDIT, ROUTER] {
            let outcome = plane.tries("register_router_key", &life(taken));
            assert_eq!(outcome, Outcome::Refused(Reason::OperatorStateConflict), "{taken}");
        }
        assert!(plane.tries("register_router_key", &life(50)).is_advanced());
        plane.does("revoke_router_key", &json!({"key_id": key_id(50)}));
        let back = plane.tries("register_router_key", &life(50));
        assert_eq!(back, Outcome::Refused(Reason::OperatorStateConflict), "a revoked key does not come back");
    }
}

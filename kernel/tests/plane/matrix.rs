//! The golden matrix of the gate: every act in every situation, as it stands in `spec/machines/registry.toml`.
//!
//! Run with `AWAKENER_BLESS=1` to write the file anew, and read the difference before you keep it.

use std::fmt::Write as _;
use std::path::PathBuf;

use awakener_kernel::ids::{ContentHash, PlaneName};
use awakener_kernel::machine::Outcome;
use awakener_kernel::operator::{ActName, Found, Presented, Scope};
use awakener_kernel::registry::{Event, Input};
use awakener_kernel::time::Millis;
use awakener_spec::Reason;
use awakener_tools::enforces;
use serde_json::{Value, json};

use crate::plane::{ACK, HOUR, LATER, NOW, Plane, ROUTER, act, key, key_id, message, roster, signed, utc};

/// A subject that is right in [`Plane::live`].
pub fn subject(name: ActName) -> Value {
    let life = |number| json!({"key": key(number), "not_before": utc(Millis::ZERO), "not_after": utc(HOUR)});
    let mira = json!({"target": "mira"});
    match name {
        ActName::InstallRoster => roster(HOUR),
        ActName::Arm => json!({"target": "mira", "until": utc(HOUR)}),
        ActName::Pause => json!({"target": "mira", "until": utc(HOUR)}),
        ActName::Disarm | ActName::Resume | ActName::ClearLatch | ActName::RemoveTarget => mira,
        ActName::RegisterTarget => json!({"target": "nova"}),
        ActName::RegisterPrincipal => json!({
            "principal": "sol", "credential": ContentHash([9; 32]), "may_read": ["mira"], "acts_for": "mira",
        }),
        ActName::RevokePrincipal => json!({"principal": "luna"}),
        ActName::RegisterAckKey => json!({
            "target": "mira", "by": "human", "key": key(40), "not_before": utc(Millis::ZERO), "not_after": utc(HOUR),
        }),
        ActName::RevokeAckKey => json!({"target": "mira", "key_id": key_id(ACK)}),
        ActName::RegisterRouterKey => life(41),
        ActName::RegisterAuditKey => life(42),
        ActName::RevokeRouterKey => json!({"key_id": key_id(ROUTER)}),
        ActName::RevokeAuditKey => json!({"key_id": key_id(crate::plane::AUDIT)}),
        ActName::RegisterOperatorKey => json!({"operator": "bob", "key": key(43), "scopes": Scope::ALL}),
        ActName::RevokeOperatorKey => json!({"key_id": key_id(crate::plane::ROOT)}),
        ActName::Resolve | ActName::ReleaseQuarantine => json!({"target": "mira", "message": message()}),
        ActName::RemoveRoster
        | ActName::Abort
        | ActName::StopAll
        | ActName::AcceptClock
        | ActName::Reanchor => json!({}),
    }
}

type Setup = fn() -> Plane;
type Change = fn(&mut Presented, &mut Found);
type Situation = (&'static str, Setup, Change);

fn stepped_back() -> Plane {
    let mut plane = Plane::live();
    let observed = NOW.wall - Millis::seconds(3);
    assert!(plane.input(Input::Clock { observed }).is_advanced());
    plane
}

const SITUATIONS: [Situation; 12] = [
    ("before_init", Plane::bare, |_, _| {}),
    ("after_init", Plane::enrolled, |_, found| {
        if let Found::Subject(state) = found {
            *state = None;
        }
    }),
    ("live", Plane::live, |_, _| {}),
    ("clock_stepped_back", stepped_back, |_, _| {}),
    ("no_command", Plane::live, |p, _| p.command = None),
    ("other_plane", Plane::live, |p, _| {
        p.command.as_mut().unwrap().plane = PlaneName::parse("away").unwrap();
    }),
    ("foreign_key", Plane::live, |p, _| p.command.as_mut().unwrap().key = key_id(99)),
    ("forged", Plane::live, |p, _| p.signature_valid = false),
    ("late", Plane::live, |p, _| p.command.as_mut().unwrap().not_after = NOW.wall - Millis(10_000)),
    ("too_long", Plane::live, |p, _| p.command.as_mut().unwrap().not_after = NOW.wall + HOUR),
    ("id_used", Plane::live, |p, _| p.command.as_mut().unwrap().id = crate::plane::command_id(1)),
    ("state_differs", Plane::live, |p, _| {
        p.command.as_mut().unwrap().expected_state = Some("sha256:other".into());
    }),
];

fn outcome(name: ActName, (_, setup, change): Situation) -> &'static str {
    let mut plane = setup();
    let mut presented = signed(plane.command(act(name.name(), &subject(name))));
    let mut found = match presented.command.as_ref().unwrap().act.outside() {
        None => Found::Nothing,
        Some(awakener_kernel::operator::Outside::Clock) => Found::Clock(NOW.wall - Millis::seconds(3)),
        Some(_) => Found::Subject(Some("there".into())),
    };
    change(&mut presented, &mut found);
    match plane.rig.step(NOW, Input::Command(presented), found).0 {
        Outcome::Advanced(Event::Enacted { act, .. }) if act == name => "enacted",
        Outcome::Refused(reason) => Reason::name(reason),
        other => panic!("{name:?}: {other:?}"),
    }
}

fn matrix() -> String {
    let mut out = String::from(
        "# The operator gate (OPR-1, OPR-2): every act, with its scope and class, in every situation.\n\
         #\n\
         # before_init: nothing was enrolled. after_init: one operator key, nothing else. live: target, principal,\n\
         # keys, roster and grant are there, and so is what lies outside. The others are `live` with one thing wrong.\n",
    );
    for name in ActName::ALL {
        let (scope, class) =
            (serde_json::to_value(name.scope()).unwrap(), serde_json::to_value(name.class()).unwrap());
        writeln!(out, "\n[act.{}]\nscope = {scope}\nclass = {class}", name.name()).unwrap();
        for situation in SITUATIONS {
            writeln!(out, "{} = \"{}\"", situation.0, outcome(*name, situation)).unwrap();
        }
    }
    out
}

enforces! {
    [Opr1, Opr2]
    fn opr_1_opr_2_every_act_in_every_situation(_seen) {
        let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../spec/machines/registry.toml");
        let now = matrix();
        if std::env::var_os("AWAKENER_BLESS").is_some() {
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(&file, &now).unwrap();
        }
        let golden = std::fs::read_to_string(&file).unwrap();
        let (golden, now): (toml::Table, toml::Table) = (golden.parse().unwrap(), now.parse().unwrap());
        for (act, row) in now["act"].as_table().unwrap() {
            for (situation, cell) in row.as_table().unwrap() {
                assert_eq!(golden["act"][act].get(situation), Some(cell), "{act} in {situation}");
            }
        }
        assert_eq!(golden, now, "the file has exactly the acts and situations that there are");
    }
}

enforces! {
    [Opr1]
    fn opr_1_a_command_of_the_right_key_is_found_wanting_in_scope(_seen) {
        let mut plane = Plane::live();
        plane.does("register_operator_key", &json!({"operator": "bob", "key": key(LATER), "scopes": ["stop"]}));
        let as_bob = |plane: &mut Plane, name: ActName| {
            let mut command = plane.command(act(name.name(), &subject(name)));
            command.key = key_id(LATER);
            plane.input(Input::Command(signed(command)))
        };
        assert_eq!(as_bob(&mut plane, ActName::Resume), Outcome::Refused(Reason::OperatorOutOfScope));
        assert!(as_bob(&mut plane, ActName::StopAll).is_advanced());
    }
}

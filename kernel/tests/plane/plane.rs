//! A small plane: one operator with every scope, one target, one principal, and commands to change it.

use awakener_kernel::config::Config;
use awakener_kernel::ids::{
    CommandId, ContentHash, KeyId, MessageId, OperatorName, PlaneName, Principal, PublicKey, SchemaRef,
    Target,
};
use awakener_kernel::machine::{Machine, Outcome};
use awakener_kernel::operator::{Act, Command, Found, Outside, Presented, Roster};
use awakener_kernel::registry::{Effect, Event, Input, Registry, Running};
use awakener_kernel::time::{Millis, Mono, Now, Wall};
use awakener_spec::Reason;
use serde_json::{Value, json};

use crate::rig::Rig;

/// 2026-01-02T00:00:00Z.
pub const NOW: Now = Now { wall: Wall(1_767_312_000_000), mono: Mono(0) };

pub fn target(name: &str) -> Target {
    Target::parse(name).unwrap()
}

pub fn principal(name: &str) -> Principal {
    Principal::parse(name).unwrap()
}

pub fn alert() -> SchemaRef {
    SchemaRef::parse("interrupt-alert/1").unwrap()
}

/// Some key; the same for the same number. Nothing here verifies signatures.
pub fn key(number: u8) -> PublicKey {
    PublicKey([number; 32])
}

pub fn key_id(number: u8) -> KeyId {
    key(number).key_id()
}

/// Key numbers of the plane.
pub const ROOT: u8 = 1;
pub const AUDIT: u8 = 2;
pub const LATER: u8 = 3;
pub const ROUTER: u8 = 4;
pub const ACK: u8 = 5;

pub fn command_id(number: u64) -> CommandId {
    CommandId::from_parts(
        NOW.wall.0,
        [u8::try_from(number % 251).unwrap(), (number / 251) as u8, 0, 0, 0, 0, 0, 0, 0, 0],
    )
}

pub fn message() -> MessageId {
    MessageId::from_parts(NOW.wall.0, [3; 10])
}

pub fn act(name: &str, subject: &Value) -> Act {
    Act::parse(name, subject).unwrap_or_else(|reason| panic!("{name} {subject}: {reason}"))
}

pub fn utc(after: Millis) -> String {
    (NOW.wall + after).utc()
}

pub const HOUR: Millis = Millis::seconds(3_600);

pub fn roster(not_after: Millis) -> Value {
    json!({
        "version": 1,
        "not_after": utc(not_after),
        "entries": [{"principal": "luna", "schema": "interrupt-alert/1", "target": "mira"}],
    })
}

/// Registry, and a counter for command ids.
pub struct Plane {
    pub rig: Rig<Registry>,
    pub now: Now,
    next: u64,
}

impl Plane {
    /// Before `init`.
    pub fn bare() -> Self {
        Self { rig: Rig::new(Config::default(), NOW), now: NOW, next: 0 }
    }

    /// After `init` and a start with a good manifest and chain.
    pub fn enrolled() -> Self {
        let mut plane = Self::bare();
        let enrol = Input::Enrol {
            plane: PlaneName::parse("home").unwrap(),
            operator: OperatorName::parse("ada").unwrap(),
            key: key(ROOT),
            audit: key(AUDIT),
            router: None,
        };
        assert_eq!(plane.input(enrol), Outcome::Advanced(Event::Enrolled));
        plane.start(None);
        plane
    }

    /// Loses everything but the disk.
    pub fn crash(self) -> Self {
        Self { rig: self.rig.crash(self.now), ..self }
    }

    pub fn start(&mut self, roster: Option<(KeyId, Roster)>) {
        let running = Running { binary: ContentHash([1; 32]), config: ContentHash([2; 32]) };
        self.input(Input::Start { running, roster });
        self.input(Input::Manifest { accepted: true });
        self.input(Input::Chain { intact: true });
    }

    /// With target `mira`, principal `luna`, an agent's ACK key and a router key.
    pub fn staffed() -> Self {
        let mut plane = Self::enrolled();
        let (from, until) = (utc(Millis::ZERO), utc(Millis(HOUR.0 * 24)));
        plane.does("register_target", &json!({"target": "mira"}));
        plane.does(
            "register_principal",
            &json!({
                "principal": "luna", "credential": ContentHash([8; 32]), "may_read": ["mira"],
            }),
        );
        plane.does(
            "register_ack_key",
            &json!({
                "target": "mira", "by": "agent", "key": key(ACK), "not_before": from, "not_after": until,
            }),
        );
        plane.does(
            "register_router_key",
            &json!({"key": key(ROUTER), "not_before": from, "not_after": until}),
        );
        plane
    }

    /// With roster and grant: an alert from `luna` may wake `mira`.
    pub fn live() -> Self {
        let mut plane = Self::staffed();
        plane.does("install_roster", &roster(HOUR));
        plane.does("arm", &json!({"target": "mira", "until": utc(HOUR)}));
        plane
    }

    pub fn input(&mut self, input: Input) -> Outcome<Event, Reason> {
        let found = found(self.rig.machine.needs(&input), self.now);
        self.rig.step(self.now, input, found).0
    }

    /// A good command of the operator with every scope.
    pub fn command(&mut self, act: Act) -> Command {
        self.next += 1;
        Command {
            id: command_id(self.next),
            plane: PlaneName::parse("home").unwrap(),
            key: key_id(ROOT),
            not_after: self.now.wall + Millis::seconds(60),
            expected_state: None,
            reason: "because".into(),
            act,
        }
    }

    pub fn does(&mut self, name: &str, subject: &Value) -> Vec<Effect> {
        let command = self.command(act(name, subject));
        let input = Input::Command(signed(command));
        let found = found(self.rig.machine.needs(&input), self.now);
        let (outcome, effects) = self.rig.step(self.now, input, found);
        assert!(outcome.is_advanced(), "{name} {subject}: {outcome:?}");
        effects
    }

    pub fn tries(&mut self, name: &str, subject: &Value) -> Outcome<Event, Reason> {
        let command = self.command(act(name, subject));
        self.input(Input::Command(signed(command)))
    }

    /// May an alert from `luna` wake `mira` now?
    pub fn may_wake(&self) -> bool {
        let registry = &self.rig.machine;
        let authority = registry.authority(&principal("luna"), &alert(), &target("mira"), self.now);
        authority.rostered && authority.armed && authority.open
    }
}

pub fn signed(command: Command) -> Presented {
    Presented { raw: format!("{command:?}"), command: Some(command), signature_valid: true }
}

/// What is outside: everything that is asked for is there.
fn found(query: Option<Outside>, now: Now) -> Found {
    match query {
        None => Found::Nothing,
        Some(Outside::Clock) => Found::Clock(now.wall),
        Some(_) => Found::Subject(Some("there".into())),
    }
}

//! The real message plane in the process of a test: enrolled, one target armed, one principal on the roster.

use std::path::Path;
use std::sync::Arc;

use awakener::broker::{Broker, publish_all};
use awakener::clock;
use awakener::plane::{Op, Plane, Reply, Setup, Submit};
use awakener_kernel::config::Config;
use awakener_kernel::ids::{
    CommandId, ContentHash, DaemonName, Holder, MessageId, OperatorName, PlaneName, Principal, SchemaRef,
    ThreadId,
};
use awakener_kernel::machine::Outcome;
use awakener_kernel::mailbox::input::{Event, Input};
use awakener_kernel::operator::{
    Act, Arming, AuthorityKey, Command, Credential, NewAckKey, Presented, Roster, RosterEntry, TargetName,
};
use awakener_kernel::registry::{self, image::Held, image::Running};
use awakener_kernel::router::Routes;
use awakener_kernel::time::{Millis, Wall};
use awakener_kernel::values::{AckOutcome, By};
use awakener_kernel::wire::{AckStatement, OperatorCommand, Signed, SigningKey, Submission, public_key};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use super::rig::builder;

/// A plane and what keeps it going.
pub struct Real {
    pub plane: Plane,
    pub router: SigningKey,
    publisher: Option<JoinHandle<()>>,
    thread: Option<std::thread::JoinHandle<()>>,
    number: u8,
    raised: Vec<Submission>,
}

const OPERATOR: [u8; 32] = [1; 32];
/// The agent that acknowledges.
const AGENT: [u8; 32] = [4; 32];

impl Real {
    /// Starts it; hints go to `broker`, or nowhere.
    pub async fn start(state: &Path, limits: Config, broker: Option<Arc<dyn Broker>>) -> Self {
        let (router, operator) = (SigningKey::from_bytes(&[7; 32]), SigningKey::from_bytes(&OPERATOR));
        let (publish, publications) = tokio::sync::mpsc::channel(64);
        let enrolment = registry::Input::Enrol {
            plane: PlaneName::parse("plane").unwrap(),
            operator: OperatorName::parse("root").unwrap(),
            key: public_key(&operator),
            audit: public_key(&SigningKey::from_bytes(&[3; 32])),
            router: None,
        };
        let nothing = ContentHash([0; 32]);
        let setup = Setup {
            state: state.to_owned(),
            limits: limits.checked().unwrap(),
            routes: Routes::default(),
            config_hash: nothing,
            enrolment: Some(enrolment),
            running: Running { binary: nothing, config: nothing },
            router_key: router.clone(),
            audit_key: SigningKey::from_bytes(&[3; 32]),
            manifest_accepted: true,
            pause: None,
            publish,
        };
        let (plane, thread) = Plane::start(setup).unwrap();
        let publisher = match broker {
            Some(broker) => tokio::spawn(publish_all(plane.clone(), broker, publications)),
            None => tokio::spawn(async move {
                let mut lost = publications;
                while lost.recv().await.is_some() {}
            }),
        };
        let mut real = Self {
            plane,
            router,
            publisher: Some(publisher),
            thread: Some(thread),
            number: 0,
            raised: Vec::new(),
        };
        real.furnish().await;
        real
    }

    async fn furnish(&mut self) {
        let (now, target) = (clock::system(), builder());
        let (ops, schema) =
            (Principal::parse("ops").unwrap(), SchemaRef::parse("interrupt-alert/1").unwrap());
        let (from, until) = (Wall(0), now + Millis::seconds(3_600));
        self.act(Act::RegisterTarget(TargetName { target: target.clone() })).await;
        self.act(Act::RegisterPrincipal(Credential {
            principal: ops.clone(),
            credential: ContentHash([5; 32]),
            may_read: vec![],
            acts_for: None,
        }))
        .await;
        let ack = NewAckKey {
            target: target.clone(),
            by: By::Agent,
            key: public_key(&SigningKey::from_bytes(&AGENT)),
            not_before: from,
            not_after: until,
        };
        self.act(Act::RegisterAckKey(ack)).await;
        let router = public_key(&self.router);
        self.act(Act::RegisterRouterKey(AuthorityKey { key: router, not_before: from, not_after: until }))
            .await;
        let entries = vec![RosterEntry { principal: ops, schema, target: target.clone() }];
        self.act(Act::InstallRoster(Roster { version: 1, not_after: until, entries })).await;
        self.act(Act::Arm(Arming { target, until })).await;
    }

    async fn act(&mut self, act: Act) {
        self.number += 1;
        let key = SigningKey::from_bytes(&OPERATOR);
        let now = clock::system();
        let (id, plane) =
            (CommandId::from_parts(now.0, [self.number; 10]), PlaneName::parse("plane").unwrap());
        let (not_after, key_id) = (now + Millis::seconds(60), public_key(&key).key_id());
        let Value::Object(mut form) = serde_json::to_value(&act).unwrap() else {
            panic!("an act is an object")
        };
        let Some(Value::Object(subject)) = form.remove("subject") else { panic!("a subject is an object") };
        let signed = Signed::sign(
            OperatorCommand {
                id,
                plane: plane.clone(),
                act: act.name().name().into(),
                subject,
                expected_state: Value::Null,
                reason: "a test".to_owned(),
                not_after,
                key_id,
            },
            &key,
        );
        let command = Command {
            id,
            plane,
            key: key_id,
            not_after,
            expected_state: None,
            reason: "a test".to_owned(),
            act,
        };
        let raw = String::from_utf8(signed.encode()).unwrap();
        let presented = Presented { command: Some(command), signature_valid: true, raw };
        match self.plane.call(Op::Command(Box::new(presented))).await.unwrap() {
            Reply::Registry(Outcome::Advanced(_)) => {}
            other => panic!("{other:?}"),
        }
    }

    /// Raises one alert for `builder`.
    pub async fn raise(&mut self) -> MessageId {
        self.number += 1;
        let id = MessageId::from_parts(clock::system().0, [self.number; 10]);
        let submission = Submission::from_value(&json!({
            "id": id.to_string(),
            "thread": ThreadId::from_parts(clock::system().0, [self.number; 10]).to_string(),
            "target": "builder",
            "schema": "interrupt-alert/1",
            "priority": "urgent",
            "intent": "wake up",
            "response_expectation": "reply",
            // In words: texts that differ in digits only are the same again (FUS-1).
            "body": { "text": "pump ".repeat(usize::from(self.number)) },
        }))
        .unwrap();
        let held = Held {
            principal: Principal::parse("ops").unwrap(),
            may_read: Default::default(),
            acts_for: None,
            revoked: None,
        };
        self.raised.push(submission.clone());
        let submit = Submit::new(held, submission, None, None);
        match self.plane.call(Op::Submit(Box::new(submit))).await.unwrap() {
            Reply::Mailbox(reply) if matches!(reply.outcome, Outcome::Advanced(_)) => id,
            other => panic!("{other:?}"),
        }
    }

    /// Claims an alert, reads it, and acknowledges it as an agent does.
    pub async fn acknowledge(&self, id: MessageId) {
        let input = Input::Claim { holder: Holder::parse("agent").unwrap(), max: 1 };
        let fence = match self.work(input).await {
            Event::Leased { fence } => fence,
            other => panic!("{other:?}"),
        };
        self.work(Input::Read { fence, message: id }).await;
        let key = SigningKey::from_bytes(&AGENT);
        let submission = self.raised.iter().find(|raised| raised.id == id).unwrap();
        let statement = AckStatement {
            message_id: id,
            content_sha256: submission.content_hash(),
            target: submission.target.clone(),
            outcome: AckOutcome::Handled,
            by: By::Agent,
            key_id: public_key(&key).key_id(),
            time: clock::system(),
        };
        let signed = Box::new(Signed::sign(statement, &key));
        match self.plane.call(Op::Ack { signed, fence: Some(fence) }).await.unwrap() {
            Reply::Mailbox(reply) if matches!(reply.outcome, Outcome::Advanced(_)) => {}
            other => panic!("{other:?}"),
        }
        self.work(Input::Release { fence }).await;
    }

    async fn work(&self, input: Input) -> Event {
        match self.plane.mailbox(&builder(), input, None).await.unwrap().outcome {
            Outcome::Advanced(event) => event,
            other => panic!("{other:?}"),
        }
    }

    /// How often a kind of receipt was written.
    pub fn count(&self, kind: &str) -> usize {
        self.receipts().iter().filter(|known| *known == kind).count()
    }

    /// The kinds of the plane's receipts, in order.
    pub fn receipts(&self) -> Vec<String> {
        let conn = rusqlite::Connection::open(self.plane.path()).unwrap();
        let mut statement = conn.prepare("SELECT kind FROM receipt ORDER BY number").unwrap();
        let rows = statement.query_map([], |row| row.get(0)).unwrap();
        rows.map(Result::unwrap).collect()
    }
}

impl Drop for Real {
    fn drop(&mut self) {
        if let Some(publisher) = self.publisher.take() {
            publisher.abort();
        }
        // The thread ends with its last handle, which may be in a daemon.
        drop(self.thread.take());
    }
}

pub fn name(name: &str) -> DaemonName {
    DaemonName::parse(name).unwrap()
}

//! AUD-2: what stands in the chain of a real plane, executed again by the kernel, gives what stands there.

use std::collections::BTreeMap;
use std::convert::Infallible;

use awakener_kernel::config::Config;
use awakener_kernel::machine::{Image as _, Machine, OutcomeOf, RecordOf};
use awakener_kernel::mailbox::Mailbox;
use awakener_kernel::open::{CommitError, Entry, Open, Store, Txn, TxnId, Write};
use awakener_kernel::registry::Registry;
use awakener_kernel::time::Now;
use awakener_kernel::values::{AckOutcome, Answer, By, Finish, FlightEnd, FlightReport, Question};
use awakener_tools::enforces_process;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::super::support::*;

/// A store that remembers the last step and nothing else.
#[derive(Default)]
struct Witness {
    txn: u64,
    outcome: Option<Value>,
    records: Vec<Value>,
}

impl Store for Witness {
    type Error = Infallible;
    fn begin(&mut self) -> Result<TxnId, Infallible> {
        self.txn += 1;
        Ok(TxnId(self.txn))
    }
    fn commit(&mut self, _: TxnId) -> Result<(), CommitError<Infallible>> {
        Ok(())
    }
}

impl<M: Machine> Write<M> for Witness
where
    M::Event: Serialize,
    M::Refusal: Serialize,
    RecordOf<M>: Serialize,
{
    fn write(&mut self, entry: Entry<'_, M>) -> Result<(), Infallible> {
        self.outcome = entry.outcome.map(|outcome: &OutcomeOf<M>| serde_json::to_value(outcome).unwrap());
        self.records = entry.records.iter().map(|record| serde_json::to_value(record).unwrap()).collect();
        Ok(())
    }
}

/// What a replay went through.
#[derive(Debug, Default)]
pub struct Replayed {
    pub recoveries: usize,
    pub advanced: usize,
    pub refused: usize,
}

/// Executes every entry of one kind of machine again. The first difference is the answer.
pub fn replay<M>(entries: &[Value], name: &str, config: &M::Config) -> Result<Replayed, String>
where
    M: Machine,
    M::Input: DeserializeOwned,
    M::Facts: DeserializeOwned,
    M::Event: Serialize,
    M::Refusal: Serialize,
    RecordOf<M>: Serialize + DeserializeOwned,
{
    let mut images: BTreeMap<String, M::Image> = BTreeMap::new();
    let mut machines: BTreeMap<String, M> = BTreeMap::new();
    let mut done = Replayed::default();
    for entry in entries.iter().filter(|entry| entry["machine"] == name) {
        let at = format!("entry {}", entry["position"]);
        let target = entry["identities"]["target"].as_str().unwrap_or_default().to_owned();
        let now: Now =
            serde_json::from_value(entry["now"].clone()).map_err(|error| format!("{at}: {error}"))?;
        let mut store = Witness::default();
        let txn = Txn::begin(&mut store).unwrap();
        let opened = match entry.get("input") {
            None => {
                done.recoveries += 1;
                let image = images.get(&target).cloned().unwrap_or_default();
                Open::<M>::recover(&mut store, &txn, config, now, image)
                    .map_err(|error| format!("{at}: {error:?}"))?
            }
            Some(input) => {
                let read = |what: &Value| format!("{at}: cannot be read: {what}");
                let input: M::Input = serde_json::from_value(input.clone()).map_err(|_| read(input))?;
                let facts: M::Facts =
                    serde_json::from_value(entry["facts"].clone()).map_err(|_| read(&entry["facts"]))?;
                let machine =
                    machines.remove(&target).ok_or_else(|| format!("{at}: no recovery before it"))?;
                Open::new(machine, &txn).step(&mut store, config, now, input, facts).unwrap()
            }
        };
        let said = entry.get("outcome").cloned();
        if said != store.outcome || entry["records"] != json!(store.records) {
            return Err(format!(
                "{at}: said {said:?} {}, came {:?} {:?}",
                entry["records"], store.outcome, store.records
            ));
        }
        match &store.outcome {
            Some(outcome) if outcome.get("advanced").is_some() => done.advanced += 1,
            Some(_) => done.refused += 1,
            None => {}
        }
        let committed = txn.commit(&mut store).unwrap();
        let machine = opened.close(&committed).unwrap().machine;
        // What the records amount to is what the machine says of itself.
        let image = images.entry(target.clone()).or_default();
        for record in entry["records"].as_array().unwrap() {
            image.apply(&serde_json::from_value(record.clone()).map_err(|error| format!("{at}: {error}"))?);
        }
        if image != machine.image() {
            return Err(format!("{at}: the records do not amount to the image"));
        }
        machines.insert(target, machine);
    }
    Ok(done)
}

fn question(bytes: &[u8]) -> Question {
    let hint: Value = serde_json::from_slice(bytes).unwrap();
    Question {
        wake: hint["id"].as_str().unwrap().parse().unwrap(),
        message: hint["data"]["message_id"].as_str().unwrap().parse().unwrap(),
        token: serde_json::from_value(hint["data"]["freshness_token"].clone()).unwrap(),
    }
}

/// A life with alerts and mail, work and refusals, flights, operators and restarts.
fn life(rig: &mut Rig) {
    let story = super::cast(rig);
    let (agent, target, daemon) = (&story.agent, &story.target, rig.daemon());
    let alert = submission("lotse", "interrupt-alert/1", json!("pump"));
    let mail = submission("lotse", "message/1", json!("mail"));
    let given_up = submission("lotse", "interrupt-alert/1", json!("given up"));
    for message in [&alert, &mail, &given_up, &mail] {
        rig.block(story.alice.submit(message, None)).unwrap();
    }
    let altered = awakener_kernel::wire::Submission { intent: "other".into(), ..mail.clone() };
    problem(rig.block(story.alice.submit(&altered, None)));
    let bob = rig.principal("bob", &[], None);
    problem(rig.block(bob.submit(&submission("lotse", "interrupt-alert/1", json!("not on it")), None)));
    let mut hints = std::mem::replace(&mut rig.hints, tokio::sync::mpsc::channel(1).1);
    let asked = question(&rig.block(hints.recv()).unwrap().bytes);
    let Answer::Granted(permit) = rig.block(daemon.permit(target, &asked)).unwrap() else { panic!() };
    for report in [FlightReport::Attempted, FlightReport::Ended(FlightEnd::Idle)] {
        rig.block(daemon.report(target, permit.fence, asked.wake, report)).unwrap();
    }
    rig.block(daemon.sweep(std::slice::from_ref(target))).unwrap();
    let holder = "station".parse().unwrap();
    let lease = rig.block(agent.claim(target, &holder, 2)).unwrap();
    let fence = lease.fence;
    problem(rig.block(agent.read(target, awakener_kernel::ids::Fence(77), alert.id)));
    let said = ack(&alert, AckOutcome::Handled, By::Station, &story.station);
    problem(rig.block(agent.ack(&said, Some(fence))));
    let turn = turn_id();
    rig.block(agent.read(target, fence, alert.id)).unwrap();
    rig.block(agent.renew(target, fence)).unwrap();
    rig.block(agent.finish_turn(target, fence, alert.id, turn, Finish::Complete, None)).unwrap();
    rig.block(agent.reply(target, fence, alert.id, turn, "restarted")).unwrap();
    // Under a lease what is sent has a cause.
    let caused = submission("lotse", "message/1", json!("caused"));
    rig.block(agent.submit(&caused, Some(fence))).unwrap();
    rig.block(agent.ack(&said, Some(fence))).unwrap();
    rig.block(agent.release(target, fence)).unwrap();
    rig.act("resolve", json!({"target": "lotse", "message": given_up.id}));
    rig.act("pause", json!({"target": "lotse", "until": ahead(60_000)}));
    rig.act("resume", json!({"target": "lotse"}));
    problem(rig.block(rig.client("").operator(&rig.command("disarm", json!({"target": "nobody"})))));
    rig.restart();
    let agent = rig.client(story.agent_token.expose());
    let lease = rig.block(agent.claim(target, &holder, 5)).unwrap();
    for message in &lease.messages {
        let turn = turn_id();
        rig.block(agent.read(target, lease.fence, message.id)).unwrap();
        rig.block(agent.silence(target, lease.fence, message.id, turn, "nothing to say")).unwrap();
    }
    rig.act("disarm", json!({"target": "lotse"}));
}

enforces_process! {
    [Idn1]
    fn idn_1_each_identity_stands_in_its_own_member_of_the_entries_about_it(_seen) {
        let mut rig = Rig::start();
        life(&mut rig);
        let entries = rig.audited();
        let holds = |what: &str, member: &str| {
            let about: Vec<&Value> = entries
                .iter()
                .filter(|entry| entry["input"].get(what).is_some() || entry["records"].to_string().contains(what))
                .collect();
            assert!(!about.is_empty(), "nothing about {what}");
            about.iter().all(|entry| entry["identities"][member].is_string())
        };
        assert!(holds("admit", "principal") && holds("admit", "target"));
        assert!(holds("\"minted\"", "router") && holds("claim", "station") && holds("ask", "daemon"));
        let commands = entries.iter().filter(|entry| entry["records"].to_string().contains("\"enacted\""));
        assert!(commands.clone().count() > 3 && commands.clone().all(|entry| entry["identities"]["operator"] == "op"));
        // And none where it has nothing to do with it.
        assert!(!holds("admit", "router") && !holds("admit", "operator") && !holds("claim", "principal"));
    }

    [Aud2]
    fn aud_2_the_chain_of_a_real_plane_executes_again_as_it_was(_seen) {
        let mut rig = Rig::start();
        life(&mut rig);
        let entries = rig.audited();
        let config = Config::default();
        let mailbox = replay::<Mailbox>(&entries, "mailbox", &config).unwrap();
        assert!(mailbox.recoveries >= 2 && mailbox.advanced >= 20 && mailbox.refused >= 4, "{mailbox:?}");
        let registry = replay::<Registry>(&entries, "registry", &config).unwrap();
        assert!(registry.recoveries >= 2 && registry.advanced >= 10 && registry.refused >= 1, "{registry:?}");
        // Whatever of an input, a fact or a record is changed shows.
        let first = |what: &str| {
            entries.iter().position(|entry| {
                entry["input"].get(what).is_some() && entry["outcome"].get("advanced").is_some()
            })
        };
        let differs = |change: &dyn Fn(&mut Vec<Value>)| {
            let mut changed = entries.clone();
            change(&mut changed);
            assert!(changed != entries);
            replay::<Mailbox>(&changed, "mailbox", &config).unwrap_err()
        };
        let admit = first("admit").unwrap();
        differs(&|all| all[admit]["input"]["admit"]["id"] = json!(message_id()));
        differs(&|all| all[admit]["facts"]["admit"]["roster"] = json!("absent"));
        differs(&|all| all[admit]["records"] = json!([]));
        differs(&|all| drop(all.remove(admit)));
        let read = first("read").unwrap();
        differs(&|all| all[read]["outcome"]["advanced"]["read"]["attempt"] = json!(99));
    }
}

//! One stack: a state directory, a plane, a wake daemon and stations as processes, and the operator who set them up.
//!
//! Small limits, so that what takes minutes elsewhere takes seconds here. Reading order: [`Plan`] (what is wanted) →
//! [`Stack::build`] (init, files, plane, operator's acts) → the questions that scenarios ask from outside.

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use awakener_kernel::ids::{CommandId, MessageId, Principal, SchemaRef, Target, ThreadId};
use awakener_kernel::operator::{Act, Arming, Credential, NewAckKey, Roster, RosterEntry, TargetName};
use awakener_kernel::time::{Millis, Wall};
use awakener_kernel::values::By;
use awakener_kernel::wire::{OperatorCommand, Priority, ResponseExpectation, Signed, Submission};
use serde_json::{Value, json};

use super::children::{Children, Ran};
use super::network::Network;
use super::proxy::Proxy;
use super::tape::{Answer, Outside};
use crate::clock;
use crate::keys::{SecretKey, Token, create_secret};

/// Who raises alerts in every stack.
pub const SENDER: &str = "ops";
/// A known principal that no roster lists.
pub const ROGUE: &str = "rogue";

/// What is wanted of a stack.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Its name; also that of its plane.
    pub name: &'static str,
    /// Lines of `[limits]`.
    pub limits: &'static str,
    /// Lines of `[trial]`.
    pub trial: &'static str,
    /// Whether it has a wake daemon.
    pub wake: bool,
    /// Whether a roster lists the sender for every agent.
    pub roster: bool,
    /// Its agents.
    pub agents: Vec<Agent>,
}

/// One agent of a stack.
#[derive(Clone, Copy, Debug)]
pub struct Agent {
    /// Its name.
    pub target: &'static str,
    /// How its turns go.
    pub script: &'static str,
    /// Whether its station is started with the stack.
    pub station: bool,
    /// Whether a proxy stands between its station and the plane.
    pub proxied: bool,
    /// Settings of its station process alone.
    pub set: &'static str,
    /// Its section of the manifest names this runtime.
    pub runtime: &'static str,
}

/// An agent whose station runs complete turns.
pub const fn agent(target: &'static str) -> Agent {
    Agent { target, script: "\"complete\"", station: true, proxied: false, set: "", runtime: "fake" }
}

/// What stacks share.
#[derive(Clone, Debug)]
pub struct Kit {
    /// Where everything lies.
    pub root: PathBuf,
    /// The processes.
    pub children: Arc<Children>,
    /// HTTP.
    pub outside: Outside,
    /// The network.
    pub network: Network,
}

/// A stack that runs.
#[derive(Debug)]
pub struct Stack {
    /// What was wanted.
    pub plan: Plan,
    /// What all stacks share.
    pub kit: Kit,
    /// The state directory.
    pub dir: PathBuf,
    /// The plane.
    pub plane: String,
    /// The wake daemon.
    pub wake: String,
    /// The proxies, by target.
    pub proxies: BTreeMap<String, Proxy>,
    stations: BTreeMap<String, String>,
    operator: SecretKey,
    observer: String,
}

type Fallible<T> = Result<T, String>;

/// The name of a target; the demo's own are all valid.
///
/// # Errors
/// In words.
pub fn target(name: &str) -> Fallible<Target> {
    Target::parse(name).map_err(|error| format!("{name}: {error}"))
}

fn principal(name: &str) -> Fallible<Principal> {
    Principal::parse(name).map_err(|error| format!("{name}: {error}"))
}

fn said(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// Ten bytes of chance, for an id.
///
/// # Errors
/// In words.
pub fn chance<const N: usize>() -> Fallible<[u8; N]> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(said)?;
    Ok(bytes)
}

/// An id in letters: what is repeated is judged without digits (FUS-1).
fn words(id: MessageId) -> String {
    let letter = |byte: u8| char::from(b'a' + byte % 16);
    id.as_bytes().iter().flat_map(|byte| [letter(byte >> 4), letter(byte & 15)]).collect()
}

/// A new message id.
///
/// # Errors
/// In words.
pub fn message_id() -> Fallible<MessageId> {
    Ok(MessageId::from_parts(clock::system().0, chance()?))
}

/// Looks again and again until there is something, at most so long.
///
/// # Errors
/// What was waited for, when the time is over.
pub async fn until<T>(
    what: &str,
    seconds: u64,
    mut look: impl AsyncFnMut() -> Fallible<Option<T>>,
) -> Fallible<T> {
    let start = Instant::now();
    loop {
        if let Some(found) = look().await? {
            return Ok(found);
        }
        if start.elapsed() > Duration::from_secs(seconds) {
            return Err(format!("waited {seconds} s for {what}"));
        }
        tokio::time::sleep(Duration::from_millis(40)).await;
    }
}

fn free_port() -> Fallible<u16> {
    let listener = TcpListener::bind("127.0.0.1:0").map_err(said)?;
    Ok(listener.local_addr().map_err(said)?.port())
}

impl Stack {
    /// Sets a stack up and starts its processes.
    ///
    /// # Errors
    /// In words.
    pub async fn build(kit: Kit, plan: Plan) -> Fallible<Arc<Self>> {
        let dir = kit.root.join(plan.name);
        let state = dir.display().to_string();
        let operator_file = kit.root.join("operators").join(format!("{}.key", plan.name));
        let key = operator_file.display().to_string();
        let init = ["--state", &state, "init", "--trial", "--plane", plan.name, "--operator-key", &key];
        let made = kit.children.run(&init).await?;
        if made.code != 0 {
            return Err(format!("init: {}", made.err));
        }
        let operator = SecretKey::load(&operator_file).map_err(said)?;
        let observer = Token::load(&dir.join("tokens/observer.token")).map_err(said)?.expose().to_owned();
        let mut stack = Self {
            plane: format!("http://127.0.0.1:{}", free_port()?),
            wake: format!("http://127.0.0.1:{}", free_port()?),
            plan,
            kit,
            dir,
            proxies: BTreeMap::new(),
            stations: BTreeMap::new(),
            operator,
            observer,
        };
        stack.write_files().await?;
        stack.start_plane().await?;
        stack.set_up().await?;
        stack.kit.network.connect(stack.plan.name, &stack.wake, &stack.observer);
        if stack.plan.wake {
            stack.start_wake().await?;
        }
        let stations: Vec<&str> =
            stack.plan.agents.iter().filter(|agent| agent.station).map(|agent| agent.target).collect();
        for target in &stations {
            stack.launch_station(target)?;
        }
        for target in &stations {
            stack.station_armed(target).await?;
        }
        Ok(Arc::new(stack))
    }

    async fn write_files(&mut self) -> Fallible<()> {
        let Plan { name, limits, trial, .. } = self.plan.clone();
        let bare = |url: &str| url.trim_start_matches("http://").to_owned();
        let (plane, wake, push) = (self.plane.clone(), self.wake.clone(), self.kit.network.url(name));
        let mut config = format!(
            "version = 1\nmode = \"trial\"\nplane = \"{name}\"\nmanifest = \"agents.toml\"\n\n[http]\nlisten = \"{}\"\n\n\
             [broker]\nkind = \"http\"\npush = [\"{push}\"]\n\n\
             [wake]\nenabled = false\nname = \"daemon\"\nlisten = \"{}\"\nplane = \"{plane}\"\n\n\
             [limits]\nrate_per_minute = 100000\n{limits}\n\n[trial]\n{trial}\n\n\
             [models.fake]\nwindow = 8192\nbudget = 4096\n",
            bare(&plane),
            bare(&wake),
        );
        let mut manifest = "version = 1\n".to_owned();
        for Agent { target, script, proxied, runtime, .. } in self.plan.agents.clone() {
            let url = format!("http://127.0.0.1:{}", free_port()?);
            let mut way = plane.clone();
            if proxied {
                let proxy = Proxy::to(&plane).await?;
                way = proxy.url();
                self.proxies.insert(target.to_owned(), proxy);
            }
            config += &format!(
                "\n[stations.{target}]\nlisten = \"{}\"\nplane = \"{way}\"\nturn = \"300ms\"\npoll = \"1h\"\nscript = [{script}]\n",
                bare(&url)
            );
            manifest +=
                &format!("\n[agents.{target}]\nheadless = true\ntier0_ack = true\ncooldown = \"200ms\"\n");
            manifest += &match runtime {
                "fake" => format!(
                    "runtime = \"fake\"\nendpoint = \"{url}/message\"\nstatus_endpoint = \"{url}/status\"\n"
                ),
                other => format!("runtime = \"{other}\"\nhost = \"claude-code\"\n"),
            };
            self.stations.insert(target.to_owned(), url);
        }
        for (name, text) in [("awakener.toml", config), ("agents.toml", manifest)] {
            std::fs::write(self.dir.join(name), text).map_err(|error| format!("{name}: {error}"))?;
        }
        Ok(())
    }

    /// Everything that an operator must say before anybody may do anything.
    async fn set_up(&self) -> Fallible<()> {
        for Agent { target: name, .. } in &self.plan.agents {
            let target = target(name)?;
            self.enact(Act::RegisterTarget(TargetName { target: target.clone() })).await?;
            let key = SecretKey::generate().map_err(said)?;
            key.create(&self.dir.join(format!("keys/ack-{name}.key"))).map_err(said)?;
            self.add_ack_key(&target, By::Station, &key).await?;
            self.add_principal(name, &[target.clone()], Some(target.clone())).await?;
            self.arm(name).await?;
        }
        let all: Vec<Target> =
            self.plan.agents.iter().map(|agent| target(agent.target)).collect::<Fallible<_>>()?;
        self.add_principal(SENDER, &all, None).await?;
        self.add_principal(ROGUE, &[], None).await?;
        if self.plan.roster {
            let names: Vec<&str> = self.plan.agents.iter().map(|agent| agent.target).collect();
            self.install_roster(&names, Millis(3_600_000)).await?;
        }
        Ok(())
    }

    /// Gives a target its grant.
    ///
    /// # Errors
    /// In words.
    pub async fn arm(&self, name: &str) -> Fallible<()> {
        let until = clock::system() + Millis(3_600_000);
        self.enact(Act::Arm(Arming { target: target(name)?, until })).await.map(drop)
    }

    /// Registers an ACK key.
    ///
    /// # Errors
    /// In words.
    pub async fn add_ack_key(&self, target: &Target, by: By, key: &SecretKey) -> Fallible<()> {
        // Before now, so that the clocks of the two processes need not agree to the millisecond.
        let not_before = Wall(clock::system().0.saturating_sub(1_000));
        let not_after = not_before + Millis(86_400_000);
        let new = NewAckKey { target: target.clone(), by, key: key.public(), not_before, not_after };
        self.enact(Act::RegisterAckKey(new)).await.map(drop)
    }

    async fn add_principal(&self, name: &str, may_read: &[Target], acts_for: Option<Target>) -> Fallible<()> {
        let token = Token::generate().map_err(said)?;
        let file = self.dir.join(format!("tokens/{name}.token"));
        create_secret(&file, token.expose()).map_err(said)?;
        let credential = Credential {
            principal: principal(name)?,
            credential: token.hash(),
            may_read: may_read.iter().cloned().collect(),
            acts_for,
        };
        self.enact(Act::RegisterPrincipal(credential)).await.map(drop)
    }

    /// Installs a roster that lists the sender for these targets.
    ///
    /// # Errors
    /// In words.
    pub async fn install_roster(&self, names: &[&str], life: Millis) -> Fallible<Answer> {
        let schema = SchemaRef::parse("interrupt-alert/1").map_err(said)?;
        let entries = names
            .iter()
            .map(|name| {
                Ok(RosterEntry {
                    principal: principal(SENDER)?,
                    schema: schema.clone(),
                    target: target(name)?,
                })
            })
            .collect::<Fallible<_>>()?;
        self.enact(Act::InstallRoster(Roster { version: 1, not_after: clock::system() + life, entries }))
            .await
    }

    /// Signs an act, posts it and insists that it took effect.
    ///
    /// # Errors
    /// In words, also when it was refused.
    pub async fn enact(&self, act: Act) -> Fallible<Answer> {
        let subject = match serde_json::to_value(&act).map_err(said)?.get("subject") {
            Some(Value::Object(subject)) => subject.clone(),
            _none => return Err("an act without a subject".to_owned()),
        };
        let now = clock::system();
        let command = OperatorCommand {
            id: CommandId::from_parts(now.0, chance()?),
            plane: self.plan.name.parse().map_err(said)?,
            act: act.name().name().into(),
            subject,
            expected_state: Value::Null,
            reason: "the demo".to_owned(),
            not_after: now + Millis(60_000),
            key_id: self.operator.key_id(),
        };
        let signed = Signed::sign(command, self.operator.signing());
        let url = format!("{}/v1/operator", self.plane);
        let answer = self.kit.outside.post(&url, &self.observer, &signed.to_value()).await?;
        if answer.status == 200 { Ok(answer) } else { Err(format!("{}: {}", act.name().name(), answer.body)) }
    }
}

/// Processes.
impl Stack {
    fn label(&self, what: &str) -> String {
        format!("{}/{what}", self.plan.name)
    }

    /// Starts the plane and waits until it serves.
    ///
    /// # Errors
    /// In words.
    pub async fn start_plane(&self) -> Fallible<()> {
        let state = self.dir.display().to_string();
        let label = self.label("up");
        self.kit.children.start(&label, &["--state", &state, "up"])?;
        self.serves(&label, &format!("{}/readyz", self.plane)).await
    }

    /// Starts the wake daemon and waits until it serves and has the router's key.
    ///
    /// # Errors
    /// In words.
    pub async fn start_wake(&self) -> Fallible<()> {
        let state = self.dir.display().to_string();
        let label = self.label("wake");
        self.kit.children.start(&label, &["--state", &state, "wake"])?;
        self.serves(&label, &format!("{}/v1/status", self.wake)).await?;
        until("the router's key to reach the wake daemon", 10, async || {
            let status = self.daemon_status().await?;
            Ok((status["ring"].as_u64() > Some(0)).then_some(()))
        })
        .await
    }

    /// Starts the station of a target.
    ///
    /// # Errors
    /// In words.
    pub fn launch_station(&self, target: &str) -> Fallible<()> {
        let state = self.dir.display().to_string();
        let mut args = vec!["--state", &state];
        let set = self.plan.agents.iter().find(|agent| agent.target == target).map_or("", |agent| agent.set);
        if !set.is_empty() {
            args.extend(["--set", set]);
        }
        args.extend(["station", target]);
        self.kit.children.start(&self.label(target), &args)
    }

    /// Waits until a station serves.
    ///
    /// # Errors
    /// In words.
    pub async fn serves_station(&self, target: &str) -> Fallible<()> {
        self.serves(&self.label(target), &format!("{}/status", self.station(target)?)).await
    }

    /// Waits until a station serves and holds its grant.
    ///
    /// # Errors
    /// In words.
    pub async fn station_armed(&self, target: &str) -> Fallible<()> {
        self.serves_station(target).await?;
        until(&format!("{target} to be armed"), 10, async || {
            let status = self.station_status(target).await?;
            Ok((!status["grant"].is_null()).then_some(()))
        })
        .await
    }

    async fn serves(&self, label: &str, url: &str) -> Fallible<()> {
        until(&format!("{label} to serve"), 15, async || {
            if let Some(code) = self.kit.children.ended(label) {
                let log = self.kit.children.log(label);
                let tail: Vec<&str> = log.lines().rev().take(6).collect();
                return Err(format!(
                    "{label} ended with {code}: {}",
                    tail.into_iter().rev().collect::<Vec<_>>().join(" | ")
                ));
            }
            let answer = self.kit.outside.get(url, "").await;
            Ok(answer.is_ok_and(|answer| answer.status == 200).then_some(()))
        })
        .await
    }

    /// The processes, for [`Children`].
    pub fn process(&self, what: &str) -> String {
        self.label(what)
    }

    /// Runs one command of the program against this stack.
    ///
    /// # Errors
    /// In words, when it cannot be started.
    pub async fn cli(&self, args: &[&str]) -> Fallible<Ran> {
        let state = self.dir.display().to_string();
        self.kit.children.run(&[&["--state", &state], args].concat()).await
    }

    /// The file with the operator's key.
    pub fn operator_file(&self) -> String {
        self.kit.root.join("operators").join(format!("{}.key", self.plan.name)).display().to_string()
    }

    /// Where a station is woken.
    ///
    /// # Errors
    /// In words.
    pub fn station(&self, target: &str) -> Fallible<&String> {
        self.stations.get(target).ok_or_else(|| format!("{target} is no agent of {}", self.plan.name))
    }
}

/// Questions and submissions.
impl Stack {
    /// The token of a principal.
    ///
    /// # Errors
    /// In words.
    pub fn token(&self, party: &str) -> Fallible<String> {
        let token = Token::load(&self.dir.join(format!("tokens/{party}.token"))).map_err(said)?;
        Ok(token.expose().to_owned())
    }

    /// Submits a message as a principal.
    ///
    /// # Errors
    /// In words, when there is no answer.
    pub async fn submit(&self, party: &str, submission: &Submission) -> Fallible<Answer> {
        let url = format!("{}/v1/messages", self.plane);
        self.kit.outside.post(&url, &self.token(party)?, &submission.to_value()).await
    }

    /// A submission of this schema.
    ///
    /// # Errors
    /// In words.
    pub fn submission(&self, to: &str, schema: &str, intent: &str) -> Fallible<Submission> {
        let id = message_id()?;
        Ok(Submission {
            id,
            thread: ThreadId::from_parts(clock::system().0, chance()?),
            in_reply_to: None,
            target: target(to)?,
            schema: SchemaRef::parse(schema).map_err(said)?,
            priority: Priority::Urgent,
            intent: intent.to_owned(),
            response_expectation: ResponseExpectation::Reply,
            subject: None,
            // Each says something else: who repeats himself is refused for that (ADM-2 `repeat_cap`).
            body: json!({ "text": format!("{intent} ({})", words(id)) }),
            from: None,
        })
    }

    /// Raises an alert and insists that it was admitted.
    ///
    /// # Errors
    /// In words.
    pub async fn alert(&self, to: &str, intent: &str) -> Fallible<MessageId> {
        let submission = self.submission(to, "interrupt-alert/1", intent)?;
        let answer = self.submit(SENDER, &submission).await?;
        if answer.status == 201 { Ok(submission.id) } else { Err(format!("not admitted: {}", answer.body)) }
    }

    /// Asks the plane as an observer.
    ///
    /// # Errors
    /// In words.
    pub async fn ask(&self, path: &str) -> Fallible<Value> {
        let answer = self.kit.outside.get(&format!("{}{path}", self.plane), &self.observer).await?;
        if answer.status == 200 { Ok(answer.body) } else { Err(format!("{path}: {}", answer.body)) }
    }

    /// The receipts of a message.
    ///
    /// # Errors
    /// In words.
    pub async fn receipts(&self, message: MessageId) -> Fallible<Value> {
        Ok(self.ask(&format!("/v1/receipts?message={message}&limit=500")).await?["receipts"].clone())
    }

    /// Waits until a message has a receipt of this kind; all its receipts.
    ///
    /// # Errors
    /// In words.
    pub async fn receipt(&self, message: MessageId, kind: &str, seconds: u64) -> Fallible<Value> {
        until(&format!("{kind} of {message} at {}", self.plan.name), seconds, async || {
            let receipts = self.receipts(message).await?;
            Ok(kinds(&receipts).contains(&kind).then_some(receipts))
        })
        .await
    }

    /// What the plane's status says of a target.
    ///
    /// # Errors
    /// In words.
    pub async fn inbox(&self, target: &str) -> Fallible<Value> {
        let status = self.ask("/v1/status").await?;
        let targets = status["targets"].as_array().cloned().unwrap_or_default();
        targets.into_iter().find(|of| of["target"] == target).ok_or_else(|| format!("no status of {target}"))
    }

    /// What the wake daemon says of itself.
    ///
    /// # Errors
    /// In words.
    pub async fn daemon_status(&self) -> Fallible<Value> {
        Ok(self.kit.outside.get(&format!("{}/v1/status", self.wake), &self.observer).await?.body)
    }

    /// What a station says of itself.
    ///
    /// # Errors
    /// In words.
    pub async fn station_status(&self, target: &str) -> Fallible<Value> {
        let url = format!("{}/v1/status", self.station(target)?);
        Ok(self.kit.outside.get(&url, &self.observer).await?.body)
    }

    /// The audit export of the plane, the daemon (`wake`) or a station (its target).
    ///
    /// # Errors
    /// In words.
    pub async fn audit(&self, whose: &str) -> Fallible<Vec<Value>> {
        let base = match whose {
            "plane" => &self.plane,
            "wake" => &self.wake,
            target => self.station(target)?,
        };
        let (mut all, mut from) = (Vec::new(), 1);
        loop {
            let url = format!("{base}/v1/audit?from={from}&limit=1000");
            let answer = self.kit.outside.get(&url, &self.observer).await?;
            let entries =
                answer.body["entries"].as_array().ok_or_else(|| format!("{url}: {}", answer.body))?;
            let Some(last) = entries.last().and_then(|entry| entry["position"].as_u64()) else {
                return Ok(all);
            };
            from = last + 1;
            all.extend(entries.iter().cloned());
        }
    }
}

/// The kinds of receipts.
pub fn kinds(receipts: &Value) -> Vec<&str> {
    receipts.as_array().into_iter().flatten().filter_map(|receipt| receipt["kind"].as_str()).collect()
}

/// Those records of an audit export that have one of these names, each with its place, time and what it says.
pub fn records(entries: &[Value], names: &[&str]) -> Vec<Value> {
    let mut found = Vec::new();
    for entry in entries {
        for record in entry["entry"]["records"].as_array().into_iter().flatten() {
            let name = match record {
                Value::String(name) => Some(name.as_str()),
                Value::Object(of) => of.keys().next().map(String::as_str),
                _other => None,
            };
            let Some(name) = name.filter(|name| names.contains(name)) else { continue };
            found.push(json!({
                "position": entry["position"],
                "hash": entry["hash"],
                "at": entry["entry"]["now"]["wall"],
                "name": name,
                "record": record.get(name).cloned().unwrap_or(Value::Null),
            }));
        }
    }
    found
}

/// Those records that name a message.
pub fn about(records: Vec<Value>, message: MessageId) -> Vec<Value> {
    let id = message.to_string();
    records.into_iter().filter(|record| record.to_string().contains(&id)).collect()
}

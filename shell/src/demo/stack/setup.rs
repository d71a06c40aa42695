//! What stands before a stack may run: its files, and everything that its operator says.
//!
//! Small limits come from the plan; commands are signed and posted like those of any operator (OPR-1).

use awakener_kernel::ids::{CommandId, Principal, SchemaRef, Target};
use awakener_kernel::operator::{Act, Arming, Credential, NewAckKey, Roster, RosterEntry, TargetName};
use awakener_kernel::time::{Millis, Wall};
use awakener_kernel::values::By;
use awakener_kernel::wire::{OperatorCommand, Signed};
use serde_json::Value;

use super::{Agent, Fallible, Plan, ROGUE, SENDER, Stack, chance, free_port, said, target};
use crate::clock;
use crate::demo::proxy::Proxy;
use crate::demo::tape::Answer;
use crate::keys::{SecretKey, Token, create_secret};

fn principal(name: &str) -> Fallible<Principal> {
    Principal::parse(name).map_err(|error| format!("{name}: {error}"))
}

impl Stack {
    pub(super) async fn write_files(&mut self) -> Fallible<()> {
        let Plan { name, limits, trial, .. } = self.plan.clone();
        let bare = |url: &str| url.trim_start_matches("http://").to_owned();
        let (plane, wake) = (self.plane.clone(), self.wake.clone());
        let targets = self.plan.agents.iter().map(|agent| target(agent.target)).collect::<Fallible<_>>()?;
        let broker = self.kit.network.listen(name, targets).await?;
        let mut config = format!(
            "version = 1\nmode = \"trial\"\nplane = \"{name}\"\nmanifest = \"agents.toml\"\n\n[http]\nlisten = \"{}\"\n\n\
             [broker]\n{broker}\n\n\
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
                "agentapi" => format!(
                    "runtime = \"agentapi\"\nendpoint = \"{url}/message\"\nstatus_endpoint = \"{url}/status\"\n"
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
    pub(super) async fn set_up(&self) -> Fallible<()> {
        for Agent { target: name, .. } in &self.plan.agents {
            let target = target(name)?;
            self.enact(Act::RegisterTarget(TargetName { target: target.clone() })).await?;
            let key = SecretKey::generate().map_err(said)?;
            key.create(&self.dir.join(format!("keys/ack-{name}.key"))).map_err(said)?;
            self.add_ack_key(&target, By::Station, &key).await?;
            self.add_principal(name, std::slice::from_ref(&target), Some(target.clone())).await?;
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
            may_read: may_read.to_vec(),
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

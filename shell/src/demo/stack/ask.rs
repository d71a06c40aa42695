//! Submissions and questions from outside, and what is picked from the answers.

use awakener_kernel::ids::{MessageId, SchemaRef, ThreadId};
use awakener_kernel::wire::{Priority, ResponseExpectation, Submission};
use serde_json::{Value, json};

use super::{Fallible, SENDER, Stack, chance, message_id, said, target, until};
use crate::clock;
use crate::demo::tape::Answer;
use crate::keys::Token;

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

/// An id in letters: what is repeated is judged without digits (FUS-1).
fn words(id: MessageId) -> String {
    let letter = |byte: u8| char::from(b'a' + byte % 16);
    id.as_bytes().iter().flat_map(|byte| [letter(byte >> 4), letter(byte & 15)]).collect()
}

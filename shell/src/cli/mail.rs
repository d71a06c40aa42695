//! Sending, looking, claiming and answering: the message plane from a shell.
//!
//! Every id that a retry needs is in the answer and in every failure, so that a command whose fate is unknown can be
//! repeated as the same one (ADM-7). Rules: ADM-11, INB-5, INB-7, INB-9.

use std::io::Read as _;
use std::path::Path;

use awakener_kernel::ids::{Fence, MessageId, ThreadId, TurnId};
use awakener_kernel::json::{self as door, Numbers};
use awakener_kernel::wire::Submission;
use awakener_spec::Reason;
use serde_json::{Value, json};

use super::args::{Body, Claim, Done, Inbox, Lease, Read, Reply, Send, Silence, Turn, Work};
use super::context::{Bearer, Context};
use super::init;
use super::out::{self, Answer};
use crate::clock;
use crate::exit::{Exit, Failure};

/// More than any plane takes; the plane's own bound is the one that counts.
const LONGEST_BODY: usize = 1 << 20;

/// `send`.
pub fn send(context: &Context, args: &Send) -> Result<Answer, Failure> {
    let now = clock::system().0;
    let id = match args.id {
        Some(id) => id,
        None => MessageId::from_parts(now, init::chance()?),
    };
    let thread = match args.thread {
        Some(thread) => thread,
        None => ThreadId::from_parts(now, init::chance()?),
    };
    let submission = Submission {
        id,
        thread,
        in_reply_to: args.in_reply_to,
        target: args.target.clone(),
        schema: args.schema.clone(),
        priority: args.priority,
        intent: args.intent.clone(),
        response_expectation: args.expect,
        subject: args.subject.clone(),
        body: body(&args.body)?,
        from: None,
    };
    let value = submission.to_value();
    // What this program itself would not read needs no journey.
    Submission::from_value(&value)
        .map_err(|error| Failure::refused(Reason::Malformed).saying(format!("({error})")))?;
    let again = |failure: Failure| {
        let failure = failure.saying(format!("(message {id}, thread {thread})"));
        if failure.reason == Some(Reason::OutcomeUnknown) {
            let next =
                format!("Send exactly the same again with --id {id} --thread {thread}; it cannot act twice.");
            return failure.then(next);
        }
        failure
    };
    let client = context.client(Bearer::Principal)?;
    client.post("/v1/messages", &value, args.lease).map(Answer::fields).map_err(again)
}

/// `inbox`.
pub fn inbox(context: &Context, args: &Inbox) -> Result<Answer, Failure> {
    let mut query = Vec::new();
    let mut put = |name, value: Option<String>| query.extend(value.map(|value| (name, value)));
    put("position", args.position.clone());
    put("limit", args.limit.map(|n| n.to_string()));
    put("wait_ms", args.wait.map(|wait| wait.0.to_string()));
    let page = context.client(Bearer::Principal)?.get(&format!("/v1/inbox/{}", args.target), &query)?;
    let mut text =
        out::list(page.get("items"), &["seq", "tier", "id", "principal", "schema", "intent", "state"]);
    let member = |name: &str| page.get(name).map(out::shown).unwrap_or_default();
    text += &format!(
        "\nposition {}  total {}  outstanding {}  more {}\n",
        member("position"),
        member("total"),
        member("outstanding"),
        member("more")
    );
    Ok(Answer::new(page, text))
}

/// `read`.
pub fn read(context: &Context, args: &Read) -> Result<Answer, Failure> {
    let client = context.client(Bearer::Principal)?;
    let value = match (&args.target, args.fence) {
        (Some(target), Some(Fence(fence))) => {
            let body = json!({"fence": fence, "message": args.message});
            client.post(&format!("/v1/inbox/{target}/read"), &body, None)?
        }
        (_, _) => client.get(&format!("/v1/messages/{}", args.message), &[])?,
    };
    Ok(Answer::fields(value))
}

/// `claim`.
pub fn claim(context: &Context, args: &Claim) -> Result<Answer, Failure> {
    let body = json!({"holder": args.holder, "max": args.max});
    let value =
        context.client(Bearer::Principal)?.post(&format!("/v1/inbox/{}/claim", args.target), &body, None)?;
    let member = |name: &str| value.get(name).map(out::shown).unwrap_or_default();
    let mut text = format!("fence {}  lease {} ms\n\n", member("fence"), member("lease_ms"));
    text += &out::list(value.get("messages"), &["seq", "tier", "id", "principal", "schema", "intent"]);
    if context.dry_run() {
        return Ok(Answer::fields(value));
    }
    Ok(Answer::new(value, text))
}

/// `renew` and `release`.
pub fn lease(context: &Context, what: &str, args: &Lease) -> Result<Answer, Failure> {
    let path = format!("/v1/inbox/{}/{what}", args.target);
    context.client(Bearer::Principal)?.post(&path, &json!({"fence": args.fence}), None).map(Answer::fields)
}

/// `turn`.
pub fn turn(context: &Context, args: &Turn) -> Result<Answer, Failure> {
    let turn = turn_id(&args.work)?;
    let message = args.work.message;
    let body =
        json!({"fence": args.work.lease.fence, "message": message, "turn": turn, "finish": args.finish});
    work(context, &args.work, "turns", turn, &body)
}

/// `reply`.
pub fn reply(context: &Context, args: &Reply) -> Result<Answer, Failure> {
    let turn = turn_id(&args.work)?;
    let mut result = result(&args.work, turn);
    put(&mut result, "body", body(&args.body)?);
    work(context, &args.work, "replies", turn, &result)
}

/// `silence`.
pub fn silence(context: &Context, args: &Silence) -> Result<Answer, Failure> {
    let turn = turn_id(&args.work)?;
    let mut result = result(&args.work, turn);
    put(&mut result, "reason", args.reason.clone().into());
    work(context, &args.work, "silences", turn, &result)
}

/// `done`.
pub fn done(context: &Context, args: &Done) -> Result<Answer, Failure> {
    let turn = turn_id(&args.work)?;
    work(context, &args.work, "done", turn, &result(&args.work, turn))
}

fn turn_id(work: &Work) -> Result<TurnId, Failure> {
    match work.turn {
        Some(turn) => Ok(turn),
        None => Ok(TurnId::from_parts(clock::system().0, init::chance()?)),
    }
}

fn result(work: &Work, turn: TurnId) -> Value {
    json!({"fence": work.lease.fence, "in_reply_to": work.message, "turn": turn})
}

fn put(value: &mut Value, name: &str, member: Value) {
    if let Value::Object(members) = value {
        members.insert(name.into(), member);
    }
}

fn work(context: &Context, work: &Work, path: &str, turn: TurnId, body: &Value) -> Result<Answer, Failure> {
    let path = format!("/v1/inbox/{}/{path}", work.lease.target);
    let mut value = context
        .client(Bearer::Principal)?
        .post(&path, body, None)
        .map_err(|failure| failure.saying(format!("(turn {turn})")))?;
    if !context.dry_run() {
        put(&mut value, "turn", turn.to_string().into());
    }
    Ok(Answer::fields(value))
}

fn body(body: &Body) -> Result<Value, Failure> {
    let read = |text: &[u8]| {
        door::read(text, LONGEST_BODY, Numbers::Portable)
            .map_err(|error| Failure::refused(Reason::Malformed).saying(format!("(the body: {error})")))
    };
    match (&body.text, &body.body, &body.body_file) {
        (Some(text), _, _) => Ok(json!({"text": text})),
        (None, Some(text), _) => read(text.as_bytes()),
        (None, None, Some(file)) => read(&contents(file)?),
        (None, None, None) => Err(Failure::usage("There is no body.")),
    }
}

fn contents(file: &Path) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let most = LONGEST_BODY as u64 + 1;
    let read = if file == Path::new("-") {
        std::io::stdin().lock().take(most).read_to_end(&mut bytes)
    } else {
        std::fs::File::open(file).and_then(|file| file.take(most).read_to_end(&mut bytes))
    };
    match read {
        Ok(_) => Ok(bytes),
        Err(error) => {
            Err(Failure::new(Exit::Failed, format!("The body cannot be read: {error}.")).at(file.display()))
        }
    }
}

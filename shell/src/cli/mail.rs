//! Sending, looking, claiming and answering: the message plane from a shell.
//!
//! Every id that a retry needs is in the answer and in every failure, so that a command whose fate is unknown can be
//! repeated as the same one (ADM-7). Rules: ADM-11, INB-5, INB-7, INB-9.

use std::io::Read as _;
use std::path::Path;
use std::time::Duration;

use awakener_kernel::ids::{MessageId, ThreadId, TurnId};
use awakener_kernel::json::{self as door, Numbers};
use awakener_kernel::wire::Submission;
use awakener_spec::Reason;
use serde_json::{Value, json};

use super::args::{Body, Claim, Done, Inbox, Lease, Read, Reply, Send, Silence, Text, Turn, Work};
use super::context::{Bearer, Context};
use super::out::Answer;
use super::plane::value;
use super::{init, show};
use crate::client::{Client, ClientError, ReadFrom};
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
    // What this program itself would not read needs no journey.
    Submission::from_value(&submission.to_value())
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
    let plane = context.plane(Bearer::Principal)?;
    let told = plane.tell(async |client| client.submit(&submission, args.lease).await).map_err(again)?;
    Ok(told.answer(|admitted| {
        let text = show::admitted(&admitted, thread);
        let mut value = value(&admitted);
        put(&mut value, "thread", thread.to_string().into());
        Answer::new(value, text)
    }))
}

/// `inbox`.
pub fn inbox(context: &Context, args: &Inbox) -> Result<Answer, Failure> {
    let from = match &args.position {
        Some(position) => ReadFrom::Position(position.clone()),
        None if args.tail => ReadFrom::Tail,
        None => ReadFrom::Start,
    };
    let wait = args.wait.map(|wait| Duration::from_millis(wait.0));
    let plane = context.plane(Bearer::Principal)?;
    let page = plane.ask(async |client| client.inbox(&args.target, &from, args.limit, wait).await)?;
    Ok(Answer::new(value(&page), show::inbox(&page)))
}

/// `read`.
pub fn read(context: &Context, args: &Read) -> Result<Answer, Failure> {
    let plane = context.plane(Bearer::Principal)?;
    match (&args.target, args.fence) {
        (Some(target), Some(fence)) => {
            let told = plane.tell(async |client| client.read(target, fence, args.message).await)?;
            Ok(told.answer(|work| Answer::new(value(&work), show::work(&work))))
        }
        (_, _) => {
            let message = plane.ask(async |client| client.message(args.message).await)?;
            Ok(Answer::new(value(&message), show::message(&message)))
        }
    }
}

/// `claim`.
pub fn claim(context: &Context, args: &Claim) -> Result<Answer, Failure> {
    let plane = context.plane(Bearer::Principal)?;
    let told = plane.tell(async |client| client.claim(&args.target, &args.holder, args.max).await)?;
    Ok(told.answer(|claimed| Answer::new(value(&claimed), show::claimed(&claimed))))
}

/// `renew`.
pub fn renew(context: &Context, args: &Lease) -> Result<Answer, Failure> {
    let told = context
        .plane(Bearer::Principal)?
        .tell(async |client| client.renew(&args.target, args.fence).await)?;
    Ok(told.answer(|()| lease(args, "renewed")))
}

/// `release`.
pub fn release(context: &Context, args: &Lease) -> Result<Answer, Failure> {
    let told = context
        .plane(Bearer::Principal)?
        .tell(async |client| client.release(&args.target, args.fence).await)?;
    Ok(told.answer(|()| lease(args, "released")))
}

fn lease(args: &Lease, what: &str) -> Answer {
    Answer::fields(json!({"target": args.target, "fence": args.fence, "lease": what}))
}

/// `turn`.
pub fn turn(context: &Context, args: &Turn) -> Result<Answer, Failure> {
    work(context, &args.work, "turn", async |client, turn| {
        let Work { lease: Lease { target, fence }, message, .. } = &args.work;
        client.finish_turn(target, *fence, *message, turn, args.finish, None).await
    })
}

/// `reply`.
pub fn reply(context: &Context, args: &Reply) -> Result<Answer, Failure> {
    let text = text(&args.answer)?;
    work(context, &args.work, "reply", async |client, turn| {
        let Work { lease: Lease { target, fence }, message, .. } = &args.work;
        client.reply(target, *fence, *message, turn, &text).await
    })
}

/// `silence`.
pub fn silence(context: &Context, args: &Silence) -> Result<Answer, Failure> {
    work(context, &args.work, "silence", async |client, turn| {
        let Work { lease: Lease { target, fence }, message, .. } = &args.work;
        client.silence(target, *fence, *message, turn, &args.reason).await
    })
}

/// `done`.
pub fn done(context: &Context, args: &Done) -> Result<Answer, Failure> {
    work(context, &args.work, "done", async |client, turn| {
        let Work { lease: Lease { target, fence }, message, .. } = &args.work;
        client.done(target, *fence, *message, turn).await
    })
}

/// A result of a turn. The turn's id is in the answer and in a failure: the same turn repeats safely.
fn work(
    context: &Context,
    work: &Work,
    what: &str,
    call: impl AsyncFnOnce(&Client, TurnId) -> Result<bool, ClientError>,
) -> Result<Answer, Failure> {
    let turn = turn_id(work)?;
    let told = context
        .plane(Bearer::Principal)?
        .tell(async |client| call(client, turn).await)
        .map_err(|failure| failure.saying(format!("(turn {turn})")))?;
    Ok(told.answer(|repeat| {
        Answer::fields(json!({"message": work.message, "turn": turn, "recorded": what, "repeat": repeat}))
    }))
}

fn turn_id(work: &Work) -> Result<TurnId, Failure> {
    match work.turn {
        Some(turn) => Ok(turn),
        None => Ok(TurnId::from_parts(clock::system().0, init::chance()?)),
    }
}

fn put(value: &mut Value, name: &str, member: Value) {
    if let Value::Object(members) = value {
        members.insert(name.into(), member);
    }
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

fn text(of: &Text) -> Result<String, Failure> {
    match (&of.text, &of.text_file) {
        (Some(text), _) => Ok(text.clone()),
        (None, Some(file)) => String::from_utf8(contents(file)?)
            .map_err(|_| Failure::refused(Reason::Malformed).saying("(the text is not UTF-8)")),
        (None, None) => Err(Failure::usage("There is no text.")),
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

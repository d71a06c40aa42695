//! `ack`: the signed statement that closes an alert's witness.
//!
//! The key comes from a file and never leaves it. The content hash is the one that was read; if none is given, the
//! plane is asked for the message first, which also shows that it can be read. Rules: ACK-3, ACK-4, IDN-7.

use awakener_kernel::ids::ContentHash;
use awakener_kernel::wire::{AckStatement, Signed};
use serde_json::json;

use super::args::Ack;
use super::context::{Bearer, Context};
use super::out::Answer;
use crate::clock;
use crate::exit::Failure;
use crate::keys::SecretKey;

/// `ack`.
pub fn ack(context: &Context, args: &Ack) -> Result<Answer, Failure> {
    let file = args.ack_key.clone().unwrap_or_else(|| context.key_file(&format!("ack-{}.key", args.target)));
    let key = SecretKey::load(&file)?;
    let content_sha256 = match args.content_sha256 {
        Some(hash) => hash,
        None => read_hash(context, args)?,
    };
    let statement = AckStatement {
        message_id: args.message,
        content_sha256,
        target: args.target.clone(),
        outcome: args.outcome,
        by: args.by,
        key_id: key.key_id(),
        time: clock::system(),
    };
    let signed = Signed::sign(statement, key.signing());
    let told =
        context.plane(Bearer::Principal)?.tell(async |client| client.ack(&signed, args.lease).await)?;
    Ok(told.answer(|repeat| {
        Answer::fields(json!({
            "message": args.message,
            "target": args.target,
            "outcome": args.outcome,
            "by": args.by,
            "acknowledged": true,
            "repeat": repeat,
        }))
    }))
}

fn read_hash(context: &Context, args: &Ack) -> Result<ContentHash, Failure> {
    let plane = context.plane(Bearer::Principal)?;
    Ok(plane.ask(async |client| client.message(args.message).await)?.head.content_sha256)
}

//! `ack`: the signed statement that closes an alert's witness.
//!
//! The key comes from a file and never leaves it. The content hash is the one that was read; if none is given, the
//! plane is asked for the message first, which also shows that it can be read. Rules: ACK-3, ACK-4, IDN-7.

use awakener_kernel::ids::ContentHash;
use awakener_kernel::wire::{AckStatement, Signed};
use serde_json::Value;

use super::args::Ack;
use super::context::{Bearer, Context};
use super::out::Answer;
use crate::clock;
use crate::exit::{Exit, Failure};
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
    context.client(Bearer::Signed)?.post("/v1/acks", &signed.to_value(), args.lease).map(Answer::fields)
}

fn read_hash(context: &Context, args: &Ack) -> Result<ContentHash, Failure> {
    let message = context.client(Bearer::Principal)?.get(&format!("/v1/messages/{}", args.message), &[])?;
    let hash = message
        .get("content_sha256")
        .or_else(|| message.get("message")?.get("content_sha256"))
        .and_then(Value::as_str)
        .and_then(|text| ContentHash::parse(text).ok());
    hash.ok_or_else(|| {
        Failure::new(Exit::Malformed, "The plane's answer has no content hash to sign.")
            .then("Name the hash that was read with --content-sha256.")
    })
}

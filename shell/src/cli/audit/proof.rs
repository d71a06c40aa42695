//! Proofs of a running plane, checked here (AUD-3): that its newest checkpoint extends a kept one, and that it covers a
//! record.
//!
//! A few hashes are fetched, whatever the length of the chain. They show what the plane has signed, not what lies on
//! its disk; who wants that walks an export. Rules: AUD-3.

use awakener_kernel::audit::proof::{consistent, included};
use awakener_kernel::audit::{self as chain, Comparison, tree};
use awakener_kernel::ids::PublicKey;
use awakener_kernel::json;
use awakener_kernel::wire::{Checkpoint, Signed};
use awakener_spec::Rule;
use serde_json::{Value, json as object};

use super::super::context::{Bearer, Context};
use super::super::offline;
use super::super::out::Answer;
use super::super::plane::value;
use super::checkpoint::{Kept, Known, judged, said};
use crate::exit::{Exit, Failure};
use crate::http::wire::answers::{AuditRow, Consistency};
use crate::http::wire::registry::RegistryNow;

/// What can be had: the proof of a plane, or the chain of a store that no plane holds.
enum Had {
    Proof(Box<(RegistryNow, Consistency)>),
    Chain(Vec<AuditRow>),
}

/// `audit verify --since` without a file.
pub fn since(context: &Context, kept: &Kept) -> Result<Answer, Failure> {
    let plane = context.plane(Bearer::Observer)?;
    let first = kept.signed.document().size;
    let asked = plane.ask(async |client| {
        let registry = client.registry().await?;
        Ok(Had::Proof(Box::new((registry, client.consistency(first).await?))))
    });
    let (registry, proof) = match offline::or_store(context, asked, |store| store.audit(1).map(Had::Chain))? {
        Had::Proof(proof) => *proof,
        Had::Chain(rows) => {
            let lines: Vec<Value> = rows.iter().map(value).collect();
            return super::verify(&lines, &context.url()?, Some(kept));
        }
    };
    let place = context.url()?;
    let known = Known::of_plane(&registry);
    let old = known.judge(&kept.signed, &kept.trusted, &kept.place)?;
    let signed = newest(&proof.checkpoint, &place)?;
    let new = known.judge(&signed, &kept.trusted, &place)?;
    let found = match &proof.path {
        _ if new.plane != old.plane => Comparison::Foreign,
        _ if new.size < old.size => Comparison::Truncated,
        None => Comparison::Truncated,
        Some(path) if consistent(old.size, new.size, &old.head, &new.head, path) => Comparison::Extends,
        Some(_) => Comparison::Differs,
    };
    said(old, found, new.size, &place)?;
    let judged = judged(old, kept.trusted.is_empty());
    let not_proved = format!(
        "that what lies on the disk is what was signed; --whole or an export shows that{}",
        judged.but
    );
    let newest =
        object!({"size": new.size, "time": new.time.utc(), "plane": new.plane, "key_id": new.key_id});
    let text = format!(
        "newest checkpoint over {} from {}\n{}not proved: {not_proved}\n",
        new.size,
        new.time.utc(),
        judged.text
    );
    let said = object!({
        "ok": true,
        "comparison": Comparison::Extends,
        "checkpoint": judged.value,
        "newest": newest,
        "not_proved": not_proved,
    });
    Ok(Answer::new(said, text))
}

/// `audit prove`.
pub fn prove(context: &Context, position: u64, trusted: Vec<PublicKey>) -> Result<Answer, Failure> {
    let plane = context.plane(Bearer::Observer)?;
    let (registry, proof) =
        plane.ask(async |client| Ok((client.registry().await?, client.inclusion(position).await?)))?;
    let place = context.url()?;
    let signed = newest(&proof.checkpoint, &place)?;
    let checkpoint = Known::of_plane(&registry).judge(&signed, &trusted, &place)?;
    let Some(entry) = &proof.entry else {
        return Err(Failure::new(Exit::Failed, format!("There is no record {position}.")).at(place));
    };
    let (Some(index), Some(path)) = (proof.index, &proof.path) else {
        let what =
            format!("The newest checkpoint covers {} records, and not record {position}.", checkpoint.size);
        return Err(Failure::new(Exit::Unavailable, what)
            .by(Rule::Aud3)
            .at(place)
            .then("Have a checkpoint signed with `audit checkpoint`, then ask again."));
    };
    let hash = chain::hash(&json::canonical(entry));
    let holds = entry.get("position").and_then(Value::as_u64) == Some(position)
        && included(&tree::leaf(&hash.0), index, checkpoint.size, path, &checkpoint.head);
    if !holds {
        return said(checkpoint, Comparison::Differs, checkpoint.size, &place)
            .map(|()| Answer::new(Value::Null, String::new()));
    }
    let judged = judged(checkpoint, trusted.is_empty());
    let mut text = format!(
        "record {position} is covered by the checkpoint over {} from {}\nhash {hash}\n",
        checkpoint.size,
        checkpoint.time.utc()
    );
    if !judged.but.is_empty() {
        text += &format!("not proved: {}\n", judged.but.trim_start_matches(", and "));
    }
    let mut said = value(&proof);
    said["ok"] = true.into();
    said["hash"] = object!(hash);
    said["not_proved"] = judged.but.trim_start_matches(", and ").into();
    Ok(Answer::new(said, text))
}

fn newest(signed: &Value, place: &str) -> Result<Signed<Checkpoint>, Failure> {
    Signed::from_value(signed).map_err(|error| {
        Failure::new(Exit::Malformed, format!("What the plane shows is no checkpoint: {error}."))
            .by(Rule::Aud3)
            .at(place)
    })
}

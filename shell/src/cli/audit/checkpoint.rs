//! Kept checkpoints: what somebody outside knows of a chain, and whether the chain still has it.
//!
//! A checkpoint is worth as much as the key that it is checked with. The key comes from the command line or from the
//! state directory; whoever keeps checkpoints against somebody who can write there keeps the public key as well.
//! Rules: AUD-3.

use std::path::Path;

use awakener_kernel::ids::{ContentHash, PublicKey};
use awakener_kernel::json::{self, Numbers};
use awakener_kernel::wire::{Checkpoint, Signed};
use awakener_spec::{Reason, Rule, rule};

use super::super::context::{Bearer, Context};
use super::super::out::{self, Answer};
use super::write_new;
use crate::exit::{Exit, Failure};
use crate::keys::SecretKey;
use crate::plane::queries::Tree;

/// The most bytes of a file with a checkpoint.
const LARGEST: usize = 65_536;

/// `audit checkpoint`.
pub fn sign(context: &Context, file: Option<&Path>) -> Result<Answer, Failure> {
    let told = context.plane(Bearer::Observer)?.tell(async |client| client.checkpoint().await)?;
    let written = match (&told, file) {
        (super::super::plane::Told::Done(signed), Some(file)) => {
            write_new(file, &format!("{}\n", signed.to_value()))
        }
        (_, _) => Ok(()),
    };
    written?;
    Ok(told.answer(|signed| {
        let checkpoint = signed.document();
        let mut text = out::fields(&serde_json::json!({
            "plane": checkpoint.plane,
            "size": checkpoint.size,
            "head": checkpoint.head,
            "time": checkpoint.time.utc(),
            "key_id": checkpoint.key_id,
        }));
        text += &match file {
            Some(file) => format!("\nkept in {}\n", file.display()),
            None => format!("\n{}\n", signed.to_value()),
        };
        Answer::new(serde_json::json!({"checkpoint": signed.to_value()}), text)
    }))
}

/// A checkpoint from a file, as it was written by `audit checkpoint`, if its signature holds.
///
/// # Errors
/// Exit 65 if it is none or its signature does not hold; exit 2 if no key is known to check it with.
pub fn load(context: &Context, file: &Path, key: Option<PublicKey>) -> Result<Checkpoint, Failure> {
    let text = std::fs::read_to_string(file).map_err(|error| {
        Failure::new(Exit::Failed, format!("The checkpoint cannot be read: {error}.")).at(file.display())
    })?;
    let malformed = |what: &dyn std::fmt::Display| {
        Failure::new(Exit::Malformed, format!("The file is no signed checkpoint: {what}."))
            .by(Rule::Aud3)
            .at(file.display())
    };
    let value = json::read(text.as_bytes(), LARGEST, Numbers::Integers).map_err(|error| malformed(&error))?;
    // Both the file of `--out` and the object of `--json` are taken.
    let signed = match value.get("checkpoint").filter(|inner| inner.get("signature").is_some()) {
        Some(inner) => Signed::from_value(inner),
        None => Signed::from_value(&value),
    };
    let signed: Signed<Checkpoint> = signed.map_err(|error| malformed(&error))?;
    let key = match key {
        Some(key) => key,
        None => own_key(context)?,
    };
    match signed.verify(&key) {
        Ok(checkpoint) => Ok(checkpoint.clone()),
        Err(_) => Err(malformed(&format!("its signature does not hold under {}", key.key_id()))
            .then("Name the key that signed it with --audit-key.")),
    }
}

fn own_key(context: &Context) -> Result<PublicKey, Failure> {
    let file = context.key_file("audit.key");
    if !file.exists() {
        return Err(Failure::usage("There is no key to check the checkpoint with.")
            .then("Say --audit-key KEY; `keys list` shows it."));
    }
    Ok(SecretKey::load(&file)?.public())
}

/// Whether the chain with these hashes has every record that the checkpoint covers.
///
/// # Errors
/// `chain_broken`: the tail is missing, or the records are others.
pub fn compare(kept: &Checkpoint, hashes: &[ContentHash], place: &str) -> Result<(), Failure> {
    let covered = usize::try_from(kept.size).ok().and_then(|size| hashes.get(..size));
    let wrong = match covered {
        None => format!(
            "The chain was cut: it has {} of the {} records that the checkpoint of {} covers.",
            hashes.len(),
            kept.size,
            kept.time.utc()
        ),
        Some(covered) => {
            let mut tree = Tree::default();
            covered.iter().for_each(|hash| tree.push(hash));
            if tree.head() == kept.head {
                rule!(Aud3);
                return Ok(());
            }
            let (size, time) = (kept.size, kept.time.utc());
            format!("The first {size} records are not those of the checkpoint of {time}.")
        }
    };
    Err(Failure { what: wrong, ..Failure::refused(Reason::ChainBroken).by(Rule::Aud3).at(place) })
}

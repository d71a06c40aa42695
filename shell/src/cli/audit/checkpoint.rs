//! Kept checkpoints: what somebody outside knows of a chain, and whether the chain still has it.
//!
//! A checkpoint is worth as much as the key that it is checked with, and only public keys are used. They come from the
//! command line; if none is named there, from the chain or the plane that is judged, and the answer says that this
//! proves less. What the chain says of the life of a key counts in either case: a key that was revoked signs nothing
//! any more. Rules: AUD-3, IDN-7.

use std::collections::BTreeMap;
use std::path::Path;

use awakener_kernel::audit::tree::Tree;
use awakener_kernel::audit::{self as chain, Comparison};
use awakener_kernel::ids::{KeyId, PlaneName, PublicKey};
use awakener_kernel::json::{self, Numbers};
use awakener_kernel::machine::Image as _;
use awakener_kernel::registry::image::{Image, Key, Record};
use awakener_kernel::time::Wall;
use awakener_kernel::wire::{Checkpoint, Signed};
use awakener_spec::{Reason, rule};
use serde_json::Value;

use super::super::context::{Bearer, Context};
use super::super::out::{self, Answer};
use super::super::plane::Told;
use super::write_new;
use crate::exit::{Exit, Failure};
use crate::http::wire::registry::{KeyRole, RegistryNow};

/// The most bytes of a file with a checkpoint.
const LARGEST: usize = 65_536;

/// `audit checkpoint`.
pub fn fetch(context: &Context, file: Option<&Path>, newest: bool) -> Result<Answer, Failure> {
    let plane = context.plane(Bearer::Observer)?;
    let told = if newest {
        Told::Done(plane.ask(async |client| client.newest_checkpoint().await)?)
    } else {
        plane.tell(async |client| client.checkpoint().await)?
    };
    if let (Told::Done(signed), Some(file)) = (&told, file) {
        write_new(file, &format!("{}\n", signed.to_value()))?;
    }
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

/// A checkpoint from a file, and the keys that somebody trusts.
#[derive(Debug)]
pub struct Kept {
    /// As it was written by `audit checkpoint`.
    pub signed: Signed<Checkpoint>,
    /// Where it lies.
    pub place: String,
    /// Those of the command line.
    pub trusted: Vec<PublicKey>,
}

/// A checkpoint that the chain extends, for an answer.
#[derive(Debug)]
pub struct Judged {
    /// For people.
    pub text: String,
    /// For `--json`.
    pub value: Value,
    /// What the origin of the key leaves open.
    pub but: &'static str,
}

impl Kept {
    /// Reads one.
    ///
    /// # Errors
    /// `checkpoint_untrusted` if the file holds none; exit 1 if it cannot be read.
    pub fn load(file: &Path, trusted: Vec<PublicKey>) -> Result<Self, Failure> {
        let bytes = std::fs::read(file).map_err(|error| {
            Failure::new(Exit::Failed, format!("The checkpoint cannot be read: {error}.")).at(file.display())
        })?;
        let malformed = |what: &dyn std::fmt::Display| {
            Failure::refused(Reason::CheckpointUntrusted)
                .saying(format!("(the file is no signed checkpoint: {what})"))
                .at(file.display())
        };
        let value = json::read(&bytes, LARGEST, Numbers::Integers).map_err(|error| malformed(&error))?;
        // Both the file of `--out` and the object of `--json` are taken.
        let signed = match value.get("checkpoint").filter(|inner| inner.get("signature").is_some()) {
            Some(inner) => Signed::from_value(inner),
            None => Signed::from_value(&value),
        };
        let signed = signed.map_err(|error| malformed(&error))?;
        Ok(Self { signed, place: file.display().to_string(), trusted })
    }

    /// Holds it against a whole chain, record by record as stored.
    ///
    /// # Errors
    /// `checkpoint_foreign`, `checkpoint_untrusted`, `checkpoint_truncated`, `checkpoint_differs`.
    pub fn over(&self, stored: &[Vec<u8>], place: &str) -> Result<Judged, Failure> {
        let known = Known::of_chain(stored);
        let kept = known.judge(&self.signed, &self.trusted, &self.place)?;
        let covered = usize::try_from(kept.size).ok().and_then(|size| stored.get(..size));
        let head = covered.map(|covered| {
            let mut tree = Tree::default();
            covered.iter().for_each(|stored| tree.push(&chain::hash(stored)));
            tree.head()
        });
        let plane = known.plane.as_ref().unwrap_or(&kept.plane);
        said(kept, kept.compare(plane, stored.len() as u64, head.as_ref()), stored.len() as u64, place)?;
        Ok(judged(kept, self.trusted.is_empty()))
    }
}

/// What a comparison means for a command.
///
/// # Errors
/// Everything but [`Comparison::Extends`].
pub fn said(kept: &Checkpoint, found: Comparison, now: u64, place: &str) -> Result<(), Failure> {
    let (size, time) = (kept.size, kept.time.utc());
    let (reason, what) = match found {
        Comparison::Extends => {
            rule!(Aud3);
            return Ok(());
        }
        Comparison::Truncated => (
            Reason::CheckpointTruncated,
            format!("(it has {now} of the {size} records that the checkpoint of {time} covers)"),
        ),
        Comparison::Differs => (
            Reason::CheckpointDiffers,
            format!("(the first {size} are not those of the checkpoint of {time})"),
        ),
        Comparison::Foreign => (Reason::CheckpointForeign, format!("(it is of {:?})", kept.plane.as_str())),
    };
    Err(Failure::refused(reason).saying(what).at(place))
}

/// The answer about a checkpoint that is extended.
pub fn judged(kept: &Checkpoint, unnamed: bool) -> Judged {
    let (size, time) = (kept.size, kept.time.utc());
    Judged {
        text: format!("has every record of the checkpoint over {size} from {time}\n"),
        value: serde_json::json!({"size": size, "time": time, "plane": kept.plane, "key_id": kept.key_id}),
        but: if unnamed {
            ", and that the audit key is the right one: it was taken from the chain, name it with --audit-key"
        } else {
            ""
        },
    }
}

/// What a chain, or a plane, says of its audit keys.
#[derive(Debug, Default)]
pub struct Known {
    /// Whose chain it is.
    pub plane: Option<PlaneName>,
    keys: BTreeMap<KeyId, Key>,
}

impl Known {
    /// From the records of the registry, as far as they can be read.
    fn of_chain(stored: &[Vec<u8>]) -> Self {
        let mut image = Image::default();
        for stored in stored {
            let Ok(entry) = serde_json::from_slice::<Value>(stored) else { continue };
            if entry.get("machine").and_then(Value::as_str) != Some("registry") {
                continue;
            }
            for record in entry.get("records").and_then(Value::as_array).into_iter().flatten() {
                if let Ok(record) = serde_json::from_value::<Record>(record.clone()) {
                    image.apply(&record);
                }
            }
        }
        Self { plane: image.plane, keys: image.audit_keys }
    }

    /// From what a running plane says.
    pub fn of_plane(registry: &RegistryNow) -> Self {
        let time = |text: &Option<String>, absent: Wall| match text {
            None => Some(absent),
            Some(text) => Wall::parse_utc(text).ok(),
        };
        let keys = registry.keys.iter().filter(|entry| entry.role == KeyRole::Audit).filter_map(|entry| {
            let revoked = match &entry.revoked {
                None => None,
                Some(text) => Some(Wall::parse_utc(text).ok()?),
            };
            let (not_before, not_after) =
                (time(&entry.not_before, Wall(0))?, time(&entry.not_after, Wall::LAST)?);
            Some((entry.key_id, Key { key: entry.public, not_before, not_after, revoked }))
        });
        Self { plane: registry.plane.as_deref().and_then(|name| name.parse().ok()), keys: keys.collect() }
    }

    /// The checkpoint, if a key that may sign for this plane stands behind it.
    ///
    /// # Errors
    /// `checkpoint_foreign`, `checkpoint_untrusted`.
    pub fn judge<'a>(
        &self,
        signed: &'a Signed<Checkpoint>,
        trusted: &[PublicKey],
        place: &str,
    ) -> Result<&'a Checkpoint, Failure> {
        let stated = signed.document();
        if self.plane.as_ref().is_some_and(|plane| *plane != stated.plane) {
            said(stated, Comparison::Foreign, 0, place)?;
        }
        let untrusted = |why: String| Failure::refused(Reason::CheckpointUntrusted).saying(why).at(place);
        let id = stated.key_id;
        let registered = self.keys.get(&id);
        let key = match trusted {
            [] => registered.map(|key| key.key),
            named => named.iter().find(|key| key.key_id() == id).copied(),
        };
        let Some(key) = key else {
            let not = if trusted.is_empty() { "the chain registers" } else { "was named" };
            return Err(untrusted(format!("(it names {id}, and no such key {not})",)));
        };
        let checkpoint = signed
            .verify(&key)
            .map_err(|_| untrusted(format!("(its signature does not hold under {id})")))?;
        if let Some(life) = registered {
            let time = checkpoint.time;
            if let Some(at) = life.revoked.filter(|at| time >= *at) {
                return Err(untrusted(format!("({id} was revoked at {}, before it signed this)", at.utc())));
            }
            if time < life.not_before || time >= life.not_after {
                return Err(untrusted(format!("({id} did not hold at {})", time.utc())));
            }
        }
        Ok(checkpoint)
    }
}

//! The hint: a CloudEvent that says "look at your inbox" and nothing else (SIG-1 to SIG-5).
//!
//! Two ways to have one: [`ParsedHint`] from received bytes, whose signing bytes hold the strings as they were
//! received, and [`UnsignedHint`] to be signed and sent. Neither says that a hint is genuine; that is [`mod@super::screen`].

use alloc::format;
use alloc::string::ToString as _;
use alloc::vec::Vec;

use awakener_spec::Rule;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::domain::{Domain, SigningBytes};
use super::malformed::Malformed;
use super::members::Members;
use super::verify::{self, SigningKey};
use crate::ids::{Form, FormError, KeyId, MessageId, Nonce, SignatureBytes, Target, Token, WakeId};
use crate::json::{self, Numbers};
use crate::time::{Millis, Wall};

/// The type of the event.
pub const TYPE: &str = "org.ming-qiao.agent.wake.requested.v1";
/// What a source starts with; the 64 hex digits of the key id follow.
pub const SOURCE: &str = "urn:ming-qiao:router:";
/// What a subject starts with; the target follows.
pub const SUBJECT: &str = "agent/";
/// The most bytes of a hint (SIG-2).
pub const MAX_BYTES: usize = 4096;
/// The longest life of a hint (SIG-5).
pub const MAX_TTL: Millis = Millis::seconds(30);

const VERSION: &str = "1.0";
const CONTENT: &str = "application/json";
const DATA: [&str; 7] =
    ["message_id", "target", "nonce", "freshness_token", "expires_at", "router_key_id", "signature"];

/// What a hint says. In records its times are integers of milliseconds.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Hint {
    /// The id of the event: this one wake.
    pub id: WakeId,
    /// Which alert.
    pub message_id: MessageId,
    /// Whose inbox.
    pub target: Target,
    /// 128 bits of chance.
    pub nonce: Nonce,
    /// Strictly increasing per target.
    pub freshness_token: Token,
    /// When it was issued.
    pub time: Wall,
    /// From when on it is stale.
    pub expires_at: Wall,
    /// Which router key signs it.
    pub router_key_id: KeyId,
}

impl From<&Hint> for crate::values::Hint {
    /// What a wake daemon's machine judges of it; the machine belongs to one target.
    fn from(hint: &Hint) -> Self {
        Self {
            wake: hint.id,
            message: hint.message_id,
            nonce: hint.nonce,
            token: hint.freshness_token,
            time: hint.time,
            expires: hint.expires_at,
            key: hint.router_key_id,
        }
    }
}

/// A hint that is well-formed, and what its signature must cover.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ParsedHint {
    /// What it says; the target is the one in `data`.
    pub hint: Hint,
    /// The key that its source names.
    pub source: KeyId,
    /// The target that its subject names.
    pub subject: Target,
    /// The signature that it carries, not yet verified.
    pub signature: SignatureBytes,
    signing: SigningBytes,
}

impl ParsedHint {
    /// Reads received bytes.
    ///
    /// # Errors
    /// The first way in which they are not a hint (SIG-1, SIG-2, SIG-4, SIG-5).
    pub fn parse(bytes: &[u8]) -> Result<Self, Malformed> {
        Self::read(bytes).inspect_err(|malformed| awakener_spec::mark(rule(malformed)))
    }

    fn read(bytes: &[u8]) -> Result<Self, Malformed> {
        let event = json::read(bytes, MAX_BYTES, Numbers::Any)?;
        let top = Members::of("document", &event)?;
        if top.maybe("data_base64").is_some() {
            return Err(Malformed::Unknown("document"));
        }
        top.fixed("specversion", VERSION)?;
        top.fixed("type", TYPE)?;
        top.fixed("datacontenttype", CONTENT)?;
        let data = Members::of("data", top.value("data")?)?.only(&DATA)?;
        let hint = Hint {
            id: top.parsed("id", Form::Uuid, WakeId::parse)?,
            message_id: data.parsed("message_id", Form::Uuid, MessageId::parse)?,
            target: data.parsed("target", Form::Name, Target::parse)?,
            nonce: data.parsed("nonce", Form::Nonce, Nonce::parse)?,
            freshness_token: Token::from_u64(data.integer("freshness_token")?)
                .ok_or(Malformed::Form("freshness_token", Form::Token))?,
            time: top.time("time")?,
            expires_at: data.time("expires_at")?,
            router_key_id: data.parsed("router_key_id", Form::Digest, KeyId::parse)?,
        };
        let source = top.parsed("source", Form::Digest, |text| after(text, SOURCE, KeyId::parse_hex))?;
        let subject = top.parsed("subject", Form::Name, |text| {
            after(text, SUBJECT, |name| Target::parse(name).map_err(|_| FormError(Form::Name)))
        })?;
        let signature = data.parsed("signature", Form::Signature, SignatureBytes::parse)?;
        check_window(&hint)?;
        let signing = Covered {
            id: top.text("id")?,
            source: top.text("source")?,
            subject: top.text("subject")?,
            time: top.text("time")?,
            message_id: data.text("message_id")?,
            target: data.text("target")?,
            nonce: data.text("nonce")?,
            freshness_token: hint.freshness_token,
            expires_at: data.text("expires_at")?,
            router_key_id: data.text("router_key_id")?,
        };
        Ok(Self { source, subject, signature, signing: signing.bytes(), hint })
    }

    /// What the signature must cover (SIG-3).
    pub fn signing_bytes(&self) -> &SigningBytes {
        &self.signing
    }
}

/// The rule that a malformed hint breaks.
pub fn rule(malformed: &Malformed) -> Rule {
    match malformed {
        Malformed::Json(_) | Malformed::Unknown(_) => Rule::Sig2,
        Malformed::NotAnObject(_) | Malformed::Missing(_) | Malformed::Type(_) | Malformed::Value(_) => {
            Rule::Sig1
        }
        Malformed::Form(..) | Malformed::Length(_) => Rule::Sig4,
        Malformed::Window => Rule::Sig5,
    }
}

/// A hint that can be signed: its times are within SIG-5.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnsignedHint(Hint);

impl UnsignedHint {
    /// Takes a hint whose times allow it to be sent.
    ///
    /// # Errors
    /// [`Malformed::Window`] unless `time < expires_at <= time + 30 s`, both before the year 10000.
    pub fn new(hint: Hint) -> Result<Self, Malformed> {
        check_window(&hint).map(|()| Self(hint))
    }

    /// What it says.
    pub fn hint(&self) -> &Hint {
        &self.0
    }

    /// What must be signed (SIG-3).
    pub fn signing_bytes(&self) -> SigningBytes {
        let hint = &self.0;
        let (id, message_id, nonce) =
            (hint.id.to_string(), hint.message_id.to_string(), hint.nonce.to_string());
        let key = hint.router_key_id.to_string();
        let source = format!("{SOURCE}{}", hint.router_key_id.hex());
        Covered {
            id: &id,
            source: &source,
            subject: &format!("{SUBJECT}{}", hint.target),
            time: &hint.time.utc(),
            message_id: &message_id,
            target: hint.target.as_str(),
            nonce: &nonce,
            freshness_token: hint.freshness_token,
            expires_at: &hint.expires_at.utc(),
            router_key_id: &key,
        }
        .bytes()
    }

    /// The bytes to publish, in canonical form. The signature must be one of [`Self::signing_bytes`].
    pub fn encode(&self, signature: &SignatureBytes) -> Vec<u8> {
        json::canonical(&self.event(signature))
    }

    /// Signs and encodes. The key must be the one that `router_key_id` names, else nobody accepts the hint.
    pub fn sign(&self, key: &SigningKey) -> Vec<u8> {
        self.encode(&verify::sign(key, &self.signing_bytes()))
    }

    fn event(&self, signature: &SignatureBytes) -> Value {
        let hint = &self.0;
        let data = json!({
            "message_id": hint.message_id,
            "target": hint.target,
            "nonce": hint.nonce,
            "freshness_token": hint.freshness_token,
            "expires_at": hint.expires_at.utc(),
            "router_key_id": hint.router_key_id,
            "signature": signature,
        });
        json!({
            "specversion": VERSION,
            "type": TYPE,
            "id": hint.id,
            "source": format!("{SOURCE}{}", hint.router_key_id.hex()),
            "subject": format!("{SUBJECT}{}", hint.target),
            "time": hint.time.utc(),
            "datacontenttype": CONTENT,
            "data": data,
        })
    }
}

fn after<T>(text: &str, prefix: &str, parse: impl Fn(&str) -> Result<T, FormError>) -> Result<T, FormError> {
    parse(text.strip_prefix(prefix).unwrap_or_default())
}

fn check_window(hint: &Hint) -> Result<(), Malformed> {
    let (from, until) = (hint.time, hint.expires_at);
    if from < until && until <= from + MAX_TTL && until <= Wall::LAST {
        Ok(())
    } else {
        Err(Malformed::Window)
    }
}

/// What a signature covers: the eight members of an event, `data` without its signature, whatever else the event has.
/// Each text is of a form that JSON writes as it stands, so the canonical form is one line with gaps.
struct Covered<'a> {
    id: &'a str,
    source: &'a str,
    subject: &'a str,
    time: &'a str,
    message_id: &'a str,
    target: &'a str,
    nonce: &'a str,
    freshness_token: Token,
    expires_at: &'a str,
    router_key_id: &'a str,
}

impl Covered<'_> {
    fn bytes(&self) -> SigningBytes {
        awakener_spec::rule!(Sig3);
        let token = self.freshness_token.get().to_string();
        let parts = [
            "{\"data\":{\"expires_at\":\"",
            self.expires_at,
            "\",\"freshness_token\":",
            &token,
            ",\"message_id\":\"",
            self.message_id,
            "\",\"nonce\":\"",
            self.nonce,
            "\",\"router_key_id\":\"",
            self.router_key_id,
            "\",\"target\":\"",
            self.target,
            "\"},\"datacontenttype\":\"",
            CONTENT,
            "\",\"id\":\"",
            self.id,
            "\",\"source\":\"",
            self.source,
            "\",\"specversion\":\"",
            VERSION,
            "\",\"subject\":\"",
            self.subject,
            "\",\"time\":\"",
            self.time,
            "\",\"type\":\"",
            TYPE,
            "\"}",
        ];
        Domain::Wake.frame_parts(&parts)
    }
}

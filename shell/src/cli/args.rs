//! What can be said on the command line, and nothing of what it does.
//!
//! Every argument that names a party or an id is read into its type here, so that a command never sees a malformed
//! one; what does not read is a usage error (exit 2). Rules: CON-1, IDN-2, IDN-3.

use std::path::PathBuf;

use awakener_kernel::ids::{
    ContentHash, Fence, Holder, KeyId, MessageId, OperatorName, PlaneName, Principal, PublicKey, SchemaRef,
    Target, ThreadId, TurnId, WakeId,
};
use awakener_kernel::operator::Scope;
use awakener_kernel::time::{Millis, Wall};
use awakener_kernel::values::{AckOutcome, By};
use awakener_kernel::wire::{Priority, ResponseExpectation};
use awakener_spec::ReceiptKind;
use clap::{Args as ClapArgs, Parser, Subcommand};

use crate::config::kind::Kind;

/// A durable inbox event becomes a verified wake, a completed turn, an acknowledgement, and rest.
///
/// Exit codes: 0 ok, 1 failed, 2 usage, 65 malformed or tampered, 69 unavailable, 77 refused, 78 configuration,
/// 90 latched. Failures go to standard error; with --json as one object.
#[derive(Debug, Parser)]
#[command(name = "awakener", version, propagate_version = true, max_term_width = 100)]
pub struct Args {
    /// What every command takes.
    #[command(flatten)]
    pub common: Common,
    /// Without one, the demo runs.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// What every command takes.
#[derive(Clone, Debug, Default, ClapArgs)]
pub struct Common {
    /// One JSON object instead of text.
    #[arg(long, global = true)]
    pub json: bool,
    /// The state directory [default: $XDG_STATE_HOME/awakener].
    #[arg(long, global = true, value_name = "DIR", env = "AWAKENER_STATE", hide_env_values = true)]
    pub state: Option<PathBuf>,
    /// The configuration file [default: awakener.toml of the state directory].
    #[arg(long, global = true, value_name = "FILE", env = "AWAKENER_CONFIG", hide_env_values = true)]
    pub config: Option<PathBuf>,
    /// The plane [default: http.listen of the configuration].
    #[arg(long, global = true, value_name = "URL", env = "AWAKENER_URL", hide_env_values = true)]
    pub url: Option<String>,
    /// A setting for this process, stronger than file and environment.
    #[arg(long, global = true, value_name = "KEY=VALUE", value_parser = setting)]
    pub set: Vec<(String, String)>,
    /// Whose token of the state directory to present.
    #[arg(long = "as", global = true, value_name = "PRINCIPAL", env = "AWAKENER_AS", hide_env_values = true)]
    pub principal: Option<Principal>,
    /// A file with the token to present.
    #[arg(long, global = true, value_name = "FILE", env = "AWAKENER_TOKEN_FILE", hide_env_values = true)]
    pub token_file: Option<PathBuf>,
    /// Show what would be sent, and send nothing.
    #[arg(long, global = true)]
    pub dry_run: bool,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Make a state directory: keys, tokens, configuration, manifest. Nobody is allowed anything yet.
    Init(Init),
    /// Run the message plane, and the wake daemon with it unless it is configured off.
    Up,
    /// Run a wake daemon alone.
    Wake,
    /// Run the hosted station of a target.
    Station {
        /// Whose work it does.
        #[arg(value_parser = Target::parse)]
        target: Target,
    },
    /// Show one alert from submission to rest on this machine.
    Demo,
    /// Submit a message.
    Send(Send),
    /// Look into an inbox without claiming.
    Inbox(Inbox),
    /// Read a whole message; with --fence as claimed work.
    Read(Read),
    /// Claim work under a lease.
    Claim(Claim),
    /// Renew a lease.
    Renew(Lease),
    /// Give a lease back.
    Release(Lease),
    /// Record how a turn ended.
    Turn(Turn),
    /// Answer a claimed message.
    Reply(Reply),
    /// Record deliberate silence on a claimed message.
    Silence(Silence),
    /// Record that a claimed message is done with.
    Done(Done),
    /// Acknowledge an alert with a signed statement.
    Ack(Ack),
    /// Query the receipt ledger.
    Receipts(Receipts),
    /// Everything about one message, in order.
    Trace {
        /// Which.
        #[arg(value_parser = MessageId::parse)]
        message: MessageId,
    },
    /// Install, remove or show the roster (operator).
    #[command(subcommand)]
    Roster(Roster),
    /// Register, remove or list targets (operator).
    #[command(subcommand)]
    Target(TargetCommand),
    /// Register, revoke or list principals (operator).
    #[command(subcommand)]
    Principal(PrincipalCommand),
    /// Give a target its grant (operator).
    Arm {
        /// Who is armed.
        #[arg(value_parser = Target::parse)]
        target: Target,
        /// For how long.
        #[arg(long, value_parser = duration, default_value = "30d")]
        r#for: Millis,
        /// Who commands.
        #[command(flatten)]
        by: Operator,
    },
    /// Take a target's grant (operator).
    Disarm {
        /// Whose.
        #[arg(value_parser = Target::parse)]
        target: Target,
        /// Who commands.
        #[command(flatten)]
        by: Operator,
    },
    /// Take the roster and every grant: back to the state after init (operator).
    Abort {
        /// Who commands.
        #[command(flatten)]
        by: Operator,
    },
    /// Let one target, or all, rest for a while (operator).
    Pause {
        /// Who rests; all, if absent.
        #[arg(value_parser = Target::parse)]
        target: Option<Target>,
        /// For how long.
        #[arg(long, value_parser = duration, default_value = "1h")]
        r#for: Millis,
        /// Who commands.
        #[command(flatten)]
        by: Operator,
    },
    /// End the pause of one target; without one the pause of all, and stop-all (operator).
    Resume {
        /// Who goes on; all, if absent.
        #[arg(value_parser = Target::parse)]
        target: Option<Target>,
        /// Who commands.
        #[command(flatten)]
        by: Operator,
    },
    /// Let nothing start any more, without an end (operator).
    StopAll {
        /// Who commands.
        #[command(flatten)]
        by: Operator,
    },
    /// Show latches, or clear one (operator).
    #[command(subcommand)]
    Latch(Latch),
    /// Make, list, register and revoke keys (operator).
    #[command(subcommand)]
    Keys(Keys),
    /// Close the witness of an alert whose target is gone (operator).
    Resolve {
        /// Whose inbox.
        #[arg(value_parser = Target::parse)]
        target: Target,
        /// Which alert.
        #[arg(value_parser = MessageId::parse)]
        message: MessageId,
        /// Who commands.
        #[command(flatten)]
        by: Operator,
    },
    /// Give back what was set aside (operator).
    #[command(subcommand)]
    Quarantine(Quarantine),
    /// Accept a clock that stepped back (operator).
    #[command(subcommand)]
    Clock(ClockCommand),
    /// Verify, export and checkpoint the audit chain.
    #[command(subcommand)]
    Audit(Audit),
    /// What a plane says of itself.
    Status,
    /// The rules that this program keeps.
    #[command(subcommand)]
    Spec(Spec),
    /// The effective configuration.
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Check configuration and manifest, and say everything that is wrong with them.
    Check,
}

/// Arguments of `init`.
#[derive(Debug, ClapArgs)]
pub struct Init {
    /// Where to write the first operator key; without it the key is printed once.
    #[arg(long, value_name = "FILE")]
    pub operator_key: Option<PathBuf>,
    /// The name of the first operator.
    #[arg(long, default_value = "first", value_parser = OperatorName::parse)]
    pub operator: OperatorName,
    /// The name of the plane [default: plane- and eight random digits].
    #[arg(long, value_parser = PlaneName::parse)]
    pub plane: Option<PlaneName>,
    /// Make a configuration for trials, in which fakes are allowed.
    #[arg(long)]
    pub trial: bool,
}

/// Who commands, and under which conditions.
#[derive(Clone, Debug, ClapArgs)]
pub struct Operator {
    /// The file with the operator key.
    #[arg(long, value_name = "FILE", env = "AWAKENER_OPERATOR_KEY", hide_env_values = true)]
    pub operator_key: Option<PathBuf>,
    /// Why; it stands in the audit chain.
    #[arg(long, default_value = "none given")]
    pub reason: String,
    /// The state that the subject must have for this to take effect.
    #[arg(long, value_name = "STATE")]
    pub expect: Option<String>,
    /// How long the command may be accepted, at most 10m.
    #[arg(long, value_name = "DURATION", value_parser = duration, default_value = "5m")]
    pub valid: Millis,
}

/// A body, given in one of three ways.
#[derive(Debug, ClapArgs)]
#[group(required = true, multiple = false)]
pub struct Body {
    /// The body is {"text": TEXT}.
    #[arg(long)]
    pub text: Option<String>,
    /// The body as JSON.
    #[arg(long, value_name = "JSON")]
    pub body: Option<String>,
    /// A file with the body as JSON; - for standard input.
    #[arg(long, value_name = "FILE")]
    pub body_file: Option<PathBuf>,
}

/// Arguments of `send`.
#[derive(Debug, ClapArgs)]
pub struct Send {
    /// Whose inbox.
    #[arg(value_parser = Target::parse)]
    pub target: Target,
    /// The body.
    #[command(flatten)]
    pub body: Body,
    /// What kind of message; decides the tier.
    #[arg(long, default_value = "message/1", value_parser = SchemaRef::parse)]
    pub schema: SchemaRef,
    /// What is wanted, in a few words.
    #[arg(long, default_value = "inform")]
    pub intent: String,
    /// low, normal, high or urgent; never changes the tier.
    #[arg(long, default_value = "normal", value_parser = priority)]
    pub priority: Priority,
    /// reply, silence_ok or none.
    #[arg(long, default_value = "silence_ok", value_parser = expectation)]
    pub expect: ResponseExpectation,
    /// A headline.
    #[arg(long)]
    pub subject: Option<String>,
    /// The thread [default: a new one].
    #[arg(long, value_parser = ThreadId::parse)]
    pub thread: Option<ThreadId>,
    /// The message that it answers.
    #[arg(long, value_parser = MessageId::parse)]
    pub in_reply_to: Option<MessageId>,
    /// The id [default: a new one]; the same id repeats safely.
    #[arg(long, value_parser = MessageId::parse)]
    pub id: Option<MessageId>,
    /// The lease under which it is written.
    #[arg(long, value_parser = fence)]
    pub lease: Option<Fence>,
}

/// Arguments of `inbox`.
#[derive(Debug, ClapArgs)]
pub struct Inbox {
    /// Whose.
    #[arg(value_parser = Target::parse)]
    pub target: Target,
    /// The position that came with the last page.
    #[arg(long)]
    pub position: Option<String>,
    /// At most so many.
    #[arg(long)]
    pub limit: Option<u32>,
    /// Wait so long for something new.
    #[arg(long, value_parser = duration)]
    pub wait: Option<Millis>,
}

/// Arguments of `read`.
#[derive(Debug, ClapArgs)]
pub struct Read {
    /// Which.
    #[arg(value_parser = MessageId::parse)]
    pub message: MessageId,
    /// Read it as claimed work of this target.
    #[arg(long, value_parser = Target::parse, requires = "fence")]
    pub target: Option<Target>,
    /// The fencing token of the claim.
    #[arg(long, value_parser = fence, requires = "target")]
    pub fence: Option<Fence>,
}

/// Arguments of `claim`.
#[derive(Debug, ClapArgs)]
pub struct Claim {
    /// Whose work.
    #[arg(value_parser = Target::parse)]
    pub target: Target,
    /// Who holds the lease.
    #[arg(long, default_value = "cli", value_parser = Holder::parse)]
    pub holder: Holder,
    /// At most so many messages.
    #[arg(long, default_value_t = 1)]
    pub max: u32,
}

/// A lease.
#[derive(Debug, ClapArgs)]
pub struct Lease {
    /// Whose work.
    #[arg(value_parser = Target::parse)]
    pub target: Target,
    /// The fencing token of the claim.
    #[arg(long, value_parser = fence)]
    pub fence: Fence,
}

/// A claimed message and the turn that works on it.
#[derive(Debug, ClapArgs)]
pub struct Work {
    /// The lease.
    #[command(flatten)]
    pub lease: Lease,
    /// Which message exactly.
    #[arg(long, value_parser = MessageId::parse)]
    pub message: MessageId,
    /// The turn [default: a new one]; the same turn repeats safely.
    #[arg(long, value_parser = TurnId::parse)]
    pub turn: Option<TurnId>,
}

/// Arguments of `turn`.
#[derive(Debug, ClapArgs)]
pub struct Turn {
    /// What was worked on.
    #[command(flatten)]
    pub work: Work,
    /// How it ended.
    #[arg(long, default_value = "unreported")]
    pub finish: String,
}

/// Arguments of `reply`.
#[derive(Debug, ClapArgs)]
pub struct Reply {
    /// What is answered.
    #[command(flatten)]
    pub work: Work,
    /// The answer.
    #[command(flatten)]
    pub body: Body,
}

/// Arguments of `silence`.
#[derive(Debug, ClapArgs)]
pub struct Silence {
    /// What is not answered.
    #[command(flatten)]
    pub work: Work,
    /// Why not.
    #[arg(long)]
    pub reason: String,
}

/// Arguments of `done`.
#[derive(Debug, ClapArgs)]
pub struct Done {
    /// What is done with.
    #[command(flatten)]
    pub work: Work,
}

/// Arguments of `ack`.
#[derive(Debug, ClapArgs)]
pub struct Ack {
    /// Which alert.
    #[arg(value_parser = MessageId::parse)]
    pub message: MessageId,
    /// Whose inbox.
    #[arg(long, value_parser = Target::parse)]
    pub target: Target,
    /// handled, silence, declined or failed.
    #[arg(long, value_parser = outcome)]
    pub outcome: AckOutcome,
    /// In which role: agent, human or station.
    #[arg(long, default_value = "agent", value_parser = role)]
    pub by: By,
    /// The file with the ACK key [default: ack-<target>.key of the state directory].
    #[arg(long, value_name = "FILE", env = "AWAKENER_ACK_KEY", hide_env_values = true)]
    pub ack_key: Option<PathBuf>,
    /// The hash of the content that was read [default: the plane is asked].
    #[arg(long, value_parser = ContentHash::parse)]
    pub content_sha256: Option<ContentHash>,
    /// The current lease, needed by a station.
    #[arg(long, value_parser = fence)]
    pub lease: Option<Fence>,
}

/// Arguments of `receipts`.
#[derive(Debug, ClapArgs)]
pub struct Receipts {
    /// Of this message.
    #[arg(long, value_parser = MessageId::parse)]
    pub message: Option<MessageId>,
    /// Of this wake.
    #[arg(long, value_parser = WakeId::parse)]
    pub wake: Option<WakeId>,
    /// Of this thread.
    #[arg(long, value_parser = ThreadId::parse)]
    pub thread: Option<ThreadId>,
    /// Of this target.
    #[arg(long, value_parser = Target::parse)]
    pub target: Option<Target>,
    /// Of this kind.
    #[arg(long, value_parser = receipt)]
    pub kind: Option<ReceiptKind>,
    /// From this time on: YYYY-MM-DDTHH:MM:SSZ.
    #[arg(long, value_parser = Wall::parse_utc)]
    pub since: Option<Wall>,
    /// At most so many.
    #[arg(long)]
    pub limit: Option<u32>,
}

/// The roster.
#[derive(Debug, Subcommand)]
pub enum Roster {
    /// Install a roster; it replaces the one before.
    Install {
        /// A TOML file: version = 1, not_after or valid = "24h", and [[entries]] with principal, schema, target.
        file: PathBuf,
        /// Who commands.
        #[command(flatten)]
        by: Operator,
    },
    /// Let nobody raise alerts.
    Remove {
        /// Who commands.
        #[command(flatten)]
        by: Operator,
    },
    /// What is installed.
    Show,
}

/// Targets.
#[derive(Debug, Subcommand)]
pub enum TargetCommand {
    /// Give an agent an inbox.
    Add {
        /// Its name.
        #[arg(value_parser = Target::parse)]
        target: Target,
        /// Who commands.
        #[command(flatten)]
        by: Operator,
    },
    /// Take it back, with its grant and its ACK keys.
    Remove {
        /// Its name.
        #[arg(value_parser = Target::parse)]
        target: Target,
        /// Who commands.
        #[command(flatten)]
        by: Operator,
    },
    /// What is registered.
    List,
}

/// Principals.
#[derive(Debug, Subcommand)]
pub enum PrincipalCommand {
    /// Give a principal a new credential; the token is written to a file.
    Add {
        /// Its name.
        #[arg(value_parser = Principal::parse)]
        principal: Principal,
        /// The inboxes that it may read.
        #[arg(long, value_delimiter = ',', value_parser = Target::parse)]
        may_read: Vec<Target>,
        /// The one target that it acts for.
        #[arg(long, value_parser = Target::parse)]
        acts_for: Option<Target>,
        /// Where to write the token [default: tokens/<principal>.token of the state directory].
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
        /// Who commands.
        #[command(flatten)]
        by: Operator,
    },
    /// Take one credential, or all that a principal has.
    Revoke {
        /// Its name.
        #[arg(value_parser = Principal::parse)]
        principal: Principal,
        /// Only this one, by its hash.
        #[arg(long, value_parser = ContentHash::parse)]
        credential: Option<ContentHash>,
        /// Who commands.
        #[command(flatten)]
        by: Operator,
    },
    /// What is registered.
    List,
}

/// Latches.
#[derive(Debug, Subcommand)]
pub enum Latch {
    /// The latches and incidents of this state directory.
    Show,
    /// Clear the latch of a target's station; the incident stays.
    Clear {
        /// Whose.
        #[arg(value_parser = Target::parse)]
        target: Target,
        /// Who commands.
        #[command(flatten)]
        by: Operator,
    },
}

/// A public key, by itself or of a key file.
#[derive(Clone, Debug, ClapArgs)]
#[group(required = true, multiple = false)]
pub struct Public {
    /// The public key, base64url.
    #[arg(long, value_name = "KEY", value_parser = PublicKey::parse)]
    pub public: Option<PublicKey>,
    /// A key file whose public half is meant.
    #[arg(long, value_name = "FILE")]
    pub key_file: Option<PathBuf>,
}

/// Keys.
#[derive(Debug, Subcommand)]
pub enum Keys {
    /// Make a key file and show its public half.
    New {
        /// Where.
        file: PathBuf,
    },
    /// What is registered.
    List,
    /// Let a key acknowledge for a target.
    AddAck {
        /// For whom.
        #[arg(value_parser = Target::parse)]
        target: Target,
        /// In which role: agent, human or station.
        #[arg(long, value_parser = role)]
        by_role: By,
        /// The key.
        #[command(flatten)]
        key: Public,
        /// For how long.
        #[arg(long, value_parser = duration, default_value = "90d")]
        r#for: Millis,
        /// Who commands.
        #[command(flatten)]
        by: Operator,
    },
    /// Take such a key.
    RevokeAck {
        /// For whom.
        #[arg(value_parser = Target::parse)]
        target: Target,
        /// Which.
        #[arg(value_parser = KeyId::parse)]
        key_id: KeyId,
        /// Who commands.
        #[command(flatten)]
        by: Operator,
    },
    /// Let a key sign hints.
    AddRouter {
        /// The key.
        #[command(flatten)]
        key: Public,
        /// For how long.
        #[arg(long, value_parser = duration, default_value = "90d")]
        r#for: Millis,
        /// Who commands.
        #[command(flatten)]
        by: Operator,
    },
    /// Take such a key.
    RevokeRouter {
        /// Which.
        #[arg(value_parser = KeyId::parse)]
        key_id: KeyId,
        /// Who commands.
        #[command(flatten)]
        by: Operator,
    },
    /// Let a key sign checkpoints.
    AddAudit {
        /// The key.
        #[command(flatten)]
        key: Public,
        /// For how long.
        #[arg(long, value_parser = duration, default_value = "365d")]
        r#for: Millis,
        /// Who commands.
        #[command(flatten)]
        by: Operator,
    },
    /// Take such a key.
    RevokeAudit {
        /// Which.
        #[arg(value_parser = KeyId::parse)]
        key_id: KeyId,
        /// Who commands.
        #[command(flatten)]
        by: Operator,
    },
    /// Let a key sign operator commands.
    AddOperator {
        /// Who holds it.
        #[arg(value_parser = OperatorName::parse)]
        operator: OperatorName,
        /// What it may do; no scope grants another.
        #[arg(long, value_delimiter = ',', required = true, value_parser = scope)]
        scopes: Vec<Scope>,
        /// The key.
        #[command(flatten)]
        key: Public,
        /// Who commands.
        #[command(flatten)]
        by: Operator,
    },
    /// Take such a key.
    RevokeOperator {
        /// Which.
        #[arg(value_parser = KeyId::parse)]
        key_id: KeyId,
        /// Who commands.
        #[command(flatten)]
        by: Operator,
    },
}

/// Quarantine.
#[derive(Debug, Subcommand)]
pub enum Quarantine {
    /// Give a message back to its inbox.
    Release {
        /// Whose inbox.
        #[arg(value_parser = Target::parse)]
        target: Target,
        /// Which message.
        #[arg(value_parser = MessageId::parse)]
        message: MessageId,
        /// Who commands.
        #[command(flatten)]
        by: Operator,
    },
}

/// The clock of the plane.
#[derive(Debug, Subcommand)]
pub enum ClockCommand {
    /// Accept the time that the machine shows now.
    Accept {
        /// Who commands.
        #[command(flatten)]
        by: Operator,
    },
}

/// The audit chain.
#[derive(Debug, Subcommand)]
pub enum Audit {
    /// Walk a chain and say where it breaks, if it does; offline with FILE.
    Verify {
        /// An export; without one the plane's chain is fetched.
        file: Option<PathBuf>,
    },
    /// Write the chain as JSON lines.
    Export {
        /// Where; - for standard output.
        #[arg(long, default_value = "-", value_name = "FILE")]
        out: PathBuf,
        /// From this position on.
        #[arg(long, default_value_t = 1)]
        from: u64,
    },
    /// Have the plane sign a checkpoint, and keep it.
    Checkpoint,
    /// Go on after a break of the chain (operator).
    Reanchor {
        /// Who commands.
        #[command(flatten)]
        by: Operator,
    },
}

/// The rules.
#[derive(Debug, Subcommand)]
pub enum Spec {
    /// All rules, one a line.
    Rules,
    /// One rule, reason, class or limit.
    Show {
        /// ACK-2, lost_lease, replay, cooldown, …
        id: String,
    },
    /// The table of a machine.
    Table {
        /// mailbox, waker, station, …
        machine: String,
    },
}

/// The configuration.
#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// Each key with its effective value and where that comes from.
    Show,
}

fn setting(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.into(), value.into())),
        Some(_) | None => Err("expected KEY=VALUE, such as limits.cooldown=5s".into()),
    }
}

fn duration(text: &str) -> Result<Millis, String> {
    let value = Kind::Duration.read_text(text).map_err(|(what, _)| what)?;
    Ok(Millis(value.as_u64().unwrap_or_default()))
}

fn fence(text: &str) -> Result<Fence, String> {
    text.parse().map(Fence).map_err(|_| "expected the number that came with the claim".into())
}

/// A word of a closed list, with the list in the complaint.
macro_rules! word {
    ($($name:ident -> $list:ident: $words:literal;)+) => { $(
        fn $name(text: &str) -> Result<$list, String> {
            $list::parse(text).ok_or_else(|| format!("expected one of {}", $words))
        }
    )+ };
}
word! {
    priority -> Priority: "low, normal, high, urgent";
    expectation -> ResponseExpectation: "reply, silence_ok, none";
    outcome -> AckOutcome: "handled, silence, declined, failed";
    role -> By: "station, agent, human";
}

fn receipt(text: &str) -> Result<ReceiptKind, String> {
    ReceiptKind::from_name(text).ok_or_else(|| {
        let known = ReceiptKind::ALL.iter().map(|kind| kind.name());
        match crate::config::document::nearest(text, known) {
            Some(near) => format!("no such kind; did you mean {near}?"),
            None => "no such kind".into(),
        }
    })
}

fn scope(text: &str) -> Result<Scope, String> {
    let spelt =
        |scope: &Scope| serde_json::to_value(scope).ok().and_then(|word| Some(word.as_str()?.to_owned()));
    let words: Vec<String> = Scope::ALL.iter().filter_map(spelt).collect();
    let found = Scope::ALL.iter().zip(&words).find(|(_, word)| *word == text);
    found.map(|(scope, _)| *scope).ok_or_else(|| format!("expected one of {}", words.join(", ")))
}

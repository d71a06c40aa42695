//! What can be said on the command line, and nothing of what it does.
//!
//! Every argument that names a party or an id is read into its type here, so that a command never sees a malformed
//! one; what does not read is a usage error (exit 2). Rules: CON-1, IDN-2, IDN-3.

mod mail;
mod operator;
mod words;

use std::path::PathBuf;

use awakener_kernel::ids::{MessageId, OperatorName, PlaneName, Principal, PublicKey, Target};
use awakener_kernel::time::Millis;
use clap::{Args as ClapArgs, Parser, Subcommand};

pub use mail::{
    Ack, Body, Claim, Done, Inbox, Lease, Read, Receipts, Reply, Send, Silence, Text, Turn, Work,
};
pub use operator::{
    ClockCommand, Keys, Latch, Operator, PrincipalCommand, Public, Quarantine, Roster, TargetCommand,
};
use words::duration;

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
    #[arg(value_parser = Principal::parse)]
    pub acting_as: Option<Principal>,
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
    Up(Serve),
    /// Run a wake daemon alone.
    Wake(Serve),
    /// Run the hosted station of a target.
    Station {
        /// Whose work it does.
        #[arg(value_parser = Target::parse)]
        target: Target,
    },
    /// Show one alert from submission to rest on this machine, and everything that failure and malice may do.
    Demo(Demo),
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
        /// Wait so long until nothing more is owed; exit 1 if something still is.
        #[arg(long, value_parser = duration)]
        wait: Option<Millis>,
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
    /// What a plane says of itself and of all agents; exit 69 if something could not be read.
    Status {
        /// Print the URL of the page that shows the same in a browser; the URL holds a secret.
        #[arg(long)]
        page: bool,
    },
    /// What one agent does, what it waits for, since when, by which rule, and what helps; also with the plane down.
    Why {
        /// Which.
        #[arg(value_parser = Target::parse)]
        target: Target,
    },
    /// The rules that this program keeps.
    #[command(subcommand)]
    Spec(Spec),
    /// The effective configuration.
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Check configuration and manifest, and say everything that is wrong with them.
    Check,
}

/// Arguments of `demo`.
#[derive(Debug, Default, ClapArgs)]
pub struct Demo {
    /// Only this line; may be given several times.
    #[arg(long, value_name = "NAME")]
    pub only: Vec<String>,
    /// Leave the stack up and say how to talk to it.
    #[arg(long)]
    pub keep: bool,
    /// Send hints through this NATS server, nats:// on this machine [default: pushed by HTTP].
    #[arg(long, value_name = "URL")]
    pub broker: Option<String>,
}

/// Arguments of `up` and `wake`.
#[derive(Debug, ClapArgs)]
pub struct Serve {
    /// The broker of the hints: nats:// on this machine, tls:// anywhere; several servers with commas between them.
    #[arg(long, value_name = "URL")]
    pub broker: Option<String>,
}

impl Serve {
    /// The settings that it stands for.
    pub fn settings(&self) -> Vec<(String, String)> {
        let Some(servers) = &self.broker else { return Vec::new() };
        vec![("broker.kind".into(), "nats".into()), ("broker.servers".into(), servers.clone())]
    }
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

/// The audit chain.
#[derive(Debug, Subcommand)]
pub enum Audit {
    /// Walk a chain and say where it breaks, if it does, or whether it still extends a kept checkpoint; offline with FILE.
    Verify {
        /// An export; without one the plane's chain is fetched, or with --since proved by the plane.
        file: Option<PathBuf>,
        /// A kept checkpoint: the chain must still have every record that it covers.
        #[arg(long, value_name = "CHECKPOINT", visible_alias = "checkpoint")]
        since: Option<PathBuf>,
        /// A public audit key that may have signed checkpoints; repeatable [default: those that the chain registers].
        #[arg(long, value_name = "KEY", value_parser = PublicKey::parse, requires = "since")]
        #[arg(allow_hyphen_values = true)]
        audit_key: Vec<PublicKey>,
        /// Fetch and walk every record of a running plane instead of taking its proof.
        #[arg(long, requires = "since", conflicts_with = "file")]
        whole: bool,
    },
    /// Show and check the proof that the newest checkpoint of a running plane covers a record.
    Prove {
        /// The position of the record, from 1.
        #[arg(value_parser = clap::value_parser!(u64).range(1..))]
        position: u64,
        /// A public audit key that may have signed the checkpoint; repeatable [default: those that the plane registers].
        #[arg(long, value_name = "KEY", value_parser = PublicKey::parse, allow_hyphen_values = true)]
        audit_key: Vec<PublicKey>,
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
    /// Have the plane sign a checkpoint, to be kept elsewhere.
    Checkpoint {
        /// Where to; without it the checkpoint is printed.
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
        /// Sign none; fetch the newest that the plane has kept.
        #[arg(long)]
        newest: bool,
    },
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

/// A setting of `--set`.
pub fn setting(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.into(), value.into())),
        Some(_) | None => Err("expected KEY=VALUE, such as limits.cooldown=5s".into()),
    }
}

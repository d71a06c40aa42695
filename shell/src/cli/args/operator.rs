//! What can be said with an operator key.

use std::path::PathBuf;

use awakener_kernel::ids::{ContentHash, KeyId, MessageId, OperatorName, Principal, PublicKey, Target};
use awakener_kernel::operator::Scope;
use awakener_kernel::time::Millis;
use awakener_kernel::values::By;
use clap::{Args as ClapArgs, Subcommand};

use super::words::{duration, role, scope};

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

/// The roster.
#[derive(Debug, Subcommand)]
pub enum Roster {
    /// Install a roster; it replaces the one before.
    Install {
        /// A TOML file: version = 1, not_after or valid = "24h", and `[[entries]]` with principal, schema, target.
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
        /// Where to write the token [default: tokens/PRINCIPAL.token of the state directory].
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
    // One key in 64 begins with a hyphen.
    #[arg(long, value_name = "KEY", value_parser = PublicKey::parse, allow_hyphen_values = true)]
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

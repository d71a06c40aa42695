//! What can be said about messages, work and receipts.

use std::path::PathBuf;

use awakener_kernel::ids::{
    ContentHash, Fence, Holder, MessageId, SchemaRef, Target, ThreadId, TurnId, WakeId,
};
use awakener_kernel::time::{Millis, Wall};
use awakener_kernel::values::{AckOutcome, By, Finish};
use awakener_kernel::wire::{Priority, ResponseExpectation};
use awakener_spec::ReceiptKind;
use clap::Args as ClapArgs;

use super::words::{duration, expectation, fence, finish, outcome, priority, receipt, role};

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
    /// The position that came with the last page; presenting it confirms that page.
    #[arg(long, allow_hyphen_values = true)]
    pub position: Option<String>,
    /// Begin after what is there now.
    #[arg(long, conflicts_with = "position")]
    pub tail: bool,
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
    #[arg(long, default_value = "unreported", value_parser = finish)]
    pub finish: Finish,
}

/// Arguments of `reply`.
#[derive(Debug, ClapArgs)]
pub struct Reply {
    /// What is answered.
    #[command(flatten)]
    pub work: Work,
    /// The answer.
    #[command(flatten)]
    pub answer: Text,
}

/// The text of a reply.
#[derive(Debug, ClapArgs)]
#[group(required = true, multiple = false)]
pub struct Text {
    /// The text itself.
    #[arg(long)]
    pub text: Option<String>,
    /// A file with the text; - for standard input.
    #[arg(long, value_name = "FILE")]
    pub text_file: Option<PathBuf>,
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
    /// The file with the ACK key [default: ack-TARGET.key of the state directory].
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
    /// Only those with a greater number.
    #[arg(long)]
    pub after: Option<u64>,
    /// At most so many.
    #[arg(long)]
    pub limit: Option<u32>,
}

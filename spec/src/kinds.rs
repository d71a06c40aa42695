//! The small lists that classify rules, refusals, classes and receipts.
//!
//! Not here: the classified lists themselves, which `build.rs` makes from the TOML files.
//! Rules: ADM-2, VER-4, RCP-1, RCP-2.

names! {
    /// Where a rule is kept.
    pub enum RuleKind as name, from_name {
        /// By the pure kernel: mutations and the model can break it.
        Kernel = "kernel",
        /// By the shell: I/O, processes, formats, presentation.
        Shell = "shell",
        /// By the way the project is checked, not by running code.
        Process = "process",
    }
}

names! {
    /// Whether a rule has a test that claims it.
    pub enum RuleState as name, from_name {
        /// At least one running test claims the rule and sees its mark.
        Enforced = "enforced",
        /// Tests claim a part of it; the rest is not built. Counts as not enforced.
        Partial = "partial",
        /// No test claims it yet.
        Planned = "planned",
    }
}

names! {
    /// The part of the system that refuses.
    pub enum ReasonGroup as name, from_name {
        /// Admission of a submission; the order of the list is the order of judgement.
        Admission = "admission",
        /// Reading, claiming, answering.
        Inbox = "inbox",
        /// Acknowledging an alert.
        Ack = "ack",
        /// Signed operator commands.
        Operator = "operator",
        /// The station and its fuse.
        Station = "station",
        /// The receipt ledger.
        Receipt = "receipt",
        /// The audit chain and recovery from it.
        Audit = "audit",
        /// Configuration and start of a process.
        Startup = "startup",
    }
}

names! {
    /// Whose fault a refusal is.
    pub enum Fault as name, from_name {
        /// Whoever asked.
        Caller = "caller",
        /// Whoever runs this system and holds its operator keys.
        Operator = "operator",
        /// This machine or this software.
        Host = "host",
        /// Another party of the same conversation: a competing reader, a remote side.
        Peer = "peer",
    }
}

names! {
    /// Whether asking again can help.
    pub enum Retry as name, from_name {
        /// The same request can never succeed.
        Never = "never",
        /// The same request may succeed after a wait.
        Later = "later",
        /// Ask again with the same id: the fate of the first attempt is unknown, repeating is safe.
        SameId = "same_id",
        /// Only after something else was changed: the request, a registration, a setting.
        AfterChange = "after_change",
    }
}

names! {
    /// How the audit chain files a hint that was not accepted (VER-4).
    pub enum AuditKind as name, from_name {
        /// Unusual, not hostile by itself.
        Anomaly = "anomaly",
        /// The same hint was presented again.
        ReplayAttempt = "replay_attempt",
        /// An older token came after a newer one.
        Regression = "regression",
        /// A key or signature did not hold.
        AuthFailure = "auth_failure",
        /// A valid signature on something that was never minted: a key may be stolen.
        Alarm = "alarm",
        /// The bytes are not a hint.
        Malformed = "malformed",
        /// The hint is genuine and the plane does not permit the start.
        Withheld = "withheld",
    }
}

names! {
    /// What a receipt belongs to (RCP-1).
    pub enum ReceiptKey as name, from_name {
        /// One admitted message.
        Message = "message",
        /// One hint.
        Wake = "wake",
        /// One flight.
        Attempt = "attempt",
        /// One run of a model.
        Turn = "turn",
        /// One request that was refused and so never became a message.
        Request = "request",
    }
}

names! {
    /// A question that has one final answer per key; two different answers contradict each other (RCP-2).
    pub enum Terminal as name, from_name {
        /// Did the hint go to the broker client?
        Emission = "emission",
        /// What came of the attempt to start?
        Dispatch = "dispatch",
        /// How did the turn end?
        Cognition = "cognition",
        /// What was the result of the work?
        Result = "result",
        /// Who closed the witness?
        Witness = "witness",
    }
}

names! {
    /// What the number of a limit counts.
    pub enum Unit as name, from_name {
        /// Integer milliseconds.
        Ms = "ms",
        /// Bytes.
        Bytes = "bytes",
        /// Things.
        Count = "count",
    }
}

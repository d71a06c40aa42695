//! The closed table of the manifest: its runtimes, and which keys each takes (CAP-1, CAP-3).
//!
//! Not here: reading and judging (`read`).

use crate::config::kind::Kind;

/// What runs an agent (CAP-3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Runtime {
    /// An AgentAPI server.
    Agentapi,
    /// A pane of tmux.
    Tmux,
    /// A surface of cmux.
    Cmux,
    /// A webhook.
    Webhook,
    /// A notification on a desktop.
    DesktopNotification,
    /// A program that is started.
    LocalRunner,
    /// A hook of a running session.
    TurnHook,
    /// An adapter of somebody else, as a program.
    External,
    /// A stand-in, in a trial only.
    Fake,
}

/// Keys that every agent may have.
pub(super) const COMMON: &[(&str, Kind)] = &[
    ("runtime", Kind::Choice(NAMES)),
    ("headless", Kind::Bool),
    ("tier0_ack", Kind::Bool),
    ("requires_human_submit", Kind::Bool),
    ("max_concurrent_wakes", Kind::Count),
    ("cooldown", Kind::Duration),
    ("start_on", Kind::Choice(&["hint", "mail"])),
    ("accept", Kind::Principals),
];

/// The names of all runtimes.
const NAMES: &[&str] = &[
    "agentapi",
    "tmux",
    "cmux",
    "webhook",
    "desktop-notification",
    "local-runner",
    "turn-hook",
    "external",
    "fake",
];

/// Outcomes that a fake runtime can be told to give (DSP-4).
const OUTCOMES: &[&str] = &[
    "not_attempted",
    "refused_busy",
    "unavailable",
    "outcome_unknown",
    "typed_unverified",
    "notified_verified",
    "notified_human",
];

/// A key of a runtime: its name, what it takes, whether it must be there.
pub(super) type Key = (&'static str, Kind, bool);

impl Runtime {
    /// Every runtime.
    pub const ALL: [Self; 9] = [
        Self::Agentapi,
        Self::Tmux,
        Self::Cmux,
        Self::Webhook,
        Self::DesktopNotification,
        Self::LocalRunner,
        Self::TurnHook,
        Self::External,
        Self::Fake,
    ];

    /// Its name in a manifest.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Agentapi => "agentapi",
            Self::Tmux => "tmux",
            Self::Cmux => "cmux",
            Self::Webhook => "webhook",
            Self::DesktopNotification => "desktop-notification",
            Self::LocalRunner => "local-runner",
            Self::TurnHook => "turn-hook",
            Self::External => "external",
            Self::Fake => "fake",
        }
    }

    /// The runtime of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|runtime| runtime.name() == name)
    }

    /// The keys of its own.
    pub(super) const fn keys(self) -> &'static [Key] {
        match self {
            Self::Agentapi => &[
                ("endpoint", Kind::Url, true),
                ("status_endpoint", Kind::Url, false),
                ("token_env", Kind::EnvName, false),
                ("token_file", Kind::Text, false),
            ],
            Self::Tmux => &[
                ("session", Kind::Text, true),
                ("command", Kind::Text, true),
                ("prompt", Kind::Text, true),
                ("idle", Kind::Texts, false),
                ("busy", Kind::Texts, false),
                ("dialog", Kind::Texts, false),
                ("placeholder", Kind::Texts, false),
                ("pane", Kind::Text, false),
                ("socket", Kind::Text, false),
            ],
            Self::Cmux => &[
                ("surface", Kind::Text, true),
                ("workspace", Kind::Text, false),
                ("socket", Kind::Text, false),
            ],
            Self::Webhook => &[
                ("url", Kind::Url, true),
                ("token_env", Kind::EnvName, false),
                ("token_file", Kind::Text, false),
                ("secret_env", Kind::EnvName, false),
                ("secret_file", Kind::Text, false),
                ("allow_private", Kind::Bool, false),
                ("ca_file", Kind::Text, false),
            ],
            Self::DesktopNotification => &[],
            Self::LocalRunner => &[
                ("argv", Kind::Argv, true),
                ("folder", Kind::Text, true),
                ("env", Kind::EnvNames, false),
                ("timeout", Kind::Duration, false),
            ],
            Self::TurnHook => &[("host", Kind::Choice(&["claude-code"]), true)],
            Self::External => &[
                ("argv", Kind::Argv, true),
                ("folder", Kind::Text, false),
                ("env", Kind::EnvNames, false),
                ("timeout", Kind::Duration, false),
            ],
            Self::Fake => &[("outcome", Kind::Choice(OUTCOMES), true), ("delay", Kind::Duration, false)],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cap_3_the_words_and_the_runtimes_are_the_same_list() {
        assert_eq!(Runtime::ALL.map(Runtime::name).as_slice(), NAMES);
        assert_eq!(Runtime::from_name("telepathy"), None);
    }

    #[test]
    fn cap_1_no_key_of_a_runtime_hides_a_common_one() {
        for (runtime, key) in Runtime::ALL.iter().flat_map(|r| r.keys().iter().map(move |key| (r, key.0))) {
            assert!(COMMON.iter().all(|(common, _)| *common != key), "{runtime:?} {key}");
        }
    }
}

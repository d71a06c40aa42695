//! The environment of a child: what is on the list, and of that nothing that looks like a secret or is one of ours.
//!
//! Three walls, in this order. A name must be on the list of all children or on that of this agent; a name that looks
//! like a secret falls unless this very agent was given it; a value with one of our own secrets in it falls in any
//! case. Rules: SPW-2, CAP-4.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::sync::Arc;

use awakener_spec::rule;

use super::secrets::Secrets;

/// What every child may know.
const ALL: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "TZ",
    "TERM",
    "COLORTERM",
    "NO_COLOR",
    "TMPDIR",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    // Where an instrumented build leaves its counts.
    "LLVM_PROFILE_FILE",
];

/// Beginnings of names that every child may know.
const ALL_WITH: &[&str] = &["LC_"];

/// Where programs are looked for if nobody says.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Words that make a name look like that of a secret.
const WORDS: &[&str] = &[
    "TOKEN",
    "SECRET",
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "CREDENTIAL",
    "PRIVATE",
    "APIKEY",
    "API_KEY",
    "ACCESS_KEY",
    "AUTH",
    "BEARER",
    "COOKIE",
    "DATABASE_URL",
    "CONNECTION_STRING",
    "DSN",
];

/// Ends of names that make them look like that of a secret.
const ENDS: &[&str] = &["_KEY", "_PASS", "_PWD", "_PAT", "_SEED"];

/// Beginnings of names that make them look like that of a secret.
const BEGINNINGS: &[&str] = &["AWS_", "AZURE_", "AWAKENER_"];

/// How the environment of a child is made.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    own: BTreeSet<OsString>,
    set: BTreeMap<OsString, OsString>,
    secrets: Arc<Secrets>,
}

impl Environment {
    /// One from which these secrets are kept.
    pub fn without(secrets: Arc<Secrets>) -> Self {
        Self { secrets, ..Self::default() }
    }

    /// Lets variables of ours through for this agent, also when they look like secrets.
    #[must_use]
    pub fn with<N: AsRef<OsStr>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.own.extend(names.into_iter().map(|name| name.as_ref().to_owned()));
        self
    }

    /// Sets a variable; its value is swept like any other.
    #[must_use]
    pub fn set(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.set.insert(name.into(), value.into());
        self
    }

    /// Whether one of our secrets is in it.
    pub fn betrays(&self, value: &[u8]) -> bool {
        self.secrets.betrayed_by(value)
    }

    /// What a child gets, from the environment of this process.
    pub fn clean(
        &self,
        parent: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> BTreeMap<OsString, OsString> {
        let mut clean = BTreeMap::from([("PATH".into(), PATH.into())]);
        clean.extend(parent.into_iter().filter(|(name, _)| self.passes(name)));
        clean.extend(self.set.clone());
        clean.retain(|name, value| {
            let ours = self.betrays(value.as_bytes());
            if ours {
                rule!(Spw2);
                tracing::warn!(
                    rule = "SPW-2",
                    ?name,
                    "a variable with a secret of ours in it is kept from a child"
                );
            }
            !ours
        });
        clean
    }

    fn passes(&self, name: &OsStr) -> bool {
        let listed = ALL.iter().any(|known| name == *known)
            || ALL_WITH.iter().any(|start| name.as_bytes().starts_with(start.as_bytes()));
        let passes = self.own.contains(name) || (listed && !looks_secret(name));
        if !passes {
            rule!(Spw2);
        }
        passes
    }
}

/// Whether a name looks like that of a secret, however it is written.
pub fn looks_secret(name: &OsStr) -> bool {
    let name = name.to_string_lossy().to_ascii_uppercase();
    WORDS.iter().any(|word| name.contains(word))
        || ENDS.iter().any(|end| name.ends_with(end))
        || BEGINNINGS.iter().any(|start| name.starts_with(start))
        || name == "KEY"
}

#[cfg(test)]
mod tests {
    use awakener_tools::enforces;

    use super::*;

    fn parent(pairs: &[(&str, &str)]) -> Vec<(OsString, OsString)> {
        pairs.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect()
    }

    enforces! {
        [Spw2] fn spw_2_three_walls_stand_between_a_secret_and_a_child(seen) {
            let mut secrets = Secrets::default();
            secrets.add(b"a-bearer-credential-of-this-plane");
            let parent = parent(&[
                ("PATH", "/bin"),
                ("LC_ALL", "C"),
                ("LC_API_KEY", "shaped like one"),
                ("EDITOR", "ed"),
                ("DATABASE_URL", "postgres://"),
                ("OPENAI_API_KEY", "sk-1"),
                ("OTHER_API_KEY", "sk-2"),
                ("LANG", "xx a-bearer-credential-of-this-plane xx"),
                ("NOTE", "a-bearer-credential-of-this-plane"),
            ]);
            let environment = Environment::without(Arc::new(secrets)).with(["OPENAI_API_KEY", "NOTE"]);
            let clean = environment.clean(parent.clone());
            let names: Vec<_> = clean.keys().map(|name| name.to_str().unwrap()).collect();
            // A name allowed for this agent survives; a value of ours does not, whatever its name.
            assert_eq!(names, ["LC_ALL", "OPENAI_API_KEY", "PATH"]);
            // The control: without the secret to look for, what was allowed comes through.
            let open = Environment::default().with(["NOTE"]).clean(parent);
            assert!(open.contains_key(OsStr::new("NOTE")) && open.contains_key(OsStr::new("LANG")));
            assert!(!open.contains_key(OsStr::new("OTHER_API_KEY")) && !open.contains_key(OsStr::new("EDITOR")));
            let _ = seen;
        }
    }

    #[test]
    fn spw_2_names_of_secrets_are_known_by_their_shape() {
        for name in [
            "GITHUB_TOKEN",
            "github_token",
            "AWS_REGION",
            "MY_SECRET_2",
            "DB_PASSWORD",
            "STRIPE_KEY",
            "SENTRY_DSN",
            "DATABASE_URL",
            "SSH_AUTH_SOCK",
            "AWAKENER_TOKEN_FILE",
            "KEY",
            "NPM_CONFIG__AUTH",
        ] {
            assert!(looks_secret(OsStr::new(name)), "{name}");
        }
        for name in ALL.iter().copied().chain(["LC_ALL", "KEYBOARD", "MONKEY", "EDITOR"]) {
            assert!(!looks_secret(OsStr::new(name)), "{name}");
        }
    }

    #[test]
    fn spw_2_a_service_without_a_path_gets_one() {
        let clean = Environment::default().clean(parent(&[]));
        assert_eq!(clean[OsStr::new("PATH")], PATH);
        let own = Environment::default().clean(parent(&[("PATH", "/opt/bin")]));
        assert_eq!(own[OsStr::new("PATH")], "/opt/bin");
    }
}

//! A secret that a manifest names and does not hold: an environment variable or a file, read when it is needed.
//!
//! It is read for one dispatch by the one adapter that names it, wiped afterwards, and shown nowhere: what goes wrong
//! says the name and never the value. A file must be 0600 in a directory of 0700, like any key. Rules: CAP-4, SPW-6.

use std::path::{Path, PathBuf};

use zeroize::Zeroizing;

use crate::keys;
use crate::manifest::Agent;

/// Where a secret is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Named {
    /// In this variable of the environment.
    Env(String),
    /// In this file.
    File(PathBuf),
}

impl Named {
    /// What an agent names as `<what>_env` or `<what>_file`; a file without a root lies beside the manifest.
    ///
    /// # Errors
    /// In words: both are named.
    pub(super) fn of(agent: &Agent, what: &str, beside: &Path) -> Result<Option<Self>, String> {
        let (env, file) = (agent.text(&format!("{what}_env")), agent.text(&format!("{what}_file")));
        match (env, file) {
            (None, None) => Ok(None),
            (Some(name), None) => Ok(Some(Self::Env(name.to_owned()))),
            (None, Some(file)) => Ok(Some(Self::File(beside.join(file)))),
            (Some(_), Some(_)) => Err(format!("{}: both `{what}_env` and `{what}_file`", agent.target)),
        }
    }

    /// Reads it, without white space around it.
    ///
    /// # Errors
    /// In words, without its value: it is not there, empty, or where others can read it.
    pub(super) fn read(&self) -> Result<Zeroizing<String>, String> {
        awakener_spec::rule!(Cap4);
        let text = match self {
            Self::Env(name) => std::env::var(name)
                .map(Zeroizing::new)
                .map_err(|_| format!("the environment has no {name} that is text"))?,
            Self::File(path) => keys::read_secret(path).map_err(|error| error.to_string())?,
        };
        let trimmed = Zeroizing::new(text.trim().to_owned());
        if trimmed.is_empty() { Err(format!("{} is empty", self.name())) } else { Ok(trimmed) }
    }

    fn name(&self) -> String {
        match self {
            Self::Env(name) => name.clone(),
            Self::File(path) => path.display().to_string(),
        }
    }
}

/// The header of a bearer token, marked so that nothing prints it.
///
/// # Errors
/// In words, without its value.
pub(super) fn bearer(named: &Named) -> Result<axum::http::HeaderValue, String> {
    let token = named.read()?;
    let text = Zeroizing::new(format!("Bearer {}", *token));
    let mut value = axum::http::HeaderValue::from_str(&text)
        .map_err(|_| format!("{} holds what no header can carry", named.name()))?;
    value.set_sensitive(true);
    Ok(value)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use awakener_tools::enforces;

    use super::*;

    enforces! {
        [Cap4] fn cap_4_a_secret_is_read_where_it_is_named_and_never_shown(_seen) {
            let dir = tempfile::tempdir().unwrap();
            std::fs::set_permissions(dir.path(), PermissionsExt::from_mode(0o700)).unwrap();
            let file = dir.path().join("token");
            keys::create_secret(&file, " hush ").unwrap();
            let named = Named::File(file.clone());
            assert_eq!(*named.read().unwrap(), "hush");
            let header = bearer(&named).unwrap();
            assert_eq!((header.to_str().unwrap(), format!("{header:?}").contains("hush")), ("Bearer hush", false));
            // What changes is what is read: nothing is kept from one dispatch to the next.
            std::fs::write(&file, "new\n").unwrap();
            assert_eq!(*named.read().unwrap(), "new");
            // Others could read it; it is empty; it is not there.
            std::fs::set_permissions(&file, PermissionsExt::from_mode(0o640)).unwrap();
            assert!(named.read().unwrap_err().contains("0640"));
            std::fs::set_permissions(&file, PermissionsExt::from_mode(0o600)).unwrap();
            std::fs::write(&file, "\n").unwrap();
            assert!(named.read().unwrap_err().contains("is empty"));
            std::fs::write(&file, "a\nb").unwrap();
            assert!(bearer(&named).unwrap_err().contains("no header can carry"));
            let absent = Named::Env("AWAKENER_NO_SUCH_VARIABLE".to_owned());
            assert!(absent.read().unwrap_err().contains("AWAKENER_NO_SUCH_VARIABLE"));
            let there = Named::Env("CARGO_MANIFEST_DIR".to_owned());
            assert!(there.read().unwrap().ends_with("shell"));
        }
    }
}

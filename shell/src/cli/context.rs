//! Where a command looks: state directory, configuration, plane, token.
//!
//! Nothing is read before it is needed, so that a broken configuration stops only the commands that use it.
//! Rules: CON-1, SPW-6.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};

use awakener_kernel::ids::{Principal, Target};

use super::args::Common;
use super::plane::Plane;
use crate::config::{Config, Sources};
use crate::exit::Failure;
use crate::keys::Token;

/// What a command is told by its common arguments.
#[derive(Debug)]
pub struct Context {
    common: Common,
    /// The state directory; it may not exist yet.
    pub state: PathBuf,
    config: OnceCell<Config>,
}

/// The token that a command presents when nobody names one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bearer {
    /// It must be named with `--as` or `--token-file`.
    Principal,
    /// The observer's.
    Observer,
    /// The observer's if there is one: what is sent carries its own signature.
    Signed,
}

impl Context {
    /// Finds the state directory.
    ///
    /// # Errors
    /// A usage failure if nothing says where it is.
    pub fn new(common: Common) -> Result<Self, Failure> {
        let state = match &common.state {
            Some(state) => state.clone(),
            None => default_state().ok_or_else(|| {
                Failure::usage(
                    "There is no state directory: neither --state, AWAKENER_STATE nor HOME is set.",
                )
            })?,
        };
        Ok(Self { common, state, config: OnceCell::new() })
    }

    /// Whether the answer is one JSON object.
    pub const fn json(&self) -> bool {
        self.common.json
    }

    /// Whether nothing may be sent.
    pub const fn dry_run(&self) -> bool {
        self.common.dry_run
    }

    /// The configuration file, if there is one.
    pub fn config_file(&self) -> Option<PathBuf> {
        let own = self.state.join("awakener.toml");
        self.common.config.clone().or_else(|| own.exists().then_some(own))
    }

    /// The configuration in force.
    ///
    /// # Errors
    /// Exit 78 with everything that is wrong.
    pub fn config(&self) -> Result<&Config, Failure> {
        if let Some(config) = self.config.get() {
            return Ok(config);
        }
        let config = Config::load(&Sources::of_process(self.config_file(), self.common.set.clone()))?;
        Ok(self.config.get_or_init(|| config))
    }

    /// Whether the command line or the environment says which plane is meant.
    pub const fn names_a_plane(&self) -> bool {
        self.common.url.is_some()
    }

    /// The base of the plane's URLs.
    ///
    /// # Errors
    /// That of the configuration, if it is needed.
    pub fn url(&self) -> Result<String, Failure> {
        match &self.common.url {
            Some(url) => Ok(url.trim_end_matches('/').into()),
            None => Ok(format!("http://{}", self.config()?.http.listen)),
        }
    }

    /// The plane, presented with a token.
    ///
    /// # Errors
    /// Usage if no token is named where one must be; exit 78 if the file cannot be used.
    pub fn plane(&self, bearer: Bearer) -> Result<Plane, Failure> {
        Plane::new(&self.url()?, self.token(bearer)?.as_ref(), self.common.dry_run)
    }

    /// The file of a key of the state directory.
    pub fn key_file(&self, name: &str) -> PathBuf {
        self.state.join("keys").join(name)
    }

    /// The token file of a party.
    pub fn token_file(&self, party: &str) -> PathBuf {
        self.state.join("tokens").join(format!("{party}.token"))
    }

    /// Whose token a station of `target` presents: the one that is named, else the principal of the same name.
    ///
    /// # Errors
    /// Never so far.
    pub fn acting_for(&self, target: &Target) -> Result<String, Failure> {
        let named = self.common.acting_as.as_ref().map(|principal| principal.as_str().to_owned());
        Ok(named.unwrap_or_else(|| target.as_str().to_owned()))
    }

    fn token(&self, bearer: Bearer) -> Result<Option<Token>, Failure> {
        let named = self.common.acting_as.as_ref().map(Principal::as_str);
        let named = self.common.token_file.clone().or_else(|| named.map(|name| self.token_file(name)));
        let file = match (named, bearer) {
            (Some(file), _) => file,
            (None, Bearer::Observer) => self.token_file("observer"),
            (None, Bearer::Signed) => {
                let file = self.token_file("observer");
                if !file.exists() {
                    return Ok(None);
                }
                file
            }
            (None, Bearer::Principal) => {
                return Err(Failure::usage("This command needs a credential.")
                    .then("Say --as PRINCIPAL or --token-file FILE."));
            }
        };
        Ok(Some(Token::load(&file)?))
    }
}

/// `$XDG_STATE_HOME/awakener`, else `~/.local/state/awakener`; a relative path there does not count.
fn default_state() -> Option<PathBuf> {
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let home = || absolute("HOME").map(|home| home.join(Path::new(".local/state")));
    absolute("XDG_STATE_HOME").or_else(home).map(|base| base.join("awakener"))
}

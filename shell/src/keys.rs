//! Key files and tokens: made, written, read and forgotten with care.
//!
//! A secret file is 0600 in a directory that is 0700, both of this user, or it is not used (SPW-6). Secrets are
//! zeroised when they go and have no Debug that shows them. Not here: who may use a key; that is registered by
//! operator acts. Rules: SPW-6, IDN-4, IDN-6, IDN-7.

mod files;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use awakener_kernel::ids::{ContentHash, KeyId, OperatorName, PublicKey, Target};
use awakener_kernel::wire::{SigningKey, public_key};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

pub(crate) use files::read_secret;
pub use files::{KeyError, create_secret, private_dir};

/// A private Ed25519 key, zeroised at its end.
pub struct SecretKey(SigningKey);

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SecretKey({})", self.key_id())
    }
}

impl SecretKey {
    /// A new key from the system's chance.
    ///
    /// # Errors
    /// [`KeyError::Chance`].
    pub fn generate() -> Result<Self, KeyError> {
        let mut seed = Zeroizing::new([0; 32]);
        getrandom::fill(seed.as_mut_slice()).map_err(|error| KeyError::Chance(error.to_string()))?;
        Ok(Self(SigningKey::from_bytes(&seed)))
    }

    /// Reads a key file: 64 hex digits of the seed, lower case, and a line feed or none.
    ///
    /// # Errors
    /// Any [`KeyError`] but `Exists` and `Chance`.
    pub fn load(path: &Path) -> Result<Self, KeyError> {
        let malformed = || KeyError::Malformed { path: path.into(), expected: "64 hex digits of a key seed" };
        let text = read_secret(path)?;
        let digits = text.strip_suffix("\n").unwrap_or(&text).as_bytes();
        let mut seed = Zeroizing::new([0_u8; 32]);
        if digits.len() != 64 {
            return Err(malformed());
        }
        for (byte, pair) in seed.iter_mut().zip(digits.chunks_exact(2)) {
            *byte =
                pair.iter().try_fold(0, |sum, digit| Some(sum << 4 | hex(*digit)?)).ok_or_else(malformed)?;
        }
        Ok(Self(SigningKey::from_bytes(&seed)))
    }

    /// Writes it to a new file; the directory is made if need be.
    ///
    /// # Errors
    /// Any [`KeyError`] but `Malformed` and `Chance`.
    pub fn create(&self, path: &Path) -> Result<(), KeyError> {
        create_secret(path, &self.to_hex())
    }

    /// The 64 hex digits of the seed, for the one moment in which a person must see them (IDN-7).
    pub fn to_hex(&self) -> Zeroizing<String> {
        let mut text = Zeroizing::new(String::with_capacity(64));
        let seed = Zeroizing::new(self.0.to_bytes());
        for byte in seed.iter() {
            for digit in [byte >> 4, byte & 15] {
                text.push(char::from_digit(digit.into(), 16).unwrap_or('0'));
            }
        }
        text
    }

    /// For signing documents.
    pub const fn signing(&self) -> &SigningKey {
        &self.0
    }

    /// The public half.
    pub fn public(&self) -> PublicKey {
        public_key(&self.0)
    }

    /// The id of the public half (IDN-4).
    pub fn key_id(&self) -> KeyId {
        self.public().key_id()
    }
}

/// A bearer credential: 32 random bytes in base64url without padding.
pub struct Token(Zeroizing<String>);

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

/// A secret that somebody else gave, such as the password of a broker: a line of text in a file of the same mode as a key.
pub struct Secret(Zeroizing<String>);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

impl Secret {
    /// Reads its file: one line that is not empty, at most 256 bytes.
    ///
    /// # Errors
    /// Any [`KeyError`] but `Exists` and `Chance`.
    pub fn load(path: &Path) -> Result<Self, KeyError> {
        let text = read_secret(path)?;
        let line = text.strip_suffix('\n').unwrap_or(&text);
        if line.is_empty() || line.contains(char::is_control) {
            return Err(KeyError::Malformed { path: path.into(), expected: "one line of text" });
        }
        Ok(Self(Zeroizing::new(line.to_owned())))
    }

    /// The text, for whoever asked for it.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl Token {
    /// A new token from the system's chance.
    ///
    /// # Errors
    /// [`KeyError::Chance`].
    pub fn generate() -> Result<Self, KeyError> {
        let mut bytes = Zeroizing::new([0_u8; 32]);
        getrandom::fill(bytes.as_mut_slice()).map_err(|error| KeyError::Chance(error.to_string()))?;
        Ok(Self(Zeroizing::new(URL_SAFE_NO_PAD.encode(bytes.as_slice()))))
    }

    /// Reads a token file.
    ///
    /// # Errors
    /// Any [`KeyError`] but `Exists` and `Chance`.
    pub fn load(path: &Path) -> Result<Self, KeyError> {
        let text = read_secret(path)?;
        let text = Zeroizing::new(text.strip_suffix("\n").unwrap_or(&text).to_owned());
        match URL_SAFE_NO_PAD.decode(text.as_bytes()).map(Zeroizing::new) {
            Ok(bytes) if bytes.len() == 32 => Ok(Self(text)),
            Ok(_) | Err(_) => {
                Err(KeyError::Malformed { path: path.into(), expected: "a token: base64url of 32 bytes" })
            }
        }
    }

    /// Writes it to a new file; the directory is made if need be.
    ///
    /// # Errors
    /// Any [`KeyError`] but `Malformed` and `Chance`.
    pub fn create(&self, path: &Path) -> Result<(), KeyError> {
        create_secret(path, &self.0)
    }

    /// The text, for the `Authorization` header alone.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// What a plane stores of it, see [`token_hash`].
    pub fn hash(&self) -> ContentHash {
        token_hash(&self.0)
    }
}

/// What a plane stores of a bearer credential: SHA-256 over its text as it stands in the header. Tokens have 256
/// random bits, so a plain hash does not help to guess them.
pub fn token_hash(text: &str) -> ContentHash {
    ContentHash::of(text.as_bytes())
}

/// The credential that a plane presents to the station of one target for its status, made from the hash of the observer's
/// token, which neither of them tells anybody. It opens that one status and nothing else, so that whoever sits on the
/// port of a station that does not run gains nothing by it.
pub fn look_token(observer: &ContentHash, target: &Target) -> String {
    let said = [b"awakener-look-v1\n".as_slice(), target.as_str().as_bytes(), b"\n", &observer.0].concat();
    URL_SAFE_NO_PAD.encode(ContentHash::of(&said).0)
}

/// The first operator key as `init` leaves it for the plane: enrolled with every scope by a store that has no operator
/// key yet, and never looked at again (IDN-7). Public, but kept like a secret, so that nobody else can put his own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FirstOperator {
    /// Always 1.
    pub v: u32,
    /// Who holds the key.
    pub operator: OperatorName,
    /// The public half.
    pub key: PublicKey,
}

impl FirstOperator {
    /// Where it stands in a state directory.
    pub fn path(state: &Path) -> PathBuf {
        state.join("keys").join("first-operator.json")
    }

    /// Writes it; `init` alone does.
    ///
    /// # Errors
    /// Any [`KeyError`] but `Malformed` and `Chance`.
    pub fn create(&self, state: &Path) -> Result<PathBuf, KeyError> {
        let path = Self::path(state);
        let text = serde_json::to_string(self).unwrap_or_default();
        create_secret(&path, &text)?;
        Ok(path)
    }

    /// Reads it; `None` if there is none.
    ///
    /// # Errors
    /// `Mode`, `Malformed` or `Io`.
    pub fn load(state: &Path) -> Result<Option<Self>, KeyError> {
        let path = Self::path(state);
        match read_secret(&path) {
            Ok(text) => match serde_json::from_str::<Self>(&text) {
                Ok(first) if first.v == 1 => Ok(Some(first)),
                Ok(_) | Err(_) => {
                    Err(KeyError::Malformed { path, expected: "the enrolment of an operator key" })
                }
            },
            Err(KeyError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// Lower case only: one form for one key.
const fn hex(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _other => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spw_6_a_key_comes_back_as_it_was_written_and_never_shows_itself() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("keys/a.key");
        let key = SecretKey::generate().unwrap();
        key.create(&path).unwrap();
        let back = SecretKey::load(&path).unwrap();
        assert_eq!(back.key_id(), key.key_id());
        assert_ne!(SecretKey::generate().unwrap().key_id(), key.key_id());
        let shown = format!("{back:?}");
        assert!(!shown.contains(key.to_hex().as_str()) && shown.contains("sha256:"), "{shown}");
        let token = Token::generate().unwrap();
        assert!(!format!("{token:?}").contains(token.expose()));
    }

    #[test]
    fn spw_6_only_one_form_is_a_key() {
        let dir = tempfile::tempdir().unwrap();
        let good = "0123456789abcdef".repeat(4);
        let write = |name: &str, text: &str| {
            let path = dir.path().join("private").join(name);
            create_secret(&path, text).unwrap();
            path
        };
        assert!(SecretKey::load(&write("good", &good)).is_ok());
        let bad =
            [good.to_uppercase(), format!("{good}0"), good[1..].into(), "g".repeat(64), format!(" {good}")];
        for (at, text) in bad.iter().enumerate() {
            let error = SecretKey::load(&write(&at.to_string(), text)).unwrap_err();
            assert!(matches!(error, KeyError::Malformed { .. }), "{text}: {error}");
            assert!(!error.to_string().contains(text.trim()), "{error}");
        }
    }

    #[test]
    fn spw_6_a_look_opens_one_station_and_gives_nothing_away() {
        let (one, other) = (ContentHash([1; 32]), ContentHash([2; 32]));
        let target = |name: &str| Target::parse(name).unwrap();
        let token = look_token(&one, &target("lotse"));
        assert_eq!(token, look_token(&one, &target("lotse")));
        assert_ne!(token, look_token(&one, &target("lots")));
        assert_ne!(token, look_token(&other, &target("lotse")));
        assert_ne!(token_hash(&token), one);
    }

    #[test]
    fn idn_6_a_token_is_known_by_the_hash_of_its_text() {
        let temp = tempfile::tempdir().unwrap();
        let dir = temp.path().join("private");
        let token = Token::generate().unwrap();
        token.create(&dir.join("t")).unwrap();
        let back = Token::load(&dir.join("t")).unwrap();
        assert_eq!(back.hash(), token_hash(token.expose()));
        assert_eq!(token.expose().len(), 43);
        create_secret(&dir.join("short"), "abcd").unwrap();
        assert!(Token::load(&dir.join("short")).is_err());
    }
}

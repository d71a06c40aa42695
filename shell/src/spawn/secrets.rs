//! Our own secrets, known by value, so that none of them goes to a child under an innocent name (SPW-2).
//!
//! Not here: what is sent out (SPW-5).

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use zeroize::Zeroizing;

use crate::keys::{KeyError, read_secret};

/// The shortest text that is taken for a secret; shorter ones would be found everywhere.
const SHORTEST: usize = 12;

/// The secrets of a state directory, in every form that they are looked for in. Zeroised at their end.
#[derive(Default)]
pub struct Secrets(Vec<Zeroizing<Vec<u8>>>);

impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Secrets({})", self.0.len())
    }
}

impl Secrets {
    /// Every key and every token of a state directory. One that has neither yet has no secrets.
    ///
    /// # Errors
    /// A file that cannot be read, or that others can (SPW-6): what is not known cannot be kept back.
    pub fn of_state(state: &Path) -> Result<Self, KeyError> {
        let mut secrets = Self::default();
        for kind in ["keys", "tokens"] {
            let folder = state.join(kind);
            let fault = |source| KeyError::Io { path: folder.clone(), source };
            let listed = match std::fs::read_dir(&folder) {
                Ok(listed) => listed,
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
                Err(error) => return Err(fault(error)),
            };
            for entry in listed {
                let path = entry.map_err(fault)?.path();
                if path.is_file() {
                    secrets.add(read_secret(&path)?.trim().as_bytes());
                }
            }
        }
        Ok(secrets)
    }

    /// Adds one: as it stands, and what it stands for if it is hex or base64url, in all these forms.
    pub fn add(&mut self, text: &[u8]) {
        if text.len() < SHORTEST {
            return;
        }
        let decoded = from_hex(text).or_else(|| URL_SAFE_NO_PAD.decode(text).ok().map(Zeroizing::new));
        for raw in [Some(Zeroizing::new(text.to_vec())), decoded].into_iter().flatten() {
            let hex = raw.iter().map(|byte| format!("{byte:02x}")).collect::<String>().into_bytes();
            let forms = [
                hex,
                STANDARD_NO_PAD.encode(raw.as_slice()).into_bytes(),
                URL_SAFE_NO_PAD.encode(raw.as_slice()).into_bytes(),
                raw.to_vec(),
            ];
            self.0.extend(forms.into_iter().filter(|form| form.len() >= SHORTEST).map(Zeroizing::new));
        }
    }

    /// Whether one of them is in it: as it stands, with its white space taken out, or in capitals where it is hex.
    pub fn betrayed_by(&self, value: &[u8]) -> bool {
        let packed =
            Zeroizing::new(value.iter().copied().filter(|b| !b.is_ascii_whitespace()).collect::<Vec<u8>>());
        let lower = Zeroizing::new(packed.to_ascii_lowercase());
        self.0.iter().any(|secret| {
            let within = |text: &[u8]| text.windows(secret.len()).any(|part| part == secret.as_slice());
            within(value) || within(&packed) || within(&lower)
        })
    }
}

fn from_hex(text: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    if !text.len().is_multiple_of(2) {
        return None;
    }
    text.chunks_exact(2)
        .map(|pair| pair.iter().try_fold(0_u8, |sum, byte| Some(sum << 4 | digit(*byte)?)))
        .collect::<Option<Vec<u8>>>()
        .map(Zeroizing::new)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spw_2_a_secret_is_known_in_every_form() {
        let key = crate::keys::SecretKey::generate().unwrap();
        let mut secrets = Secrets::default();
        secrets.add(key.to_hex().as_bytes());
        let seed = key.signing().to_bytes();
        let hex = key.to_hex();
        let split =
            hex.as_bytes().chunks(8).map(|part| std::str::from_utf8(part).unwrap()).collect::<Vec<_>>();
        for form in [
            hex.as_bytes().to_vec(),
            hex.to_ascii_uppercase().into_bytes(),
            format!("note: {} (old)", hex.as_str()).into_bytes(),
            split.join(" \n").into_bytes(),
            STANDARD_NO_PAD.encode(seed).into_bytes(),
            URL_SAFE_NO_PAD.encode(seed).into_bytes(),
            seed.to_vec(),
        ] {
            assert!(secrets.betrayed_by(&form), "{}", String::from_utf8_lossy(&form));
        }
        // The controls: another key, and half of this one.
        let other = crate::keys::SecretKey::generate().unwrap();
        assert!(!secrets.betrayed_by(other.to_hex().as_bytes()));
        assert!(!secrets.betrayed_by(&hex.as_bytes()[..32]));
        assert!(!Secrets::default().betrayed_by(hex.as_bytes()));
    }
}

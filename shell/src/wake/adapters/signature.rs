//! The symmetric signature of Standard Webhooks: `v1,` and HMAC-SHA256 over `id.timestamp.body`, in base64.
//!
//! Not here: `v1a`, the asymmetric kind. Rules: CAP-3, HOK-1.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use zeroize::Zeroizing;

/// What a secret starts with.
const PREFIX: &str = "whsec_";
/// The bytes that a secret may have.
const BYTES: std::ops::RangeInclusive<usize> = 24..=64;

/// The value of `webhook-signature`.
///
/// # Errors
/// In words, without the secret: it is not `whsec_` and base64 of 24 to 64 bytes.
pub(super) fn sign(secret: &str, id: &str, seconds: u64, body: &str) -> Result<String, String> {
    let wrong = || format!("the secret is not {PREFIX} and base64 of 24 to 64 bytes");
    let key = secret.strip_prefix(PREFIX).ok_or_else(wrong)?;
    let key = Zeroizing::new(STANDARD.decode(key).map_err(|_| wrong())?);
    if !BYTES.contains(&key.len()) {
        return Err(wrong());
    }
    let mut mac = Hmac::<Sha256>::new_from_slice(&key).map_err(|error| error.to_string())?;
    mac.update(format!("{id}.{seconds}.{body}").as_bytes());
    Ok(format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cap_3_a_secret_has_its_prefix_and_its_length() {
        let of = |bytes: usize| format!("{PREFIX}{}", STANDARD.encode(vec![7; bytes]));
        let signed = sign(&of(24), "wake", 1, "{}").unwrap();
        assert!(signed.starts_with("v1,") && signed.len() == 3 + 44, "{signed}");
        assert!(sign(&of(64), "wake", 1, "{}").is_ok());
        for other in
            [sign(&of(24), "wakf", 1, "{}"), sign(&of(24), "wake", 2, "{}"), sign(&of(24), "wake", 1, "[]")]
        {
            assert_ne!(other.unwrap(), signed);
        }
        for wrong in [of(23), of(65), STANDARD.encode([7; 24]), format!("{PREFIX}?"), String::new()] {
            let error = sign(&wrong, "wake", 1, "{}").unwrap_err();
            assert!(error.contains("24 to 64") && (wrong.is_empty() || !error.contains(&wrong)), "{error}");
        }
    }
}

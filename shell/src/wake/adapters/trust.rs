//! Whose certificates are believed: the system's, or those of one file that the manifest names.
//!
//! Rules: CAP-3.

use std::path::Path;
use std::sync::Arc;

use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

/// What https connections start from.
///
/// # Errors
/// In words: nobody could be found to trust.
pub(super) fn of(file: Option<&Path>) -> Result<Arc<ClientConfig>, String> {
    let mut roots = RootCertStore::empty();
    match file {
        Some(file) => {
            let said = |what: String| format!("{}: {what}", file.display());
            let found = CertificateDer::pem_file_iter(file).map_err(|error| said(error.to_string()))?;
            for certificate in found {
                let certificate = certificate.map_err(|error| said(error.to_string()))?;
                roots.add(certificate).map_err(|error| said(error.to_string()))?;
            }
        }
        None => {
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
    }
    if roots.is_empty() {
        return Err("there is no certificate to trust".to_owned());
    }
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?;
    Ok(Arc::new(config.with_root_certificates(roots).with_no_client_auth()))
}

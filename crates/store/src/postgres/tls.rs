//! TLS to the database, with the root certificates of the machine. The URL decides whether it is used (`sslmode`).

use std::sync::Arc;

use base::{Error, Result};
use rustls::{ClientConfig, RootCertStore};
use tokio_postgres_rustls::MakeRustlsConnect;

pub(super) fn connector() -> Result<MakeRustlsConnect> {
    let mut roots = RootCertStore::empty();
    // A machine without root certificates can still reach a database that needs no TLS.
    for certificate in rustls_native_certs::load_native_certs().certs {
        if let Err(error) = roots.add(certificate) {
            tracing::debug!(%error, "unusable root certificate on this machine");
        }
    }
    let config = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(Error::internal)?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(MakeRustlsConnect::new(config))
}

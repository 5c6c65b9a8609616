//! TLS to the database, with the machine's own roots. Whether it is used is the url's to say (`sslmode`).

use std::sync::Arc;

use base::{Error, Result};
use rustls::{ClientConfig, RootCertStore};
use tokio_postgres_rustls::MakeRustlsConnect;

pub(super) fn connector() -> Result<MakeRustlsConnect> {
    let mut roots = RootCertStore::empty();
    // A machine without roots can still reach a database that asks for no TLS.
    for certificate in rustls_native_certs::load_native_certs().certs {
        if let Err(error) = roots.add(certificate) {
            tracing::debug!(%error, "a root certificate of this machine cannot be used");
        }
    }
    let config = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(Error::internal)?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(MakeRustlsConnect::new(config))
}

//! The audit trail over HTTP: its entries, its completeness, and its verification.

mod checkpoints;
mod durable;
mod events;
mod faults;
mod filters;
mod forbidden;
mod keys;
mod onward;
mod retention;
mod verified;

use ::audit::{Checkpoint, Jwks, Report, Verifier};
use reqwest::Method;
use serde_json::Value;

use crate::support::{Reply, Tenant};

/// An org's exported trail and public keys.
pub(crate) struct Export {
    pub(crate) lines: String,
    pub(crate) jwks: String,
}

impl Export {
    pub(crate) async fn of(tenant: &Tenant<'_>) -> Self {
        let lines = tenant.audit("export").await;
        assert_eq!((lines.status, lines.header("content-type")), (200, Some("application/x-ndjson")));
        let jwks = jwks(tenant, "").await;
        assert_eq!(jwks.status, 200);
        Self { lines: lines.text, jwks: jwks.text }
    }

    pub(crate) fn entries(&self) -> Vec<Value> {
        self.lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    pub(crate) fn verify(&self, checkpoint: Option<Checkpoint>) -> Report {
        let mut verifier = Verifier::new(&Jwks::parse(self.jwks.as_bytes()).unwrap(), checkpoint, None);
        verifier.push_lines(self.lines.as_bytes()).unwrap();
        verifier.finish()
    }

    /// Asserts that the export is valid. Returns the number of entries.
    #[track_caller]
    pub(crate) fn verified(&self) -> u64 {
        let report = self.verify(None);
        assert!(report.is_valid(), "{report:?}");
        report.event_count
    }
}

/// The response with the org's public keys.
pub(crate) async fn jwks(tenant: &Tenant<'_>, suffix: &str) -> Reply {
    let path = format!("{}/.well-known/audit-keys/{}{suffix}", tenant.crib.url, tenant.org);
    tenant.crib.send(tenant.crib.http.get(path)).await
}

/// Asserts that the server's own verification finds the trail valid. Returns its report.
pub(crate) async fn verified(tenant: &Tenant<'_>) -> Value {
    let report = tenant.crib.api(Method::POST, "/api/audit/verify", &tenant.key, None).await.expect(200);
    assert_eq!(report["valid"], true, "{report}");
    report
}

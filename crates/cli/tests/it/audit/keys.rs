//! Signing keys: public keys are served to everyone, the old key signs a rotation, and a revocation has a reason.

use reqwest::Method;
use serde_json::json;

use super::{Export, jwks};
use crate::support::{Crib, Engine, both_engines};

both_engines! {
    async fn public_keys_are_served_as_the_contract_says(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let (plain, dotted) = (jwks(&tenant, "").await, jwks(&tenant, ".json").await);
        assert_eq!(plain.text, dotted.text);
        assert_eq!(plain.header("cache-control"), Some("public, max-age=300, stale-while-revalidate=3600"));
        assert_eq!(plain.header("access-control-allow-origin"), Some("*"));
        assert_eq!(plain.header("content-type"), Some("application/json"));
        let key = &plain.json()["keys"][0];
        for (member, value) in [("kty", "OKP"), ("crv", "Ed25519"), ("alg", "EdDSA"), ("use", "sig")] {
            assert_eq!(key[member], value);
        }
        assert!(key["kid"].is_string() && key["x"].is_string() && key["iat"].is_i64() && key.get("revoked").is_none(), "{key}");
        let etag = plain.header("etag").unwrap();
        assert!(etag.starts_with('"'), "strong: {etag}");
        let again = crib.http.get(format!("{}/.well-known/audit-keys/{}", crib.url, tenant.org)).header("if-none-match", etag);
        let again = crib.send(again).await;
        assert_eq!((again.status, again.text.as_str(), again.header("etag")), (304, "", Some(etag)));
        for known in [format!("W/{etag}"), format!("\"other\", {etag}"), format!("\"other\",W/{etag}"), "*".to_owned()] {
            let again = crib.http.get(format!("{}/.well-known/audit-keys/{}", crib.url, tenant.org)).header("if-none-match", &known);
            assert_eq!(crib.send(again).await.status, 304, "{known}");
        }
        for other in ["\"other\"", "W/\"other\"", "w/", ""] {
            let again = crib.http.get(format!("{}/.well-known/audit-keys/{}", crib.url, tenant.org)).header("if-none-match", other);
            assert_eq!(crib.send(again).await.status, 200, "{other}");
        }
        for unknown in ["org_00000000000000000000000000", "nonsense", "%00"] {
            let none = crib.send(crib.http.get(format!("{}/.well-known/audit-keys/{unknown}", crib.url))).await;
            assert_eq!((none.status, none.text.as_str()), (200, r#"{"keys":[]}"#), "{unknown}");
        }
    }

    async fn old_key_signs_the_rotation_and_old_signatures_stay_valid(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let session = tenant.session().await;
        session.call("bricks.list", json!({})).await.result();
        let post = async |path: &str, body| crib.api(Method::POST, &format!("/api/audit/{path}"), &tenant.key, body).await;
        let first = tenant.audit("keys").await.expect(200)["keys"][0]["kid"].as_str().unwrap().to_owned();
        let second = post("keys/rotate", None).await.expect(200)["key"]["kid"].as_str().unwrap().to_owned();
        assert_ne!(first, second);
        session.call("bricks.list", json!({})).await.result();
        let export = Export::of(&tenant).await;
        export.verified();
        let rotated = export.entries().into_iter().find(|entry| entry["eventType"] == "audit.key_rotated").unwrap();
        assert_eq!((&rotated["kid"], &rotated["payload"]["newKid"]), (&json!(first), &json!(second)));
        // Revoking the active key first rotates it.
        let revoked = post(&format!("keys/{second}/revoke"), Some(json!({"reason": "laptop lost"}))).await.expect(200);
        assert!(revoked["key"]["revokedAt"].is_string());
        session.call("bricks.list", json!({})).await.result();
        assert_eq!(post(&format!("keys/{second}/revoke"), None).await.status, 409);
        assert_eq!(post(&format!("keys/{}/revoke", "A".repeat(43)), None).await.status, 404);
        let export = Export::of(&tenant).await;
        let report = export.verify(None);
        assert!(report.is_valid() && report.signed_by_revoked > 0, "{report:?}");
        let keys = serde_json::from_str::<serde_json::Value>(&export.jwks).unwrap()["keys"].clone();
        assert_eq!(keys.as_array().unwrap().len(), 3);
        let dead = keys.as_array().unwrap().iter().find(|key| key["kid"] == second.as_str()).unwrap();
        assert_eq!(dead["revoked"]["reason"], "laptop lost");
        assert!(dead["revoked"]["revoked_at"].is_i64());
        assert_eq!(post("verify", None).await.expect(200)["valid"], true);
    }
}

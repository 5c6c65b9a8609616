//! The public keys of a workspace as a JWK set (RFC 7517, 8037), including rotated and revoked keys.

use base::{Error, Kind, Result, Timestamp};
use serde::ser::{Serialize, Serializer};
use serde_json::Value;

use crate::VerifyingKey;
use crate::canonical;

/// When and why a key was revoked. Entries from later seconds are not trusted.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Revoked {
    /// In seconds since the epoch.
    pub revoked_at: i64,
    /// The reason that was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A public key and its metadata.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Jwk {
    /// The key.
    pub key: VerifyingKey,
    /// When it was made, in seconds since the epoch.
    pub issued_at: Option<i64>,
    /// Set if the key is revoked.
    pub revoked: Option<Revoked>,
}

impl Jwk {
    /// A key that was made at `issued_at`.
    pub fn new(key: VerifyingKey, issued_at: Timestamp) -> Self {
        Self { key, issued_at: Some(seconds(issued_at)), revoked: None }
    }

    /// The same key, revoked.
    #[must_use]
    pub fn revoked(mut self, at: Timestamp, reason: Option<String>) -> Self {
        self.revoked = Some(Revoked { revoked_at: seconds(at), reason });
        self
    }

    /// Whether `time` is after this key's revocation. The second of the revocation still counts as before: a JWK has no finer
    /// time, and the key signs its own replacement in that second.
    pub(crate) fn is_revoked_at(&self, time: Timestamp) -> bool {
        self.revoked.as_ref().is_some_and(|revoked| seconds(time) > revoked.revoked_at)
    }

    /// Parses a key of a set. Keys of other types, keys for other uses, and keys whose name is not their thumbprint are
    /// skipped, so the verifier treats them as unknown.
    fn read(value: &Value) -> Result<Option<Self>, String> {
        let text = |name: &str| value.get(name).and_then(Value::as_str);
        let is = |name: &str, words: &[&str]| {
            value.get(name).is_none_or(|word| word.as_str().is_some_and(|word| words.contains(&word)))
        };
        let fits = text("kty") == Some("OKP") && text("crv") == Some("Ed25519");
        if !fits || !is("alg", &["EdDSA", "Ed25519"]) || !is("use", &["sig"]) {
            return Ok(None);
        }
        let Some(key) = text("x").and_then(VerifyingKey::parse).filter(|key| text("kid") == Some(key.kid())) else {
            return Ok(None);
        };
        let revoked = value.get("revoked").filter(|revoked| !revoked.is_null());
        let revoked = revoked.map(|revoked| serde_json::from_value::<Revoked>(revoked.clone())).transpose();
        let revoked = revoked.map_err(|error| format!("`revoked` of the key `{}`: {error}", key.kid()))?;
        Ok(Some(Self { key, issued_at: value.get("iat").and_then(Value::as_i64), revoked }))
    }
}

fn seconds(time: Timestamp) -> i64 {
    time.ms().div_euclid(1_000)
}

impl Serialize for Jwk {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(serde::Serialize)]
        struct Wire<'a> {
            kty: &'static str,
            crv: &'static str,
            alg: &'static str,
            r#use: &'static str,
            kid: &'a str,
            x: String,
            #[serde(skip_serializing_if = "Option::is_none")]
            iat: Option<i64>,
            #[serde(skip_serializing_if = "Option::is_none")]
            revoked: Option<&'a Revoked>,
        }
        let wire = Wire {
            kty: "OKP",
            crv: "Ed25519",
            alg: "EdDSA",
            r#use: "sig",
            kid: self.key.kid(),
            x: self.key.x(),
            iat: self.issued_at,
            revoked: self.revoked.as_ref(),
        };
        wire.serialize(serializer)
    }
}

/// The keys of a workspace.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Jwks {
    /// Active and revoked keys.
    pub keys: Vec<Jwk>,
}

impl Jwks {
    /// Parses a set as the server publishes it. Unknown members and keys of other types are skipped.
    ///
    /// # Errors
    /// If the bytes are not a JWK set, or it has a key twice.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let refused = |why: String| Error::new(Kind::InvalidParams, format!("not a JWK set: {why}"));
        let text = std::str::from_utf8(bytes).map_err(|error| refused(error.to_string()))?;
        let value = canonical::read(text).map_err(|error| refused(error.to_string()))?;
        let listed = value.get("keys").and_then(Value::as_array);
        let listed = listed.ok_or_else(|| refused("it has no `keys` array".to_owned()))?;
        let mut keys: Vec<Jwk> = Vec::with_capacity(listed.len());
        for value in listed {
            let Some(key) = Jwk::read(value).map_err(refused)? else { continue };
            if keys.iter().any(|known| known.key.kid() == key.key.kid()) {
                return Err(refused(format!("duplicate key `{}`", key.key.kid())));
            }
            keys.push(key);
        }
        Ok(Self { keys })
    }

    /// Finds a key by its name.
    pub fn find(&self, kid: &str) -> Option<&Jwk> {
        self.keys.iter().find(|key| key.key.kid() == kid)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SigningKey;
    use serde_json::json;

    fn jwk() -> Jwk {
        Jwk::new(SigningKey::from_seed(&[1; 32]).verifying_key().clone(), Timestamp::from_ms(1_763_238_099_999))
    }

    #[test]
    fn a_set_has_the_documented_shape() {
        let revoked = jwk().revoked(Timestamp::from_ms(1_763_238_100_001), Some("lost".to_owned()));
        let plain = Jwk { issued_at: None, ..jwk() };
        let text = serde_json::to_string(&Jwks { keys: vec![plain, revoked.clone()] }).unwrap();
        let (kid, x) = (revoked.key.kid(), revoked.key.x());
        let members = format!(r#""kty":"OKP","crv":"Ed25519","alg":"EdDSA","use":"sig","kid":"{kid}","x":"{x}""#);
        let second = r#""iat":1763238099,"revoked":{"revoked_at":1763238100,"reason":"lost"}"#;
        assert_eq!(text, format!(r#"{{"keys":[{{{members}}},{{{members},{second}}}]}}"#));
        let one = Jwks { keys: vec![revoked] };
        assert_eq!(Jwks::parse(&serde_json::to_vec(&one).unwrap()).unwrap(), one);
        assert_eq!(serde_json::to_string(&Jwks::default()).unwrap(), r#"{"keys":[]}"#);
    }

    fn read(change: impl Fn(&mut Value)) -> Result<Jwks> {
        let mut key = serde_json::to_value(jwk()).unwrap();
        change(&mut key);
        Jwks::parse(json!({"keys": [key], "more": 1}).to_string().as_bytes())
    }

    #[test]
    fn unknown_members_and_the_new_algorithm_name_are_accepted() {
        for change in [
            (|_| ()) as fn(&mut Value),
            |key| key["alg"] = json!("Ed25519"),
            |key| key["exp"] = json!(1),
            |key| drop(key.as_object_mut().unwrap().remove("alg")),
            |key| drop(key.as_object_mut().unwrap().remove("use")),
            |key| key["revoked"] = Value::Null,
        ] {
            assert_eq!(read(change).unwrap().keys, [jwk()]);
        }
    }

    #[test]
    fn foreign_keys_are_skipped() {
        for change in [
            (|key| key["kty"] = json!("RSA")) as fn(&mut Value),
            |key| key["crv"] = json!("X25519"),
            |key| key["alg"] = json!("ES256"),
            |key| key["use"] = json!("enc"),
            |key| key["kid"] = json!("another name"),
            |key| key["x"] = json!("AAAA"),
            |key| *key = json!("no key"),
        ] {
            assert_eq!(read(change).unwrap(), Jwks::default());
        }
    }

    #[test]
    fn malformed_sets_are_refused() {
        for text in ["", "[]", "{}", r#"{"keys":{}}"#, r#"{"keys":[],"keys":[]}"#] {
            assert!(Jwks::parse(text.as_bytes()).is_err(), "{text}");
        }
        assert!(Jwks::parse(&serde_json::to_vec(&json!({"keys": [jwk(), jwk()]})).unwrap()).is_err());
        assert!(read(|key| key["revoked"] = json!({"reason": "when?"})).is_err());
    }

    #[test]
    fn entries_in_the_second_of_the_revocation_are_trusted() {
        let revoked = jwk().revoked(Timestamp::from_ms(10_500), None);
        assert!(!revoked.is_revoked_at(Timestamp::from_ms(10_999)));
        assert!(revoked.is_revoked_at(Timestamp::from_ms(11_000)));
        assert!(!jwk().is_revoked_at(Timestamp::from_ms(i64::MAX)));
    }
}

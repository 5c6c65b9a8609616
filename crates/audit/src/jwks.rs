//! The public keys of a workspace, as a JWK set (RFC 7517, 8037): all of them, those that sign no more included.

use base::{Error, Kind, Result, Timestamp};
use serde::ser::{Serialize, Serializer};
use serde_json::Value;

use crate::VerifyingKey;
use crate::canonical;

/// When a key was revoked, and why: entries from later seconds are not believed.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Revoked {
    /// In seconds since the epoch.
    pub revoked_at: i64,
    /// As its revoker put it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A public key with what is said about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Jwk {
    /// The key.
    pub key: VerifyingKey,
    /// When it was made, in seconds since the epoch.
    pub issued_at: Option<i64>,
    /// Set when it is no longer believed.
    pub revoked: Option<Revoked>,
}

impl Jwk {
    /// A key that was made at a time.
    pub fn new(key: VerifyingKey, issued_at: Timestamp) -> Self {
        Self { key, issued_at: Some(seconds(issued_at)), revoked: None }
    }

    /// The same key, revoked.
    #[must_use]
    pub fn revoked(mut self, at: Timestamp, reason: Option<String>) -> Self {
        self.revoked = Some(Revoked { revoked_at: seconds(at), reason });
        self
    }

    /// Whether something signed at `time` is too late for this key. The second in which it was revoked still counts: a
    /// JWK tells no finer time, and the event that replaces the key is signed by it in that very second.
    pub(crate) fn is_revoked_at(&self, time: Timestamp) -> bool {
        self.revoked.as_ref().is_some_and(|revoked| seconds(time) > revoked.revoked_at)
    }

    /// The key in a member of a set. Keys of other types, for other uses, and such as nobody could have made with our
    /// names are passed over: what they sign is signed by an unknown key.
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
    /// Active and revoked ones.
    pub keys: Vec<Jwk>,
}

impl Jwks {
    /// Reads a set as the server publishes it. Members it does not know and keys of other types are passed over.
    ///
    /// # Errors
    /// When the bytes are no JWK set, or name a key twice.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let refused = |why: String| Error::new(Kind::InvalidParams, format!("this is no JWK set: {why}"));
        let text = std::str::from_utf8(bytes).map_err(|error| refused(error.to_string()))?;
        let value = canonical::read(text).map_err(|error| refused(error.to_string()))?;
        let listed = value.get("keys").and_then(Value::as_array);
        let listed = listed.ok_or_else(|| refused("it has no list `keys`".to_owned()))?;
        let mut keys: Vec<Jwk> = Vec::with_capacity(listed.len());
        for value in listed {
            let Some(key) = Jwk::read(value).map_err(refused)? else { continue };
            if keys.iter().any(|known| known.key.kid() == key.key.kid()) {
                return Err(refused(format!("the key `{}` stands twice", key.key.kid())));
            }
            keys.push(key);
        }
        Ok(Self { keys })
    }

    /// The key of a name.
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
    fn a_set_has_the_shape_that_is_promised() {
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
    fn unknown_members_and_the_new_name_of_the_algorithm_are_taken() {
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
    fn keys_that_are_not_ours_are_passed_over() {
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
    fn what_is_no_set_is_refused() {
        for text in ["", "[]", "{}", r#"{"keys":{}}"#, r#"{"keys":[],"keys":[]}"#] {
            assert!(Jwks::parse(text.as_bytes()).is_err(), "{text}");
        }
        assert!(Jwks::parse(&serde_json::to_vec(&json!({"keys": [jwk(), jwk()]})).unwrap()).is_err());
        assert!(read(|key| key["revoked"] = json!({"reason": "when?"})).is_err());
    }

    #[test]
    fn the_second_of_the_revocation_still_counts() {
        let revoked = jwk().revoked(Timestamp::from_ms(10_500), None);
        assert!(!revoked.is_revoked_at(Timestamp::from_ms(10_999)));
        assert!(revoked.is_revoked_at(Timestamp::from_ms(11_000)));
        assert!(!jwk().is_revoked_at(Timestamp::from_ms(i64::MAX)));
    }
}

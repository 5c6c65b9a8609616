//! `requestState`: what a tool needs to remember between its question to the client and the client's answer.
//!
//! The client carries the state, so it is sealed: it is valid only for the caller and the tool it was made for, and only for a
//! limited time. It is signed but not encrypted. Never put a secret into it.

use base::limits::REQUEST_STATE_TTL_MS;
use base::{Actor, Error, Principal, Result, Timestamp};
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::tool::Call;

/// Seals and opens the states of one call.
pub(crate) struct Seal<'a> {
    key: &'a [u8; 32],
    org: &'a str,
    actor: &'a str,
    tool: &'a str,
    now: Timestamp,
}

impl<'a> Seal<'a> {
    /// The seal of `call`'s caller and tool.
    pub(crate) fn of(call: &Call<'a>) -> Self {
        let Principal { org, actor, .. } = call.permit.principal();
        let actor = match actor {
            Actor::Session { id, .. } => id.as_str(),
            // A new token is still the same agent.
            Actor::Agent { id, .. } => id.as_str(),
        };
        let key = &call.services.request_state_key;
        Self { key, org: org.as_str(), actor, tool: call.permit.tool(), now: call.services.clock.now() }
    }

    /// Seals `state`: `<expiry>.<tag>.<state>`.
    pub(crate) fn close(&self, state: &str) -> Result<String> {
        let expiry = self.now.plus_ms(REQUEST_STATE_TTL_MS).ms().to_string();
        let tag = self.tag(&expiry, state)?.finalize().into_bytes();
        Ok(format!("{expiry}.{}.{state}", BASE64_URL_SAFE_NO_PAD.encode(tag)))
    }

    /// The state inside, if it is authentic, belongs to this caller and this tool, and has not expired. The error does not tell
    /// which check failed.
    pub(crate) fn open<'s>(&self, sealed: &'s str) -> Result<&'s str> {
        let refused = || Error::invalid("requestState", "`requestState` is invalid or expired; call again without it");
        let mut parts = sealed.splitn(3, '.');
        let (Some(expiry), Some(tag), Some(state)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(refused());
        };
        let tag = BASE64_URL_SAFE_NO_PAD.decode(tag).map_err(|_| refused())?;
        self.tag(expiry, state)?.verify_slice(&tag).map_err(|_| refused())?;
        let expiry: i64 = expiry.parse().map_err(|_| refused())?;
        if self.now.ms() < expiry { Ok(state) } else { Err(refused()) }
    }

    fn tag(&self, expiry: &str, state: &str) -> Result<Hmac<Sha256>> {
        let mut tag = Hmac::<Sha256>::new_from_slice(self.key).map_err(Error::internal)?;
        for part in [self.org, self.actor, self.tool, expiry, state] {
            // The length goes before each part, so two different lists of parts never give the same bytes.
            tag.update(&(part.len() as u64).to_be_bytes());
            tag.update(part.as_bytes());
        }
        Ok(tag)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEAL: Seal<'_> = Seal { key: &[7; 32], org: "org_a", actor: "ses_a", tool: "a", now: Timestamp::from_ms(1_000) };

    #[test]
    fn sealed_state_opens_for_the_same_caller_and_tool() {
        let later = Seal { now: Timestamp::from_ms(1_000 + REQUEST_STATE_TTL_MS - 1), ..SEAL };
        for state in ["", "step 2", "a.b.c", "ä\n\0"] {
            assert_eq!(later.open(&SEAL.close(state).unwrap()).unwrap(), state);
        }
    }

    #[test]
    fn sealed_state_does_not_open_for_another_caller_or_tool_or_too_late() {
        let sealed = SEAL.close("step 2").unwrap();
        for (who, other) in [
            ("key", Seal { key: &[8; 32], ..SEAL }),
            ("org", Seal { org: "org_b", ..SEAL }),
            ("actor", Seal { actor: "ses_b", ..SEAL }),
            ("tool", Seal { tool: "b", ..SEAL }),
            ("parts that join to the same text", Seal { org: "org_as", actor: "es_a", ..SEAL }),
            ("too late", Seal { now: Timestamp::from_ms(1_000 + REQUEST_STATE_TTL_MS), ..SEAL }),
        ] {
            assert_eq!(other.open(&sealed).unwrap_err().data()["parameter"], "requestState", "{who}");
        }
    }

    #[test]
    fn a_changed_seal_is_refused() {
        let sealed = SEAL.close("step 2").unwrap();
        let (expiry, rest) = sealed.split_once('.').unwrap();
        for changed in [
            format!("{sealed}-TAMPERED"),
            format!("9{expiry}.{rest}"),
            format!("{expiry}.{}", rest.to_uppercase()),
            format!("{expiry}..step 2"),
            rest.to_owned(),
            String::new(),
        ] {
            assert!(SEAL.open(&changed).is_err(), "{changed}");
        }
    }
}

//! Newtype ids: a prefix that says what it names, then 26 characters of Crockford base 32.
//!
//! Most ids start with their time, so that rows made together lie together. A session's id is 128 random bits:
//! it is no credential, but a guessable one would tell who exists.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use serde::{Deserialize, Serialize};

use crate::clock::{Clock, Timestamp};
use crate::secret::random_bytes;

const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
const BODY_CHARS: u32 = 26;
/// A prefix of four characters and the body.
const ID_BYTES: usize = 30;

/// An id's text without a heap: ids are copied, compared and hashed on every request.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Text {
    bytes: [u8; ID_BYTES],
    length: u8,
}

impl Text {
    /// Keeps what fits; every id that was ever made does.
    fn new(text: &str) -> Self {
        let mut bytes = [0; ID_BYTES];
        let kept = text.len().min(ID_BYTES);
        if let (Some(place), Some(text)) = (bytes.get_mut(..kept), text.as_bytes().get(..kept)) {
            place.copy_from_slice(text);
        }
        Self { bytes, length: u8::try_from(kept).unwrap_or_default() }
    }

    fn as_str(&self) -> &str {
        let text = self.bytes.get(..usize::from(self.length)).and_then(|bytes| std::str::from_utf8(bytes).ok());
        text.unwrap_or_default()
    }
}

/// 128 bits as 26 characters, most significant first.
fn base32(bits: u128) -> String {
    (0..BODY_CHARS)
        .rev()
        .filter_map(|position| {
            let digit = (bits >> (position * 5)) & 0x1f;
            ALPHABET.get(usize::try_from(digit).ok()?).map(|byte| char::from(*byte))
        })
        .collect()
}

/// Crockford's digits: no i, l, o or u.
fn is_digit(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'a'..=b'z') && !matches!(byte, b'i' | b'l' | b'o' | b'u')
}

fn is_body(text: &str) -> bool {
    text.len() == BODY_CHARS as usize && text.bytes().all(is_digit) && text.as_bytes().first() <= Some(&b'7')
}

fn random_body() -> String {
    base32(u128::from_be_bytes(random_bytes()))
}

/// 64 bits that count on from the time this process made its first, and 64 that are the process's own. Rows that are found by such
/// an id lie together when they were made together, so that writing many dirties few pages.
fn counted_body() -> String {
    static PROCESS: OnceLock<(u64, u64)> = OnceLock::new();
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let (start, process) = *PROCESS.get_or_init(|| (leading(Clock::system().now()), u64::from_be_bytes(random_bytes())));
    let count = start.wrapping_add(COUNT.fetch_add(1, Ordering::Relaxed));
    base32(u128::from(count) << 64 | u128::from(process))
}

/// 48 bits of time, and 16 to count in.
fn leading(now: Timestamp) -> u64 {
    (now.ms().unsigned_abs() & 0xffff_ffff_ffff) << 16
}

/// 48 bits of time, 16 that count within the millisecond, 64 random ones. What one process makes sorts as it was made, even
/// when its threads read the clock out of step or the clock is set back.
fn timed_body(now: Timestamp) -> String {
    static LAST: Mutex<u64> = Mutex::new(0);
    let first_half = {
        let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
        *last = last.saturating_add(1).max(leading(now));
        *last
    };
    let random = u64::from_be_bytes(random_bytes());
    base32(u128::from(first_half) << 64 | u128::from(random))
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident = $prefix:literal, $make:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Text);

        impl $name {
            /// What every id of this kind begins with.
            pub const PREFIX: &'static str = $prefix;

            /// The id in `text`, if it has the form of one.
            pub fn parse(text: &str) -> Option<Self> {
                is_body(text.strip_prefix(Self::PREFIX)?).then(|| Self(Text::new(text)))
            }

            /// An id as a row of ours holds it: it was checked when it was made.
            pub fn from_row(text: &str) -> Self {
                Self(Text::new(text))
            }

            /// The id as text.
            pub fn as_str(&self) -> &str {
                self.0.as_str()
            }

            ids!(@make $make);
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
                Self::parse(&text).ok_or_else(|| serde::de::Error::custom(concat!("not an id of the form ", $prefix, "…")))
            }
        }
    )*};
    (@make timed) => {
        /// A new id, made at `now`.
        pub fn new(now: Timestamp) -> Self {
            Self(Text::new(&format!("{}{}", Self::PREFIX, timed_body(now))))
        }
    };
    (@make counted) => {
        /// The next id of this process: unique, but no secret, so it costs no system call.
        pub fn next() -> Self {
            Self(Text::new(&format!("{}{}", Self::PREFIX, counted_body())))
        }
    };
    (@make random) => {
        /// A new id of 128 random bits.
        pub fn random() -> Self {
            Self(Text::new(&format!("{}{}", Self::PREFIX, random_body())))
        }
    };
}

ids! {
    /// A tenant.
    OrgId = "org_", timed;
    /// A project of an org.
    ProjectId = "prj_", timed;
    /// An API key (its name, not its secret).
    KeyId = "key_", timed;
    /// One agent's run in a project.
    SessionId = "ses_", random;
    /// A machine identity of an org.
    AgentId = "agt_", timed;
    /// An access token of an agent (its name, not its secret).
    TokenId = "tok_", timed;
    /// A person with a console login.
    UserId = "usr_", timed;
    /// A brick.
    BrickId = "brk_", timed;
    /// A version of a brick.
    BrickVersionId = "bkv_", timed;
    /// A kit.
    KitId = "kit_", timed;
    /// A version of a kit.
    KitVersionId = "ktv_", timed;
    /// An entry of the audit trail.
    EventId = "evt_", timed;
    /// A webhook of an org.
    WebhookId = "whk_", timed;
    /// Something an agent noted.
    ObservationId = "obs_", timed;
    /// Something the knowledge graph knows facts about.
    EntityId = "ent_", timed;
    /// A fact of the knowledge graph.
    TripletId = "tri_", timed;
    /// One request, as `x-request-id` and the audit trail name it.
    RequestId = "req_", counted;
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ids_have_their_prefix_and_read_back() {
        let id = BrickId::new(Timestamp::from_ms(1_763_238_099_007));
        assert_eq!(BrickId::parse(id.as_str()), Some(id));
        assert_eq!(KitId::parse(id.as_str()), None);
        assert_ne!(SessionId::random(), SessionId::random());
        assert_eq!(serde_json::from_str::<BrickId>(&serde_json::to_string(&id).unwrap()).unwrap(), id);
    }

    #[test]
    fn later_ids_sort_later() {
        let early = BrickId::new(Timestamp::from_ms(1_000));
        let late = BrickId::new(Timestamp::from_ms(1_001));
        assert!(early < late);
        let requests: Vec<RequestId> = (0..1_000).map(|_| RequestId::next()).collect();
        assert!(requests.is_sorted() && requests.iter().all(|id| RequestId::parse(id.as_str()) == Some(*id)));
    }

    proptest! {
        #[test]
        fn parsing_anything_never_panics_and_accepts_only_the_form(text in "\\PC{0,40}") {
            if let Some(id) = SessionId::parse(&text) {
                prop_assert_eq!(id.as_str(), text.as_str());
                prop_assert!(text.starts_with("ses_") && text.len() == 30);
            }
        }

        #[test]
        fn every_128_bits_make_a_body(bits in any::<u128>()) {
            prop_assert!(is_body(&base32(bits)));
        }
    }
}

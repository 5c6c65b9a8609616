//! Typed ids: a prefix for the type, then 26 characters of Crockford base 32.
//!
//! Most ids start with a timestamp, so that rows created together are stored together. A session's id is 128 random bits. It is not a
//! credential, but a guessable id would reveal which sessions exist.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use serde::{Deserialize, Serialize};

use crate::clock::{Clock, Timestamp};
use crate::secret::random_bytes;

const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
const BODY_CHARS: u32 = 26;
/// A prefix of four characters and the body.
const ID_BYTES: usize = 30;

/// The text of an id without a heap allocation, because every request copies, compares and hashes ids.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Text {
    bytes: [u8; ID_BYTES],
    length: u8,
}

impl Text {
    /// Truncates a text that is too long. Every valid id fits.
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

/// Encodes 128 bits as 26 characters, most significant first.
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

/// 64 bits that count up from the time of the first id of this process, then 64 random bits that identify the process. Consecutive ids
/// are close together in an index, so that many writes touch few pages.
fn counted_body() -> String {
    static PROCESS: OnceLock<(u64, u64)> = OnceLock::new();
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let (start, process) = *PROCESS.get_or_init(|| (leading(Clock::system().now()), u64::from_be_bytes(random_bytes())));
    let count = start.wrapping_add(COUNT.fetch_add(1, Ordering::Relaxed));
    base32(u128::from(count) << 64 | u128::from(process))
}

/// 48 bits of time, and 16 bits for a counter.
fn leading(now: Timestamp) -> u64 {
    (now.ms().unsigned_abs() & 0xffff_ffff_ffff) << 16
}

/// 48 bits of time, a 16-bit counter within the millisecond, and 64 random bits. Ids of one process sort in the order of their creation,
/// even when threads read the clock out of order or the clock is set back.
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
            /// The prefix of every id of this type.
            pub const PREFIX: &'static str = $prefix;

            /// Parses an id and checks its form.
            pub fn parse(text: &str) -> Option<Self> {
                is_body(text.strip_prefix(Self::PREFIX)?).then(|| Self(Text::new(text)))
            }

            /// An id from the database. It was checked when it was stored.
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
        /// Creates an id with the time `now`.
        pub fn new(now: Timestamp) -> Self {
            Self(Text::new(&format!("{}{}", Self::PREFIX, timed_body(now))))
        }
    };
    (@make counted) => {
        /// The next id of this process. It is unique but not secret, so it needs no system call.
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
    /// An API key (not its secret).
    KeyId = "key_", timed;
    /// One agent's run in a project.
    SessionId = "ses_", random;
    /// A machine identity of an org.
    AgentId = "agt_", timed;
    /// An access token of an agent (not its secret).
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
    /// An observation in memory.
    ObservationId = "obs_", timed;
    /// An entity of the knowledge graph.
    EntityId = "ent_", timed;
    /// A fact of the knowledge graph.
    TripletId = "tri_", timed;
    /// A decision that an agent recorded.
    DecisionId = "dec_", timed;
    /// A version of a file.
    FileVersionId = "fil_", timed;
    /// One request: the value of `x-request-id`, also in the audit trail.
    RequestId = "req_", counted;
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ids_have_their_prefix_and_parse_back() {
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
        fn parse_accepts_only_well_formed_ids(text in "\\PC{0,40}") {
            if let Some(id) = SessionId::parse(&text) {
                prop_assert_eq!(id.as_str(), text.as_str());
                prop_assert!(text.starts_with("ses_") && text.len() == 30);
            }
        }

        #[test]
        fn any_128_bits_encode_to_a_valid_body(bits in any::<u128>()) {
            prop_assert!(is_body(&base32(bits)));
        }
    }
}

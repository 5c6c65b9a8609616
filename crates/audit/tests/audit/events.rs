//! Checks the hashed bytes and the exported bytes of an event.

use audit::{Entry, EntryHash, LINE_BYTES_MAX, SigningKey, canonical};
use serde_json::{Value, json};

use crate::trail::{Trail, WORKSPACE};

#[test]
fn the_hash_covers_the_canonical_line_without_its_seal() {
    let mut trail = Trail::of(2);
    trail.add("policy.changed", json!({"é": 1, "\u{fb33}": [1e21, -0.0, 4.50], "😀": null, "a": {"z": "\u{1f}", "b": true}}));
    for (line, hash) in trail.lines.iter().zip(&trail.hashes) {
        let mut event: Value = serde_json::from_str(line).unwrap();
        let members = event.as_object_mut().unwrap();
        let prev_hash = members.remove("prevHash").unwrap();
        for name in ["entryHash", "signature", "kid"] {
            members.remove(name).unwrap();
        }
        let hashed = format!("{}{}", serde_json_canonicalizer::to_string(&event).unwrap(), prev_hash.as_str().unwrap());
        assert_eq!(sha256(&hashed), hash.hex());
    }
}

fn sha256(text: &str) -> String {
    base::secret::SecretHash::of(text).hex()
}

#[test]
fn a_line_has_the_documented_members_in_order() {
    let line = Trail::of(1).lines.remove(0);
    let names = [
        "id",
        "workspaceId",
        "sequenceNumber",
        "occurredAt",
        "eventType",
        "actorType",
        "actorId",
        "entityType",
        "entityId",
        "requestId",
        "payload",
        "prevHash",
        "entryHash",
        "signature",
        "kid",
    ];
    let places = names.map(|name| line.find(&format!("\"{name}\":")).unwrap_or_else(|| panic!("{name}: {line}")));
    assert!(places.is_sorted(), "{line}");
    assert!(line.contains("\"entityType\":null,\"entityId\":null,"), "{line}");
    assert_eq!(serde_json::from_str::<Value>(&line).unwrap().as_object().unwrap().len(), names.len());
}

#[test]
fn an_api_answer_equals_a_line() {
    let trail = Trail::new();
    let prepared = trail.draft("x", json!({"b": 1, "a": "é"})).prepare().unwrap();
    assert_eq!(prepared.event().payload, r#"{"a":"é","b":1}"#);
    let sealed = prepared.seal(1, &EntryHash::GENESIS, &trail.key);
    let entry: Entry<'_> = prepared.entry(1, &EntryHash::GENESIS, &sealed, &trail.key);
    let mut line = Vec::new();
    entry.write_line(&mut line);
    assert_eq!(format!("{}\n", serde_json::to_string(&entry).unwrap()).as_bytes(), line);
}

#[test]
fn position_and_key_change_the_seal() {
    let trail = Trail::new();
    let prepared = trail.draft("x", json!({})).prepare().unwrap();
    let sealed = prepared.seal(1, &EntryHash::GENESIS, &trail.key);
    assert_eq!(sealed, prepared.seal(1, &EntryHash::GENESIS, &trail.key));
    assert_ne!(sealed.entry_hash, prepared.seal(2, &EntryHash::GENESIS, &trail.key).entry_hash);
    assert_ne!(sealed.entry_hash, prepared.seal(1, &sealed.entry_hash, &trail.key).entry_hash);
    let other = prepared.seal(1, &EntryHash::GENESIS, &SigningKey::from_seed(&[2; 32]));
    assert_eq!(other.entry_hash, sealed.entry_hash);
    assert_ne!(other.signature, sealed.signature);
    assert_eq!(prepared.event().workspace, WORKSPACE);
}

#[test]
fn unreadable_events_are_not_written() {
    let trail = Trail::new();
    let refused = |payload: Value| trail.draft("x", payload).prepare().unwrap_err().log().unwrap().to_owned();
    assert!(refused(json!({"bytes": u64::MAX})).contains("18446744073709551615 is beyond 2^53 - 1"));
    assert!(refused(json!([1_u64 << 53])).contains("beyond"));
    let deep = (0..=canonical::DEPTH_MAX).fold(Value::Null, |value, _| json!([value]));
    assert!(refused(deep).contains("nested"));
    assert!(refused(json!("x".repeat(LINE_BYTES_MAX))).contains("longer than"));
    for ms in [-1, 253_402_300_800_000, i64::MAX] {
        let draft = audit::Draft { occurred_at: base::Timestamp::from_ms(ms), ..trail.draft("x", json!({})) };
        assert!(draft.prepare().is_err(), "{ms}");
    }
    // The longest line that is written can be read.
    let mut trail = Trail::new();
    trail.add("x", json!("x".repeat(LINE_BYTES_MAX - 2_000)));
    assert!(trail.verify().is_valid());
}

//! Checks that the code produces the test vector in docs/audit-format.md, read from the document itself.

use std::path::Path;

use audit::{Checkpoint, Draft, EntryHash, Jwk, Jwks, SigningKey, Verifier, announce};
use base::Timestamp;
use serde_json::{Value, json};

fn document() -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/audit-format.md")).unwrap()
}

/// The fenced block below a heading of the vector.
fn block<'d>(document: &'d str, heading: &str) -> &'d str {
    let after = document.split(&format!("\n### {heading}\n")).nth(1).unwrap_or_else(|| panic!("no heading {heading}"));
    let fenced = after.split("```").nth(1).unwrap();
    fenced.split_once('\n').unwrap().1.trim_end()
}

const WORKSPACE: &str = "prj_01k9zq3m5y0000000000000000";

fn draft(number: u32, at_ms: i64, event_type: &'static str, entity: Option<&'static str>, payload: Value) -> Draft {
    Draft {
        id: format!("evt_01k9zq3m5y000000000000000{number}").into(),
        workspace: WORKSPACE.into(),
        occurred_at: Timestamp::from_ms(at_ms),
        event_type: event_type.into(),
        actor_type: "session".into(),
        actor_id: Some("ses_01k9zq3m5y0000000000000000".into()),
        entity_type: entity.map(|_| "tool".into()),
        entity_id: entity.map(Into::into),
        request_id: Some(format!("req_01k9zq3m5y000000000000000{number}").into()),
        payload,
    }
}

fn drafts() -> [Draft; 3] {
    let digest = "b3c1f0a9e2d47c58";
    [
        draft(1, 1_763_238_099_007, "session.opened", None, json!({"workType": "bug_fix"})),
        draft(
            2,
            1_763_238_100_250,
            "tool.called",
            Some("kits.list"),
            json!({"outcome": "ok", "durationMs": 12.5, "argumentsDigest": digest, "note": "grüße\n"}),
        ),
        draft(
            3,
            1_763_238_101_500,
            "tool.refused",
            Some("kits.get"),
            json!({"kind": "not_permitted", "😀": 1e21, "\u{fb33}": null}),
        ),
    ]
}

#[test]
fn the_code_writes_the_documented_vector() {
    let document = document();
    let seed: Vec<u8> = (0..32).collect();
    assert_eq!(block(&document, "Seed"), base::secret::hex(&seed));
    let key = SigningKey::from_seed(&seed.try_into().unwrap());
    let keys = Jwks { keys: vec![Jwk::new(key.verifying_key().clone(), Timestamp::from_ms(1_763_238_000_000))] };
    let (mut log, mut hashes) = (Vec::new(), vec![EntryHash::GENESIS]);
    let mut add = |sequence: u64, draft: Draft, hashes: &mut Vec<EntryHash>| {
        let (prepared, head) = (draft.prepare().unwrap(), hashes.last().copied().unwrap());
        let sealed = prepared.seal(sequence, &head, &key);
        prepared.entry(sequence, &head, &sealed, &key).write_line(&mut log);
        hashes.push(sealed.entry_hash);
        String::from_utf8(std::mem::take(&mut log)).unwrap()
    };
    let entries: String = (1..).zip(drafts()).map(|(sequence, draft)| add(sequence, draft, &mut hashes)).collect();
    let head = hashes[3];
    let pruned = draft(4, 1_763_238_220_000, announce::PRUNED, None, announce::pruned(2, &hashes[2]));
    let pruned = add(4, pruned, &mut hashes);
    let checkpoint = Checkpoint::sign(WORKSPACE, 3, &head, Timestamp::from_ms(1_763_238_160_000), &key);
    assert_eq!(block(&document, "JWKS"), serde_json::to_string(&keys).unwrap());
    assert_eq!(block(&document, "Entries"), entries.trim_end());
    assert_eq!(block(&document, "Announcement that the first two were removed"), pruned.trim_end());
    assert_eq!(block(&document, "Checkpoint"), serde_json::to_string(&checkpoint).unwrap());
}

#[test]
fn the_second_entry_is_hashed_as_the_document_shows() {
    let document = document();
    let hashed = block(&document, "What is hashed for the second entry");
    let entry: Value = serde_json::from_str(block(&document, "Entries").lines().nth(1).unwrap()).unwrap();
    assert_eq!(base::secret::SecretHash::of(hashed).hex(), entry["entryHash"].as_str().unwrap());
    assert!(hashed.ends_with(&format!("}}{}", entry["prevHash"].as_str().unwrap())));
}

#[test]
fn the_documented_vector_is_valid() {
    let document = document();
    let keys = Jwks::parse(block(&document, "JWKS").as_bytes()).unwrap();
    let checkpoint = Checkpoint::parse(block(&document, "Checkpoint").as_bytes()).unwrap();
    let mut verifier = Verifier::new(&keys, Some(checkpoint), Some(WORKSPACE));
    verifier.push_lines(block(&document, "Entries").as_bytes()).unwrap();
    let report = verifier.finish();
    assert_eq!((report.is_valid(), report.event_count), (true, 3), "{report:?}");
}

#[test]
fn the_announcement_accounts_for_the_two_missing_entries() {
    let document = document();
    let keys = Jwks::parse(block(&document, "JWKS").as_bytes()).unwrap();
    let third = block(&document, "Entries").lines().nth(2).unwrap();
    let announcement = block(&document, "Announcement that the first two were removed");
    for (lines, valid) in [(format!("{third}\n{announcement}"), true), (third.to_owned(), false)] {
        let mut verifier = Verifier::new(&keys, None, Some(WORKSPACE));
        verifier.push_lines(lines.as_bytes()).unwrap();
        assert_eq!(verifier.finish().is_valid(), valid, "{lines}");
    }
}

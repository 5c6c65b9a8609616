//! Any change to a trail without its key is found, at the entry where it was made.

use audit::{Entry, Event, Jwks, Reason, Signature, Verifier};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::trail::{Trail, broken_at, verify};

#[test]
fn an_untouched_trail_is_valid() {
    let report = Trail::of(5).verify();
    assert_eq!(
        serde_json::to_value(&report).unwrap(),
        json!({"valid": true, "eventCount": 5, "firstSequence": 1, "lastSequence": 5, "brokenAt": null, "broken": null,
               "signedByRevoked": 0, "signaturesChecked": true, "checkpoint": null})
    );
    let empty = verify(&[], &Jwks::default(), None);
    assert_eq!((empty.is_valid(), empty.event_count, empty.first_sequence), (true, 0, None));
}

/// A line with one member changed.
fn with(line: &str, name: &str, value: Value) -> String {
    let mut entry: Value = serde_json::from_str(line).unwrap();
    entry[name] = value;
    entry.to_string()
}

#[test]
fn a_change_to_any_member_is_found() {
    let trail = Trail::of(3);
    let changes = [
        ("id", json!("evt_x"), Reason::EntryHash),
        ("workspaceId", json!("prj_x"), Reason::Workspace),
        ("sequenceNumber", json!(3), Reason::Sequence),
        ("sequenceNumber", json!(0), Reason::Malformed),
        ("sequenceNumber", json!(2.0), Reason::Malformed),
        ("sequenceNumber", json!("2"), Reason::Malformed),
        ("occurredAt", json!("2025-11-15T20:21:39.258Z"), Reason::EntryHash),
        ("occurredAt", json!("2025-11-15T20:21:39.257+00:00"), Reason::Malformed),
        ("eventType", json!("tool.refused"), Reason::EntryHash),
        ("actorType", json!(null), Reason::Malformed),
        ("actorId", json!(null), Reason::EntryHash),
        ("entityType", json!("brick"), Reason::EntryHash),
        ("entityId", json!(""), Reason::EntryHash),
        ("requestId", json!("req_x"), Reason::EntryHash),
        ("payload", json!({}), Reason::EntryHash),
        ("payload", json!(u64::MAX), Reason::Malformed),
        ("prevHash", json!("0".repeat(64)), Reason::PrevHash),
        ("entryHash", json!("0".repeat(64)), Reason::EntryHash),
        ("signature", json!("A".repeat(86)), Reason::Signature),
        ("signature", json!(""), Reason::Signature),
        ("kid", json!("another"), Reason::UnknownKey),
        ("more", json!(1), Reason::Malformed),
    ];
    for (name, value, reason) in changes {
        let mut lines = trail.lines.clone();
        lines[1] = with(&lines[1], name, value);
        broken_at(&verify(&lines, &trail.jwks(), None), 2, reason);
    }
}

#[test]
fn malformed_lines_are_reported_by_line_number() {
    let trail = Trail::of(3);
    let good = &trail.lines[1];
    let wrong = [
        "nonsense".to_owned(),
        good.replacen('{', "[", 1),
        format!("[{good}]"),
        format!("{good}{good}"),
        good.replacen("\"id\":", "\"id\":\"x\",\"id\":", 1),
        good.replacen("\"durationMs\":", "\"durationMs\":1,\"durationMs\":", 1),
        good.replacen("kits.list", "\\ud800", 1),
        good.replacen("\"entityId\":\"kit_01k9zq3m5y0000000000000000\",", "", 1),
        " ".repeat(audit::LINE_BYTES_MAX) + good,
    ];
    for line in wrong {
        assert_ne!(line, *good);
        let lines = [trail.lines[0].clone(), String::new(), line, trail.lines[2].clone()];
        let report = verify(&lines, &trail.jwks(), None);
        broken_at(&report, 2, Reason::Malformed);
        assert_eq!(report.broken_at.unwrap().line, Some(3));
    }
    let mut verifier = Verifier::new(&trail.jwks(), None, None);
    verifier.push_line(&[0xff, 0xfe]);
    broken_at(&verifier.finish(), 1, Reason::Malformed);
}

#[test]
fn spelling_does_not_matter() {
    let trail = Trail::of(3);
    let respelled = |line: &String| {
        let value: Value = serde_json::from_str(line).unwrap();
        let ascii = |c: char| {
            if c.is_ascii() { c.to_string() } else { c.encode_utf16(&mut [0; 2]).iter().map(|u| format!("\\u{u:04X}")).collect() }
        };
        format!(" {} \r", value.to_string().chars().map(ascii).collect::<String>().replace(",\"", " ,\t\""))
    };
    let lines = trail.lines.iter().map(respelled).collect::<Vec<_>>();
    assert_ne!(lines, trail.lines);
    assert!(verify(&lines, &trail.jwks(), None).is_valid());
}

#[test]
fn a_trail_of_another_workspace_is_refused() {
    let trail = Trail::of(2);
    let mut verifier = Verifier::new(&trail.jwks(), None, Some("prj_other"));
    trail.lines.iter().for_each(|line| verifier.push_line(line.as_bytes()));
    broken_at(&verifier.finish(), 1, Reason::Workspace);
}

/// Signatures are checked later than the chain and on several threads, but the first fault is still reported.
#[test]
fn a_wrong_signature_before_another_fault_is_reported() {
    let mut trail = Trail::of(300);
    let swap = |trail: &mut Trail, to: usize, from: usize| {
        let signature = serde_json::from_str::<Value>(&trail.lines[from]).unwrap()["signature"].clone();
        assert!(Signature::parse(signature.as_str().unwrap()).is_some());
        trail.lines[to] = with(&trail.lines[to], "signature", signature);
    };
    swap(&mut trail, 250, 0);
    trail.lines[280] = with(&trail.lines[280], "payload", json!(1));
    for (wrong, threads) in [(250, 1), (250, 2), (199, 3), (120, 7), (0, 2)] {
        if wrong < 250 {
            swap(&mut trail, wrong, 260);
        }
        let mut verifier = Verifier::new(&trail.jwks(), None, None).threads(threads);
        verifier.push_lines(trail.lines.join("\n").as_bytes()).unwrap();
        let report = verifier.finish();
        let place = u64::try_from(wrong).unwrap();
        broken_at(&report, place + 1, Reason::Signature);
        assert_eq!(report.event_count, place);
        let broken = report.broken_at.unwrap();
        assert_eq!((broken.line, broken.id), (Some(place + 1), Some(format!("evt_{:026}", wrong + 1))));
    }
}

/// A row is verified like a line, and a tampered row is found before anything is read from it.
#[test]
fn rows_are_verified_like_lines() {
    let trail = Trail::of(3);
    let rows = |change: fn(&mut Entry<'static>)| {
        let mut verifier = Verifier::new(&trail.jwks(), None, None);
        for (index, line) in trail.lines.iter().enumerate() {
            let value: Value = serde_json::from_str(line).unwrap();
            let text = |name: &str| value[name].as_str().unwrap().to_owned();
            let optional = |name: &str| value[name].as_str().map(|text| text.to_owned().into());
            let mut entry = Entry {
                event: Event {
                    id: text("id").into(),
                    workspace: text("workspaceId").into(),
                    occurred_at: base::Timestamp::parse_rfc3339(&text("occurredAt")).unwrap(),
                    event_type: text("eventType").into(),
                    actor_type: text("actorType").into(),
                    actor_id: optional("actorId"),
                    entity_type: optional("entityType"),
                    entity_id: optional("entityId"),
                    request_id: optional("requestId"),
                    payload: audit::canonical::text_of(&value["payload"]).unwrap().into(),
                },
                sequence: value["sequenceNumber"].as_u64().unwrap(),
                prev_hash: text("prevHash").into(),
                entry_hash: text("entryHash").into(),
                signature: text("signature").into(),
                kid: text("kid").into(),
            };
            if index == 1 {
                change(&mut entry);
            }
            verifier.push(&entry);
        }
        verifier.finish()
    };
    assert!(rows(|_| ()).is_valid());
    broken_at(&rows(|row| row.event.payload = "{\"tool\":".into()), 2, Reason::EntryHash);
    broken_at(&rows(|row| row.sequence = u64::MAX), 2, Reason::Sequence);
    broken_at(&rows(|row| row.entry_hash = "nonsense".into()), 2, Reason::EntryHash);
    broken_at(&rows(|row| row.event.actor_id = None), 2, Reason::EntryHash);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// A flipped bit is found at its entry, unless the line still means the same (`\u001f` as `\u001F`).
    #[test]
    fn a_flipped_bit_is_found(line in 0_usize..6, place in any::<prop::sample::Index>(), bit in 0_u8..8) {
        let trail = Trail::of(6);
        let mut bytes = trail.lines[line].clone().into_bytes();
        bytes[place.index(trail.lines[line].len())] ^= 1 << bit;
        // A line break in the middle splits the line in two, and neither part is an entry.
        let mut verifier = Verifier::new(&trail.jwks(), None, None);
        for (index, good) in trail.lines.iter().enumerate() {
            verifier.push_line(if index == line { &bytes } else { good.as_bytes() });
        }
        let report = verifier.finish();
        let says = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).ok();
        if says(&bytes) == says(trail.lines[line].as_bytes()) {
            prop_assert!(report.is_valid());
        } else {
            // Nothing comes before the first entry, so its sequence number is taken as it is.
            let said = says(&bytes).and_then(|entry| entry["sequenceNumber"].as_u64()).filter(|_| line == 0);
            let expected = said.unwrap_or(u64::try_from(line).unwrap() + 1);
            prop_assert_eq!(report.broken_at.unwrap().sequence, Some(expected));
        }
    }

    #[test]
    fn a_removed_swapped_or_repeated_line_is_found(from in 0_usize..7, to in 0_usize..7, what in 0..3) {
        let trail = Trail::of(8);
        let mut lines = trail.lines.clone();
        match what {
            0 => drop(lines.remove(from)),
            1 => lines.swap(from, to),
            _ => lines.insert(to + 1, lines[from].clone()),
        }
        // Never the last one: only a checkpoint can show that it is missing.
        let first = lines.iter().zip(&trail.lines).position(|(found, good)| found != good).unwrap_or(8) + 1;
        let report = verify(&lines, &trail.jwks(), None);
        if lines == trail.lines {
            prop_assert!(report.is_valid());
        } else if what == 0 && from == 0 {
            broken_at(&report, 2, Reason::MissingStart);
        } else if what == 1 && first == 1 {
            // It is unknown which entry should be first, but the next one does not follow it.
            prop_assert!(!report.is_valid());
        } else {
            broken_at(&report, u64::try_from(first).unwrap(), Reason::Sequence);
        }
    }
}

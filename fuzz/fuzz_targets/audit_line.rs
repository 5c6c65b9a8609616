//! Any bytes as an exported trail, a key set and a checkpoint, and a good trail of which some bytes were changed: no panic, and
//! what is called good says what the key's holder signed.
#![no_main]

use std::sync::LazyLock;

use audit::{Checkpoint, Draft, EntryHash, Jwk, Jwks, Reason, SigningKey, Verifier, canonical};
use base::Timestamp;
use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};

const WORKSPACE: &str = "org_00000000000000000000000000";

/// What an auditor has.
struct Trail {
    lines: Vec<u8>,
    keys: Jwks,
    jwks: Vec<u8>,
    checkpoint: Vec<u8>,
}

static GENUINE: LazyLock<Trail> = LazyLock::new(|| {
    let key = SigningKey::from_seed(&[7; 32]);
    let (mut lines, mut head) = (Vec::new(), EntryHash::GENESIS);
    for sequence in 1..=4_u64 {
        let text = |prefix: &str| format!("{prefix}_{sequence:026}");
        let draft = Draft {
            id: text("evt").into(),
            workspace: WORKSPACE.into(),
            occurred_at: Timestamp::from_ms(1_800_000_000_000),
            event_type: "call.completed".into(),
            actor_type: "session".into(),
            actor_id: Some("ses_1".into()),
            entity_type: (sequence > 1).then_some("tool".into()),
            entity_id: (sequence > 1).then_some("kits.list".into()),
            request_id: None,
            payload: json!({"durationMs": 0.25, "note": "grüß\n\"dich\" 😀", "list": [null, true, 1e21, -7]}),
        };
        let prepared = draft.prepare().unwrap();
        let sealed = prepared.seal(sequence, &head, &key);
        prepared.entry(sequence, &head, &sealed, &key).write_line(&mut lines);
        head = sealed.entry_hash;
    }
    let at = Timestamp::from_ms(1_800_000_001_000);
    let keys = Jwks { keys: vec![Jwk::new(key.verifying_key().clone(), at)] };
    let checkpoint = serde_json::to_vec(&Checkpoint::sign(WORKSPACE, 4, &head, at, &key)).unwrap();
    Trail { lines, jwks: serde_json::to_vec(&keys).unwrap(), keys, checkpoint }
});

fuzz_target!(|data: &[u8]| {
    let genuine = &*GENUINE;
    let Some((how, rest)) = data.split_first() else { return };
    match how % 6 {
        0 => check_lines(rest, None),
        1 => check_lines(&spliced(&genuine.lines, rest), None),
        2 => check_lines(&spliced(&genuine.lines, rest), Some(&genuine.checkpoint)),
        3 => check_checkpoint(rest),
        4 => check_checkpoint(&spliced(&genuine.checkpoint, rest)),
        _ => {
            let keys = Jwks::parse(&spliced(&genuine.jwks, rest)).or_else(|_| Jwks::parse(rest));
            if let Ok(keys) = keys {
                // Another key set may believe less, and nothing else.
                let _ = verified(&genuine.lines, &keys, None);
            }
        }
    }
});

/// `text` with some bytes from a place on replaced by others: two bytes say where, one how many.
fn spliced(text: &[u8], splice: &[u8]) -> Vec<u8> {
    let [high, low, gone, put @ ..] = splice else { return text.to_vec() };
    let from = usize::from(u16::from_be_bytes([*high, *low])) % (text.len() + 1);
    let until = text.len().min(from + usize::from(*gone));
    [&text[..from], put, &text[until..]].concat()
}

fn verified(lines: &[u8], keys: &Jwks, checkpoint: Option<Checkpoint>) -> audit::Report {
    let mut verifier = Verifier::new(keys, checkpoint, None).threads(1);
    verifier.push_lines(lines).unwrap();
    verifier.finish()
}

fn check_lines(lines: &[u8], checkpoint: Option<&[u8]>) {
    let checkpoint = checkpoint.map(|bytes| Checkpoint::parse(bytes).unwrap());
    let reaches = checkpoint.is_some();
    let report = verified(lines, &GENUINE.keys, checkpoint);
    if !report.is_valid() {
        return;
    }
    let (found, signed) = (meanings(lines), meanings(&GENUINE.lines));
    assert_eq!(found.len() as u64, report.event_count);
    // Without a checkpoint a tail may be missing; nothing else may.
    assert!(signed.starts_with(&found), "an entry that nobody signed is called good");
    assert!(!reaches || found.len() == signed.len(), "a tail was cut off, and the checkpoint does not show it");
}

/// What the lines say, however they spell it.
fn meanings(lines: &[u8]) -> Vec<String> {
    let lines = lines.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
    lines.map(|line| canonical::text_of(&serde_json::from_slice::<Value>(line).unwrap()).unwrap()).collect()
}

fn check_checkpoint(bytes: &[u8]) {
    let Ok(checkpoints) = Checkpoint::parse_file(bytes) else { return };
    let genuine = Checkpoint::parse(&GENUINE.checkpoint).unwrap();
    for checkpoint in checkpoints {
        let report = verified(&GENUINE.lines, &GENUINE.keys, Some(checkpoint.clone()));
        let believed = report.broken_at.is_none_or(|broken| broken.reason != Reason::Checkpoint);
        assert!(!believed || checkpoint == genuine, "a checkpoint that nobody signed is believed");
    }
}

//! A trail as a server writes it, line by line.

use audit::{Checkpoint, Draft, EntryHash, Jwk, Jwks, Report, SigningKey, Verifier, announce};
use base::Timestamp;
use serde_json::{Value, json};

pub(crate) const WORKSPACE: &str = "prj_01k9zq3m5y0000000000000000";
/// When the first event happens; each later one happens a quarter of a second later.
pub(crate) const START_MS: i64 = 1_763_238_099_007;

pub(crate) struct Trail {
    pub(crate) key: SigningKey,
    pub(crate) keys: Vec<Jwk>,
    pub(crate) lines: Vec<String>,
    pub(crate) hashes: Vec<EntryHash>,
    pub(crate) now: Timestamp,
}

impl Trail {
    pub(crate) fn new() -> Self {
        let key = SigningKey::from_seed(&[1; 32]);
        let now = Timestamp::from_ms(START_MS);
        Self { keys: vec![Jwk::new(key.verifying_key().clone(), now)], key, lines: Vec::new(), hashes: Vec::new(), now }
    }

    /// A trail with this number of events.
    pub(crate) fn of(count: usize) -> Self {
        let mut trail = Self::new();
        for index in 0..count {
            trail
                .add("tool.called", json!({"tool": "kits.list", "durationMs": index, "ratio": 0.1, "note": "grüß\n\"dich\" 😀"}));
        }
        trail
    }

    pub(crate) fn head(&self) -> EntryHash {
        self.hashes.last().copied().unwrap_or(EntryHash::GENESIS)
    }

    pub(crate) fn draft(&self, event_type: &str, payload: Value) -> Draft {
        let number = self.lines.len() + 1;
        Draft {
            id: format!("evt_{number:026}").into(),
            workspace: WORKSPACE.into(),
            occurred_at: self.now,
            event_type: event_type.to_owned().into(),
            actor_type: "session".into(),
            actor_id: Some("ses_01k9zq3m5y0000000000000000".into()),
            entity_type: (number.is_multiple_of(2)).then_some("kit".into()),
            entity_id: (number.is_multiple_of(2)).then_some("kit_01k9zq3m5y0000000000000000".into()),
            request_id: Some(format!("req_{number:026}").into()),
            payload,
        }
    }

    pub(crate) fn add(&mut self, event_type: &str, payload: Value) {
        let prepared = self.draft(event_type, payload).prepare().unwrap();
        let (sequence, prev_hash) = (u64::try_from(self.lines.len() + 1).unwrap(), self.head());
        let sealed = prepared.seal(sequence, &prev_hash, &self.key);
        let mut line = Vec::new();
        prepared.entry(sequence, &prev_hash, &sealed, &self.key).write_line(&mut line);
        let line = String::from_utf8(line).unwrap();
        self.lines.push(line.strip_suffix('\n').unwrap().to_owned());
        self.hashes.push(sealed.entry_hash);
        self.now = self.now.plus_ms(250);
    }

    /// The old key announces the new one, which signs from then on.
    pub(crate) fn rotate(&mut self, seed: u8) {
        let new = SigningKey::from_seed(&[seed; 32]);
        self.add(announce::KEY_ROTATED, announce::key_rotated(self.key.verifying_key(), new.verifying_key()));
        self.replace_key(new);
    }

    /// The new key signs without an announcement.
    pub(crate) fn replace_key(&mut self, new: SigningKey) {
        self.keys.push(Jwk::new(new.verifying_key().clone(), self.now));
        self.key = new;
    }

    pub(crate) fn revoke(&mut self, key: usize, at: Timestamp) {
        self.keys[key] = self.keys[key].clone().revoked(at, Some("lost".to_owned()));
    }

    pub(crate) fn jwks(&self) -> Jwks {
        Jwks { keys: self.keys.clone() }
    }

    pub(crate) fn checkpoint(&self) -> Checkpoint {
        let size = u64::try_from(self.hashes.len()).unwrap();
        Checkpoint::sign(WORKSPACE, size, &self.head(), self.now, &self.key)
    }

    pub(crate) fn verify(&self) -> Report {
        verify(&self.lines, &self.jwks(), None)
    }
}

pub(crate) fn verify(lines: &[String], keys: &Jwks, checkpoint: Option<&Checkpoint>) -> Report {
    let mut verifier = Verifier::new(keys, checkpoint.cloned(), None);
    verifier.push_lines(lines.join("\n").as_bytes()).unwrap();
    let report = verifier.finish();
    // Without signatures, every other fault is found at the same position.
    let mut fast = Verifier::new(keys, checkpoint.cloned(), None).without_signatures();
    lines.iter().for_each(|line| fast.push_line(line.as_bytes()));
    let fast = fast.finish();
    let is_signature = report.broken_at.as_ref().is_some_and(|broken| broken.reason == audit::Reason::Signature);
    assert!(is_signature || fast.broken_at == report.broken_at, "{fast:?} {report:?}");
    report
}

/// Checks that a trail is broken at this entry for this reason.
#[track_caller]
pub(crate) fn broken_at(report: &Report, sequence: u64, reason: audit::Reason) {
    let broken = report.broken_at.as_ref().unwrap_or_else(|| panic!("not broken: {report:?}"));
    assert_eq!((broken.sequence, broken.reason), (Some(sequence), reason), "{report:?}");
    assert_eq!(report.event_count, report.last_sequence.map_or(0, |last| last + 1 - report.first_sequence.unwrap()));
}

//! A second verifier that shares no code with ours (examples/verify_audit.py) reaches the same verdict on every trail.

use std::path::Path;
use std::process::Command;

use audit::{Checkpoint, EntryHash, Jwks, Report, SigningKey, announce, canonical};
use base::Timestamp;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use serde_json::{Value, json};
use testkit::python::PythonPackages;

use crate::trail::{START_MS, Trail, WORKSPACE, verify};

/// Python, and a folder for its input files.
struct Auditor {
    packages: PythonPackages,
    folder: tempfile::TempDir,
}

impl Auditor {
    fn new() -> Self {
        let requirements = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python/cryptography.txt");
        Self { packages: PythonPackages::install(&requirements), folder: tempfile::tempdir().unwrap() }
    }

    /// Checks that both verifiers agree: valid, or broken at the same position.
    #[track_caller]
    fn compare(&self, what: &str, lines: &[String], keys: &Jwks, checkpoint: Option<&Checkpoint>) -> Report {
        let file = |name: &str, text: String| {
            let path = self.folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            path
        };
        let mut python: Command = self.packages.program("python");
        python.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/verify_audit.py"));
        python.arg(file("log", lines.join("\n"))).arg(file("jwks", serde_json::to_string(keys).unwrap()));
        python.args(checkpoint.map(|checkpoint| file("checkpoint", serde_json::to_string_pretty(checkpoint).unwrap())));
        let output = python.output().unwrap();
        let (said, complained) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));

        let report = verify(lines, keys, checkpoint);
        let expected = match &report.broken_at {
            None => (Some(0), format!("valid: {} entries\n", report.event_count), String::new()),
            Some(broken) => {
                let sequence = broken.sequence.map_or("the checkpoint".to_owned(), |sequence| sequence.to_string());
                let line = broken.line.map_or("None".to_owned(), |line| line.to_string());
                (Some(1), String::new(), format!("broken at {sequence}, line {line}: "))
            }
        };
        assert_eq!((output.status.code(), said.as_ref()), (expected.0, expected.1.as_str()), "{what}: {report:?} {complained}");
        assert!(complained.starts_with(&expected.2), "{what}: {report:?} {complained}");
        assert_eq!(complained.is_empty(), report.is_valid(), "{what}: {complained}");
        report
    }
}

fn rotated() -> Trail {
    let mut trail = Trail::of(3);
    trail.rotate(2);
    trail.add("x", json!({}));
    trail.rotate(3);
    trail.add("x", json!(null));
    trail
}

#[test]
fn both_verifiers_agree_about_good_trails() {
    let auditor = Auditor::new();
    let good = |what: &str, trail: &Trail| {
        assert!(auditor.compare(what, &trail.lines, &trail.jwks(), None).is_valid(), "{what}");
        assert!(auditor.compare(what, &trail.lines, &trail.jwks(), Some(&trail.checkpoint())).is_valid(), "{what}");
    };
    good("empty", &Trail::new());
    good("plain", &Trail::of(7));
    good("rotated", &rotated());
    let mut trail = rotated();
    trail.revoke(0, Timestamp::from_ms(START_MS + 1_000));
    good("revoked", &trail);
    good("values", &values());
    let mut trail = Trail::new();
    trail.add("x", (0..canonical::DEPTH_MAX).fold(Value::Null, |value, _| json!([value])));
    trail.add("x", json!("x".repeat(audit::LINE_BYTES_MAX - 2_000)));
    good("large", &trail);
}

/// Values that are easily written in another form: doubles of every size, names in every order, every escape.
fn values() -> Trail {
    let mut trail = Trail::new();
    let mut bits: u64 = 0x9e37_79b9_7f4a_7c15;
    for _ in 0..40 {
        let doubles = (0..50).filter_map(|index| {
            bits ^= bits << 13;
            bits ^= bits >> 7;
            bits ^= bits << 17;
            // All exponents, then the ones of everyday numbers, then halves, quarters and so on, where two spellings are close.
            let double = match index % 3 {
                0 => f64::from_bits(bits),
                1 => f64::from_bits(bits >> 12 | (1_003 + bits % 70) << 52),
                _ => f64::from(u32::try_from(bits >> 33).unwrap()) / f64::from(1_u32 << (bits % 24)) * 1_000.25,
            };
            let is_taken = double.is_finite() && (double.abs() < 9_007_199_254_740_992.0 || double.abs() >= 1e21);
            is_taken.then_some(double)
        });
        trail.add("numbers", json!(doubles.collect::<Vec<_>>()));
    }
    trail.add(
        "numbers",
        json!([
            f64::from_bits(0x4314_3ff3_c1cb_0959),
            5e-324,
            1e21,
            1e-6,
            9.999_999_999_999_997e-7,
            -0.0,
            9_007_199_254_740_991_u64
        ]),
    );
    let text = (0..0x80).filter_map(char::from_u32).collect::<String>();
    trail.add("texts", json!({"é": 1, "\u{fb33}": 2, "😀": 3, "": 4, "\r": 5, "a": {"\u{80}": text, "b": "\u{2028}\u{10ffff}"}}));
    trail
}

fn with(line: &str, name: &str, value: Value) -> String {
    let mut entry: Value = serde_json::from_str(line).unwrap();
    entry[name] = value;
    entry.to_string()
}

#[test]
fn both_verifiers_agree_about_tampered_lines() {
    let auditor = Auditor::new();
    let trail = Trail::of(3);
    let good = &trail.lines[1];
    let text = |name: &str| serde_json::from_str::<Value>(good).unwrap()[name].as_str().unwrap().to_owned();
    let changed = [
        with(good, "payload", json!({"tool": "kits.list"})),
        with(good, "sequenceNumber", json!(true)),
        with(good, "sequenceNumber", json!(2.0)),
        with(good, "actorId", json!(1)),
        with(good, "occurredAt", json!("2025-11-15T20:21:39.257+00:00")),
        with(good, "occurredAt", json!("2025-11-15T20:21:60.257Z")),
        with(good, "entryHash", json!(text("entryHash").to_uppercase())),
        with(good, "signature", json!(format!("{}==", text("signature")))),
        with(good, "signature", json!(beyond_the_order(&text("signature")))),
        with(good, "signature", json!(with_a_small_point(&text("signature")))),
        with(good, "kid", json!("nobody")),
        with(good, "more", json!(1)),
        good.replacen("\"id\":", "\"id\":\"x\",\"id\":", 1),
        good.replacen("\"tool\":", "\"tool\":\"kits.list\",\"tool\":", 1),
        good.replacen("kits.list", "\\ud800", 1),
        good.replacen("0.1", "NaN", 1),
        good.replacen("0.1", "1e400", 1),
        good.replacen("0.1", "12345678901234567890", 1),
        good.replacen("\"entityId\":\"kit_01k9zq3m5y0000000000000000\",", "", 1),
        format!("[{good}]"),
        "7".to_owned(),
        "[".repeat(100_000),
        " ".repeat(audit::LINE_BYTES_MAX) + good,
    ];
    for line in changed {
        assert_ne!(line, *good);
        let lines = [trail.lines[0].clone(), " \r".to_owned(), line, trail.lines[2].clone()];
        let report = auditor.compare(&lines[2].chars().take(900).collect::<String>(), &lines, &trail.jwks(), None);
        assert_eq!(report.broken_at.unwrap().line, Some(3));
    }
    // The same value in another spelling.
    for line in [format!("\t{good}\r"), good.replacen("0.1", "1000E-4", 1), good.replacen("kits", "\\u006bits", 1)] {
        assert!(auditor.compare("respelled", &[trail.lines[0].clone(), line], &trail.jwks(), None).is_valid());
    }
}

/// A signature with the group's order added to its second half: the equation still holds, but the number differs.
fn beyond_the_order(signature: &str) -> String {
    let mut bytes = BASE64.decode(signature).unwrap();
    let order = 27_742_317_777_372_353_535_851_937_790_883_648_493_u128.to_le_bytes();
    let top = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10];
    let mut carry = 0;
    for (byte, order) in bytes[32..].iter_mut().zip(order.into_iter().chain(top)) {
        let sum = u16::from(*byte) + u16::from(order) + carry;
        (*byte, carry) = (u8::try_from(sum & 0xff).unwrap(), sum >> 8);
    }
    BASE64.encode(bytes)
}

/// A signature whose first half is the neutral point.
fn with_a_small_point(signature: &str) -> String {
    let mut bytes = BASE64.decode(signature).unwrap();
    bytes[..32].fill(0);
    bytes[0] = 1;
    BASE64.encode(bytes)
}

#[test]
fn both_verifiers_agree_about_chains_keys_and_checkpoints() {
    let auditor = Auditor::new();
    let trail = Trail::of(6);
    let (keys, checkpoint) = (trail.jwks(), trail.checkpoint());
    let without = |index: usize| [&trail.lines[..index], &trail.lines[index + 1..]].concat();
    for index in [0, 3] {
        auditor.compare("removed", &without(index), &keys, None);
    }
    for (what, other) in [("cut", &trail.lines[..4]), ("emptied", &[])] {
        assert!(auditor.compare(what, other, &keys, None).is_valid());
        assert!(!auditor.compare(what, other, &keys, Some(&checkpoint)).is_valid());
    }
    let mut swapped = trail.lines.clone();
    swapped.swap(2, 4);
    auditor.compare("swapped", &swapped, &keys, None);
    auditor.compare("repeated", &[&trail.lines[..3], &trail.lines[2..]].concat(), &keys, None);

    let mut anew = Trail::of(5);
    anew.add("other", json!({}));
    for size in [5, 6] {
        let head = trail.hashes[size - 1];
        let checkpoint = Checkpoint::sign(WORKSPACE, u64::try_from(size).unwrap(), &head, trail.now, &trail.key);
        assert_eq!(auditor.compare("rewritten", &anew.lines, &keys, Some(&checkpoint)).is_valid(), size == 5);
    }
    for wrong in [
        Checkpoint { size: 1, ..checkpoint.clone() },
        Checkpoint { kid: "nobody".to_owned(), ..checkpoint.clone() },
        Checkpoint::sign("prj_other", 6, &trail.head(), trail.now, &trail.key),
        Checkpoint::sign(WORKSPACE, 0, &trail.head(), trail.now, &trail.key),
    ] {
        assert!(!auditor.compare("bad checkpoint", &trail.lines, &keys, Some(&wrong)).is_valid());
    }
    // Revoked before the checkpoint was taken, and before the last entries.
    let mut revoked = Trail::of(9);
    revoked.revoke(0, Timestamp::from_ms(START_MS + 1_000));
    assert_eq!(auditor.compare("revoked", &revoked.lines, &revoked.jwks(), None).event_count, 8);
    assert!(!auditor.compare("revoked", &revoked.lines[..4], &revoked.jwks(), Some(&revoked.checkpoint())).is_valid());
}

#[test]
fn both_verifiers_agree_about_rotation_and_retention() {
    let auditor = Auditor::new();
    let trail = rotated();
    let first = Jwks { keys: trail.keys[..1].to_vec() };
    auditor.compare("unknown key", &trail.lines, &first, None);
    let mut silent = Trail::of(2);
    silent.replace_key(SigningKey::from_seed(&[2; 32]));
    silent.add("x", json!({}));
    auditor.compare("unannounced", &silent.lines, &silent.jwks(), None);
    for payload in [json!({}), json!([]), announce::key_rotated(silent.key.verifying_key(), silent.key.verifying_key())] {
        let mut trail = Trail::of(1);
        trail.add(announce::KEY_ROTATED, payload);
        assert!(!auditor.compare("bad announcement", &trail.lines, &trail.jwks(), None).is_valid());
    }

    for (through, head, valid) in [(4, 3, true), (4, 2, false), (3, 2, false), (5, 0, true)] {
        let mut trail = Trail::of(6);
        trail.add(announce::PRUNED, announce::pruned(through, &trail.hashes[head].clone()));
        assert_eq!(auditor.compare("pruned", &trail.lines[4..], &trail.jwks(), None).is_valid(), valid, "{through} {head}");
    }
    let trail = Trail::of(6);
    for (size, head, valid) in [
        (4, trail.hashes[3], true),
        (4, trail.hashes[2], false),
        (3, trail.hashes[2], false),
        (5, trail.hashes[4], false),
        (0, EntryHash::GENESIS, false),
    ] {
        let checkpoint = Checkpoint::sign(WORKSPACE, size, &head, trail.now, &trail.key);
        let report = auditor.compare("begins later", &trail.lines[4..], &trail.jwks(), Some(&checkpoint));
        assert_eq!(report.is_valid(), valid, "{size}");
    }
}

#[test]
fn the_example_is_short() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/verify_audit.py");
    assert!(std::fs::read_to_string(script).unwrap().lines().count() <= 100);
}

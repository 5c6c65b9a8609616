//! `toolcrib audit verify` on files, without a server.

use audit::{Checkpoint, Draft, EntryHash, Jwk, Jwks, SigningKey};
use base::Timestamp;
use serde_json::{Value, json};

use crate::support::Terminal;

const WORKSPACE: &str = "prj_01k9zq3m5y0000000000000000";

/// A trail of `count` entries, and a checkpoint of it.
fn trail(count: u64, key: &SigningKey) -> (Vec<String>, Checkpoint) {
    let (mut lines, mut head, mut now) = (Vec::new(), EntryHash::GENESIS, Timestamp::from_ms(1_763_238_099_007));
    for sequence in 1..=count {
        let draft = Draft {
            id: format!("evt_{sequence}").into(),
            workspace: WORKSPACE.into(),
            occurred_at: now,
            event_type: "tool.called".into(),
            actor_type: "session".into(),
            actor_id: None,
            entity_type: None,
            entity_id: None,
            request_id: None,
            payload: json!({"tool": "kits.list", "outcome": "ok"}),
        };
        let prepared = draft.prepare().unwrap();
        let sealed = prepared.seal(sequence, &head, key);
        let mut line = Vec::new();
        prepared.entry(sequence, &head, &sealed, key).write_line(&mut line);
        lines.push(String::from_utf8(line).unwrap().trim_end().to_owned());
        (head, now) = (sealed.entry_hash, now.plus_ms(1_000));
    }
    (lines, Checkpoint::sign(WORKSPACE, count, &head, now, key))
}

/// A terminal in a folder with a good trail of five entries, its keys and its checkpoint.
fn place() -> (tempfile::TempDir, Terminal, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let terminal = Terminal::without_data(folder.path());
    let key = SigningKey::from_seed(&[1; 32]);
    let (lines, checkpoint) = trail(5, &key);
    let keys = Jwks { keys: vec![Jwk::new(key.verifying_key().clone(), Timestamp::from_ms(1_763_238_000_000))] };
    let write = |name: &str, text: String| std::fs::write(terminal.here.join(name), text).unwrap();
    write("good", lines.join("\n"));
    write("keys", serde_json::to_string_pretty(&keys).unwrap());
    write("checkpoint", serde_json::to_string_pretty(&checkpoint).unwrap());
    (folder, terminal, lines)
}

#[tokio::test(flavor = "multi_thread")]
async fn good_trail_is_reported_valid() {
    let (_folder, terminal, lines) = place();
    let said = terminal.run("audit verify --log good --jwks keys --checkpoint checkpoint").await;
    assert_eq!(said.ok(), "valid: 5 entries (1 to 5); the checkpoint matches\n");
    let said = terminal.run_with_input("audit verify --log - --jwks keys", &lines.join("\n")).await;
    assert_eq!(said.ok(), "valid: 5 entries (1 to 5); no checkpoint given, so a truncated trail would not be detected\n");
    let said = terminal.run("audit verify --log good --jwks keys --checkpoint checkpoint --fast").await;
    let expected = "valid, but signatures were not checked (--fast): 5 entries (1 to 5); the checkpoint matches\n";
    assert_eq!(said.ok(), expected);
    let report = terminal.json("audit verify --log good --jwks keys --checkpoint checkpoint").await;
    let expected = json!({"valid": true, "eventCount": 5, "firstSequence": 1, "lastSequence": 5, "brokenAt": null, "broken": null,
                          "signedByRevoked": 0, "signaturesChecked": true, "checkpoint": "matches"});
    assert_eq!(report, expected);
    let said = terminal.run_with_input("audit verify --log - --jwks keys", "").await;
    assert_eq!(said.ok(), "valid: no entries; no checkpoint given, so a truncated trail would not be detected\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn first_bad_entry_is_reported() {
    let (_folder, terminal, lines) = place();
    let mut tampered = lines.clone();
    tampered[2] = tampered[2].replace("\"ok\"", "\"no\"");
    tampered.remove(4);
    let signature = serde_json::from_str::<Value>(&lines[0]).unwrap()["signature"].as_str().unwrap().to_owned();
    let mut forged = lines.clone();
    forged[1] = forged[1].replace(serde_json::from_str::<Value>(&lines[1]).unwrap()["signature"].as_str().unwrap(), &signature);
    let mut steering = lines.clone();
    steering[0] = steering[0].replace("evt_1", "\\u001b[2J");
    let cases: [(&[String], &str, &str); 5] = [
        (&tampered, "", "broken at entry 3 (line 3, evt_3): its entryHash is not the hash of its content"),
        (&forged, "", "broken at entry 2 (line 2, evt_2): the signature does not match the key `"),
        (&lines[1..], "", "broken at entry 2: the entries before 2 are missing"),
        (&lines[..3], "--checkpoint checkpoint", "broken at entry 4: the trail ends after 3, but it had 5 entries when"),
        (&steering, "", "broken at entry 1 (line 1, \u{fffd}[2J): its entryHash"),
    ];
    for (lines, flags, expected) in cases {
        std::fs::write(terminal.here.join("log"), lines.join("\n")).unwrap();
        let said = terminal.run(&format!("audit verify --log log --jwks keys {flags}")).await;
        assert_eq!((said.code, said.err.as_str()), (Some(1), ""), "{said:?}");
        assert!(said.out.starts_with(expected) && said.out.lines().count() == 1, "{said:?}");
        let said = terminal.run(&format!("audit verify --log log --jwks keys {flags} --json")).await;
        let report: Value = serde_json::from_str(&said.out).unwrap();
        assert_eq!((said.code, &report["valid"]), (Some(1), &json!(false)));
        let sequence = report["brokenAt"].as_u64().unwrap();
        assert!(expected.starts_with(&format!("broken at entry {sequence}")), "{report}");
    }
    // `--fast` does not detect a wrong signature.
    std::fs::write(terminal.here.join("log"), forged.join("\n")).unwrap();
    assert!(terminal.run("audit verify --log log --jwks keys --fast").await.ok().contains("signatures were not checked"));
}

#[tokio::test(flavor = "multi_thread")]
async fn files_of_another_workspace_give_no_verdict() {
    let (_folder, terminal, lines) = place();
    let ours: Value = serde_json::from_slice(&std::fs::read(terminal.here.join("keys")).unwrap()).unwrap();
    let other = SigningKey::from_seed(&[2; 32]);
    let jwk = Jwk::new(other.verifying_key().clone(), Timestamp::from_ms(1_763_238_000_000));
    let (foreign_keys, mut both) = (serde_json::to_value(Jwks { keys: vec![jwk] }).unwrap(), ours);
    both["keys"].as_array_mut().unwrap().push(foreign_keys["keys"][0].clone());
    let checkpoint = Checkpoint::sign("prj_other", 5, &EntryHash::GENESIS, Timestamp::from_ms(1_763_238_199_007), &other);
    let write = |name: &str, text: String| std::fs::write(terminal.here.join(name), text).unwrap();
    write("foreign-keys", foreign_keys.to_string());
    write("both-keys", both.to_string());
    write("foreign-checkpoint", serde_json::to_string(&checkpoint).unwrap());
    let wrong_keys = "`foreign-keys` does not belong to this log: it has none of the log's keys";
    let wrong_checkpoint = "`foreign-checkpoint` does not belong to this log: it is a checkpoint of another workspace";
    for (flags, expected) in [
        ("--jwks foreign-keys", wrong_keys),
        ("--jwks foreign-keys --checkpoint checkpoint", wrong_keys),
        ("--jwks keys --checkpoint foreign-checkpoint", wrong_checkpoint),
        ("--jwks both-keys --checkpoint foreign-checkpoint", wrong_checkpoint),
    ] {
        let said = terminal.run(&format!("audit verify --log good {flags}")).await;
        assert!(said.refused(2).contains(expected), "`{flags}`: {said:?}");
        let said = terminal.run_with_input(&format!("audit verify --log - {flags}"), &lines.join("\n")).await;
        assert!(said.refused(2).contains(expected), "`{flags}`: {said:?}");
    }
    // One entry with an unknown key in a log that otherwise has our key is a broken trail.
    let kid = serde_json::from_str::<Value>(&lines[0]).unwrap()["kid"].as_str().unwrap().to_owned();
    let forged = [lines[0].replace(&kid, "another"), lines[1..].join("\n")].join("\n");
    let said = terminal.run_with_input("audit verify --log - --jwks keys", &forged).await;
    assert!(said.code == Some(1) && said.out.starts_with("broken at entry 1"), "{said:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn unreadable_input_is_an_error_and_no_verdict() {
    let (_folder, terminal, _) = place();
    std::fs::write(terminal.here.join("nonsense"), "nonsense").unwrap();
    let cases = [
        ("--log nowhere --jwks keys", "cannot read the log `nowhere`: No such file"),
        ("--log . --jwks keys", "cannot read the log `.`"),
        ("--log good --jwks nowhere", "cannot read the keys `nowhere`"),
        ("--log good --jwks nonsense", "`nonsense`: not a JWK set"),
        ("--log good --jwks keys --checkpoint keys", "`keys`: not a checkpoint"),
        ("--log good", "--jwks <FILE>"),
        ("--jwks keys", "--log <FILE>"),
        ("--checkpoint checkpoint", "--log <FILE>"),
        ("", "no server was ever started"),
    ];
    for (flags, expected) in cases {
        let said = terminal.run(&format!("audit verify {flags}")).await;
        assert!(said.refused(2).contains(expected), "`{flags}` does not say `{expected}`: {}", said.err);
    }
}

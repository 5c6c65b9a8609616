//! What a checkpoint stored elsewhere proves beyond the chain.

use audit::verify::AtCheckpoint;
use audit::{Checkpoint, EntryHash, Jwks, Reason, SigningKey, Verifier};
use serde_json::json;

use crate::trail::{Trail, WORKSPACE, broken_at, verify};

#[test]
fn a_longer_trail_matches_its_checkpoint() {
    let mut trail = Trail::of(3);
    let checkpoint = trail.checkpoint();
    for _ in 0..2 {
        let report = verify(&trail.lines, &trail.jwks(), Some(&checkpoint));
        assert_eq!((report.is_valid(), report.checkpoint), (true, Some(AtCheckpoint::Matches)));
        trail.add("x", json!({}));
    }
    let nothing = Trail::new();
    let report = verify(&nothing.lines, &nothing.jwks(), Some(&nothing.checkpoint()));
    assert_eq!((report.is_valid(), report.checkpoint), (true, Some(AtCheckpoint::Matches)));
    let report = verify(&trail.lines, &nothing.jwks(), Some(&nothing.checkpoint()));
    assert_eq!((report.is_valid(), report.checkpoint), (true, Some(AtCheckpoint::Matches)));
}

#[test]
fn a_cut_off_tail_is_found() {
    let trail = Trail::of(5);
    let checkpoint = trail.checkpoint();
    for kept in [0, 1, 4] {
        assert!(verify(&trail.lines[..kept], &trail.jwks(), None).is_valid(), "the chain alone does not show it");
        let report = verify(&trail.lines[..kept], &trail.jwks(), Some(&checkpoint));
        let kept = u64::try_from(kept).unwrap();
        broken_at(&report, kept + 1, Reason::CutOff);
        assert_eq!(report.event_count, kept);
    }
}

#[test]
fn a_rewritten_chain_is_found() {
    let trail = Trail::of(5);
    let mut anew = Trail::of(3);
    anew.add("tool.called", json!({"tool": "something else"}));
    anew.add("tool.called", json!({}));
    assert!(anew.verify().is_valid(), "the chain alone does not show it");
    broken_at(&verify(&anew.lines, &anew.jwks(), Some(&trail.checkpoint())), 5, Reason::Rewritten);
    // An earlier fault is reported first.
    anew.lines.remove(1);
    broken_at(&verify(&anew.lines, &anew.jwks(), Some(&trail.checkpoint())), 2, Reason::Sequence);
    // The report has no verdict on the checkpoint if a fault comes before it.
    let mut forged = trail.lines.clone();
    let signature =
        |line: &str| serde_json::from_str::<serde_json::Value>(line).unwrap()["signature"].as_str().unwrap().to_owned();
    forged[1] = forged[1].replace(&signature(&forged[1]), &signature(&forged[0]));
    assert_eq!(verify(&forged, &trail.jwks(), Some(&trail.checkpoint())).checkpoint, None);
}

#[test]
fn an_untrustworthy_checkpoint_is_reported() {
    let mut trail = Trail::of(2);
    let good = trail.checkpoint();
    let other = SigningKey::from_seed(&[9; 32]);
    let cases = [
        Checkpoint { size: 1, ..good.clone() },
        Checkpoint { signature: "A".repeat(86), ..good.clone() },
        Checkpoint { kid: "nobody".to_owned(), ..good.clone() },
        Checkpoint::sign(WORKSPACE, 2, &trail.head(), trail.now, &other),
        Checkpoint::sign(WORKSPACE, 0, &trail.head(), trail.now, &trail.key),
    ];
    let told = |report: audit::Report| {
        let broken = report.broken_at.unwrap();
        assert_eq!((broken.sequence, broken.reason, report.event_count), (None, Reason::Checkpoint, 0), "{}", broken.message);
    };
    for checkpoint in cases {
        told(verify(&trail.lines, &trail.jwks(), Some(&checkpoint)));
    }
    told(verify(&trail.lines, &Jwks::default(), Some(&good)));
    told(Verifier::new(&trail.jwks(), Some(good.clone()), Some("prj_other")).finish());
    trail.revoke(0, trail.now.plus_ms(-2_000));
    told(verify(&trail.lines, &trail.jwks(), Some(&good)));
}

#[test]
fn a_checkpoint_of_another_workspace_is_refused() {
    let trail = Trail::of(2);
    let checkpoint = Checkpoint::sign("prj_other", 2, &trail.head(), trail.now, &trail.key);
    broken_at(&verify(&trail.lines, &trail.jwks(), Some(&checkpoint)), 1, Reason::Workspace);
    assert_eq!(EntryHash::parse(&checkpoint.head_hash), Some(trail.head()));
}

#[test]
fn every_checkpoint_is_checked() {
    let mut trail = Trail::new();
    let mut checkpoints = vec![trail.checkpoint()];
    for _ in 0..5 {
        trail.add("x", json!({}));
        checkpoints.push(trail.checkpoint());
    }
    let verify = |lines: &[String], checkpoints: &[Checkpoint]| {
        let mut verifier = Verifier::new(&trail.jwks(), checkpoints.iter().rev().cloned(), None);
        verifier.push_lines(lines.join("\n").as_bytes()).unwrap();
        verifier.finish()
    };
    let report = verify(&trail.lines, &checkpoints);
    assert_eq!((report.is_valid(), report.checkpoint), (true, Some(AtCheckpoint::Matches)));
    broken_at(&verify(&trail.lines[..4], &checkpoints), 5, Reason::CutOff);
    // A checkpoint of another trail among many that match.
    let other = Checkpoint::sign(WORKSPACE, 3, &trail.hashes[0], trail.now, &trail.key);
    broken_at(&verify(&trail.lines, &[checkpoints.clone(), vec![other]].concat()), 3, Reason::Rewritten);
    let forged = Checkpoint { size: 2, ..checkpoints[4].clone() };
    let report = verify(&trail.lines, &[checkpoints, vec![forged]].concat());
    assert_eq!(report.broken_at.unwrap().reason, Reason::Checkpoint);
}

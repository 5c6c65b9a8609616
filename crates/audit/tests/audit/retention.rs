//! A trail whose first entries were removed needs an announcement or a checkpoint that accounts for them.

use audit::verify::AtCheckpoint;
use audit::{Checkpoint, EntryHash, Reason, announce};
use serde_json::json;

use crate::trail::{Trail, WORKSPACE, broken_at, verify};

/// Ten entries. The eleventh announces that the ones up to `through`, whose hash was `head`, were removed.
fn pruned(through: u64, head: &EntryHash) -> Trail {
    let mut trail = Trail::of(10);
    trail.add(announce::PRUNED, announce::pruned(through, head));
    trail.add("x", json!({}));
    trail
}

#[test]
fn a_missing_start_is_reported() {
    let trail = Trail::of(10);
    let report = verify(&trail.lines[4..], &trail.jwks(), None);
    broken_at(&report, 5, Reason::MissingStart);
    assert_eq!(report.event_count, 0);
}

#[test]
fn an_announcement_accounts_for_a_pruned_start() {
    let hash = Trail::of(10).hashes[3];
    let trail = pruned(4, &hash);
    let report = verify(&trail.lines[4..], &trail.jwks(), None);
    assert_eq!((report.is_valid(), report.first_sequence, report.last_sequence), (true, Some(5), Some(12)), "{report:?}");
    // An export made before everything was removed is valid too, but not one that lacks more than was removed.
    assert!(verify(&trail.lines[3..], &trail.jwks(), None).is_valid());
    assert!(verify(&trail.lines, &trail.jwks(), None).is_valid());
    broken_at(&verify(&trail.lines[5..], &trail.jwks(), None), 6, Reason::MissingStart);
    // An earlier fault is reported instead, because the announcement comes after it.
    let mut lines = trail.lines[4..].to_vec();
    lines.remove(2);
    broken_at(&verify(&lines, &trail.jwks(), None), 7, Reason::Sequence);
}

#[test]
fn all_entries_before_the_announcement_can_be_missing() {
    let hash = Trail::of(10).hashes[9];
    let trail = pruned(10, &hash);
    assert!(verify(&trail.lines[10..], &trail.jwks(), None).is_valid());
    broken_at(&verify(&trail.lines[11..], &trail.jwks(), None), 12, Reason::MissingStart);
}

#[test]
fn the_announced_hash_must_match_the_first_entry() {
    let trail = pruned(4, &EntryHash::GENESIS);
    broken_at(&verify(&trail.lines[4..], &trail.jwks(), None), 5, Reason::MissingStart);
    let mut trail = Trail::of(10);
    trail.add(announce::PRUNED, json!({"throughSequence": "4"}));
    broken_at(&verify(&trail.lines[4..], &trail.jwks(), None), 11, Reason::Malformed);
}

#[test]
fn a_checkpoint_accounts_for_a_missing_start() {
    let trail = Trail::of(10);
    let at = |size: u64, hash: &EntryHash| Checkpoint::sign(WORKSPACE, size, hash, trail.now, &trail.key);
    let report = verify(&trail.lines[4..], &trail.jwks(), Some(&at(4, &trail.hashes[3])));
    assert_eq!((report.is_valid(), report.checkpoint), (true, Some(AtCheckpoint::Matches)));
    broken_at(&verify(&trail.lines[4..], &trail.jwks(), Some(&at(4, &trail.hashes[2]))), 5, Reason::Rewritten);
    // A checkpoint from elsewhere in the trail does not account for the missing entries.
    broken_at(&verify(&trail.lines[4..], &trail.jwks(), Some(&at(6, &trail.hashes[5]))), 5, Reason::MissingStart);
    broken_at(&verify(&trail.lines[4..], &trail.jwks(), Some(&at(3, &trail.hashes[2]))), 5, Reason::MissingStart);
    let trail = pruned(4, &trail.hashes[3]);
    let report =
        verify(&trail.lines[4..], &trail.jwks(), Some(&Checkpoint::sign(WORKSPACE, 2, &trail.hashes[1], trail.now, &trail.key)));
    assert_eq!((report.is_valid(), report.checkpoint), (true, Some(AtCheckpoint::BeginsLater)));
}

//! Rotation and revocation of keys: the old key announces a rotation, and a revocation has a time.

use audit::{Jwks, Reason, SigningKey, announce};
use base::Timestamp;
use serde_json::json;

use crate::trail::{START_MS, Trail, broken_at, verify};

#[test]
fn an_announced_key_signs_from_then_on() {
    let mut trail = Trail::of(2);
    trail.rotate(2);
    trail.add("x", json!({}));
    trail.rotate(3);
    trail.rotate(4);
    assert!(trail.verify().is_valid());
    trail.add("x", json!({}));
    assert!(trail.verify().is_valid());
    // The set must have every key that signed.
    let first = Jwks { keys: trail.keys[..1].to_vec() };
    broken_at(&verify(&trail.lines, &first, None), 4, Reason::UnknownKey);
}

#[test]
fn an_unannounced_key_is_refused() {
    let mut trail = Trail::of(2);
    trail.replace_key(SigningKey::from_seed(&[2; 32]));
    trail.add("x", json!({}));
    broken_at(&trail.verify(), 3, Reason::UnannouncedKey);

    // The rotation is announced, but another key signs: the old one, or a third one.
    for seed in [1, 3] {
        let mut trail = Trail::of(2);
        trail.rotate(2);
        trail.replace_key(SigningKey::from_seed(&[3; 32]));
        trail.key = SigningKey::from_seed(&[seed; 32]);
        trail.add("x", json!({}));
        broken_at(&trail.verify(), 4, Reason::UnannouncedKey);
    }
}

#[test]
fn an_announcement_names_the_new_key_and_the_old_key_signs_it() {
    let keys = [1, 2, 3].map(|seed| SigningKey::from_seed(&[seed; 32]).verifying_key().clone());
    let good = announce::key_rotated(&keys[0], &keys[1]);
    let wrong = [
        json!({}),
        json!([]),
        json!({"newKid": keys[1].kid(), "oldKid": keys[0].kid()}),
        announce::key_rotated(&keys[2], &keys[1]),
        json!({"newKid": keys[1].kid(), "newKey": keys[2].x(), "oldKid": keys[0].kid()}),
    ];
    for (payload, is_good) in wrong.into_iter().map(|payload| (payload, false)).chain([(good, true)]) {
        let mut trail = Trail::of(1);
        trail.add(announce::KEY_ROTATED, payload);
        trail.replace_key(SigningKey::from_seed(&[2; 32]));
        trail.add("x", json!({}));
        if is_good {
            assert!(trail.verify().is_valid());
        } else {
            broken_at(&trail.verify(), 2, Reason::Malformed);
        }
    }
}

#[test]
fn a_revoked_key_is_trusted_up_to_its_revocation() {
    // Four events a second from 0.007 s on: the key is revoked in the second of the fourth to seventh.
    let mut trail = Trail::of(9);
    trail.revoke(0, Timestamp::from_ms(START_MS + 1_000));
    let report = trail.verify();
    broken_at(&report, 9, Reason::RevokedKey);
    assert_eq!(report.signed_by_revoked, 8);
    trail.lines.truncate(8);
    let report = trail.verify();
    assert_eq!((report.is_valid(), report.signed_by_revoked), (true, 8));
}

#[test]
fn revoking_the_active_key_rotates_first() {
    let mut trail = Trail::of(3);
    let revoked_at = trail.now;
    trail.rotate(2);
    trail.revoke(0, revoked_at);
    for _ in 0..10 {
        trail.add("x", json!({}));
    }
    let report = trail.verify();
    assert_eq!((report.is_valid(), report.event_count, report.signed_by_revoked), (true, 14, 4), "{report:?}");
    // Only entries before the fault are counted.
    trail.lines[1] = trail.lines[1].replace("kits.list", "kits.lisp");
    assert_eq!(trail.verify().signed_by_revoked, 1);
}

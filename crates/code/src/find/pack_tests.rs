use std::fs;

use super::*;

const BYTES: u64 = 1 << 20;

fn vector(number: u32) -> Vec<f32> {
    let angle = number as f32 / 1_000.0;
    vec![angle.cos(), angle.sin(), 0.0, 0.0]
}

fn filled(folder: &Path, numbers: std::ops::Range<u32>, bytes_max: u64) -> VectorPack {
    let pack = VectorPack::open(folder, "model", 4, bytes_max).unwrap();
    for number in numbers {
        pack.put(&[(pack.key(&number.to_string()), &vector(number))]).unwrap();
    }
    pack
}

fn holds(pack: &VectorPack, number: u32) -> bool {
    let found = pack.get(&pack.key(&number.to_string()));
    found.inspect(|found| assert!(found.iter().zip(vector(number)).all(|(one, other)| (one - other).abs() < 1e-4))).is_some()
}

#[test]
fn vectors_are_found_again_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    drop(filled(folder.path(), 0..100, BYTES));
    let pack = filled(folder.path(), 100..110, BYTES);
    assert_eq!(pack.len(), 110);
    assert!((0..110).all(|number| holds(&pack, number)) && !holds(&pack, 110));
    assert!(VectorPack::open(folder.path(), "model", 4, BYTES).is_err(), "nobody else may append");
    let other = VectorPack::open(folder.path(), "another model", 4, BYTES).unwrap();
    assert!(other.len() == 0 && other.get(&pack.key("1")).is_none());
    assert_ne!(other.key("1"), pack.key("1"));
}

#[test]
fn a_torn_end_is_cut_and_damage_is_never_returned() {
    let folder = tempfile::tempdir().unwrap();
    let path = filled(folder.path(), 0..10, BYTES).path;
    let size = size_of_record(4);
    let mut bytes = fs::read(&path).unwrap();
    bytes.truncate(HEADER + 9 * size + 5);
    bytes[HEADER + 8 * size + KEY] ^= 1;
    bytes[HEADER + 2 * size + KEY] ^= 1;
    fs::write(&path, &bytes).unwrap();
    let pack = filled(folder.path(), 20..21, BYTES);
    let held: Vec<u32> = (0..30).filter(|number| holds(&pack, *number)).collect();
    assert_eq!(held, [0, 1, 3, 4, 5, 6, 7, 20], "9 was torn, 8 was damaged at the end, 2 in the middle");
    pack.put(&[(pack.key("2"), &vector(2))]).unwrap();
    assert!(holds(&pack, 2), "it can be stored again");
}

#[test]
fn anything_else_is_replaced() {
    for content in [&b""[..], b"x", b"tcpack00aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", &[0; 4_096]] {
        let folder = tempfile::tempdir().unwrap();
        let path = filled(folder.path(), 0..1, BYTES).path;
        fs::write(&path, content).unwrap();
        let pack = filled(folder.path(), 5..6, BYTES);
        assert!(pack.len() == 1 && holds(&pack, 5));
    }
}

#[test]
fn a_full_pack_keeps_what_is_used() {
    let folder = tempfile::tempdir().unwrap();
    drop(filled(folder.path(), 0..1_000, BYTES_MIN));
    let pack = VectorPack::open(folder.path(), "model", 4, BYTES_MIN).unwrap();
    assert!((0..50).all(|number| holds(&pack, number)));
    for number in 1_000..2_000 {
        pack.put(&[(pack.key(&number.to_string()), &vector(number))]).unwrap();
        if number % 50 == 0 {
            (0..50).for_each(|number| assert!(holds(&pack, number)));
        }
    }
    assert!(fs::metadata(&pack.path).unwrap().len() <= BYTES_MIN);
    assert!(holds(&pack, 1_999) && !holds(&pack, 500));
    drop(pack);
    assert!(holds(&VectorPack::open(folder.path(), "model", 4, BYTES_MIN).unwrap(), 1_999));
}

#[test]
fn only_the_owner_can_read_a_pack_and_wrong_dimensions_are_ignored() {
    use std::os::unix::fs::PermissionsExt;
    let parent = tempfile::tempdir().unwrap();
    let pack = filled(&parent.path().join("packs"), 0..1, BYTES);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!([mode(&parent.path().join("packs")), mode(&pack.path)], [0o700, 0o600]);
    pack.put(&[(pack.key("x"), &[1.0, 0.0])]).unwrap();
    assert_eq!(pack.len(), 1);
}

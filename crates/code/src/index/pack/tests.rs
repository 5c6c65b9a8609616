use super::*;

fn key(number: u8) -> Key {
    Key::new(&[number; 32], "rust")
}

fn outline(text: &str) -> Outline {
    Outline { package: Some(text.to_owned()), ..Outline::default() }
}

#[test]
fn outlines_are_found_again() {
    let home = tempfile::tempdir().unwrap();
    for folder in [None, Some(home.path())] {
        let pack = Pack::open(folder);
        assert_eq!(pack.get(&key(1)), None);
        pack.put(key(1), &outline("a"));
        assert_eq!(pack.get(&key(1)), Some(outline("a")), "before it is written");
        pack.flush();
        pack.put(key(2), &outline("b"));
        assert_eq!(pack.get(&key(1)), Some(outline("a")));
        assert_eq!(pack.get(&key(2)), Some(outline("b")));
        pack.flush();
    }
    let again = Pack::open(Some(home.path()));
    assert_eq!((again.get(&key(1)), again.get(&key(2)), again.get(&key(3))), (Some(outline("a")), Some(outline("b")), None));
    assert_ne!(Key::new(&[1; 32], "rust"), Key::new(&[1; 32], "go"), "the language matters");
}

#[test]
fn a_torn_tail_is_cut_off_wherever_it_ends() {
    let home = tempfile::tempdir().unwrap();
    let pack = Pack::open(Some(home.path()));
    let mut ends = vec![pack.bytes()];
    for number in 1..4 {
        pack.put(key(number), &outline(&"x".repeat(usize::from(number) * 10)));
        ends.push(pack.bytes());
    }
    pack.flush();
    drop(pack);
    let path = home.path().join("outlines.pack");
    let whole = std::fs::read(&path).unwrap();
    for length in 0..whole.len() {
        std::fs::write(&path, &whole[..length]).unwrap();
        let pack = Pack::open(Some(home.path()));
        let complete = ends.iter().filter(|end| **end <= length as u64).count().saturating_sub(1);
        for number in 1..4 {
            assert_eq!(pack.get(&key(number)).is_some(), usize::from(number) <= complete, "{number} of {length} bytes");
        }
        pack.put(key(9), &outline("new"));
        pack.flush();
        drop(pack);
        assert_eq!(Pack::open(Some(home.path())).get(&key(9)), Some(outline("new")), "{length}");
    }
}

#[test]
fn a_damaged_record_is_made_again_and_a_strange_file_is_replaced() {
    let home = tempfile::tempdir().unwrap();
    let pack = Pack::open(Some(home.path()));
    pack.put(key(1), &outline("first"));
    pack.put(key(2), &outline("second"));
    pack.flush();
    drop(pack);
    let path = home.path().join("outlines.pack");
    let mut bytes = std::fs::read(&path).unwrap();
    let place = bytes.windows(5).position(|window| window == b"first").unwrap();
    bytes[place] = b'F';
    std::fs::write(&path, &bytes).unwrap();
    let pack = Pack::open(Some(home.path()));
    assert_eq!((pack.get(&key(1)), pack.get(&key(2))), (None, Some(outline("second"))));
    pack.put(key(1), &outline("first"));
    assert_eq!(pack.get(&key(1)), Some(outline("first")));
    drop(pack);
    std::fs::write(&path, b"something else entirely, and long enough").unwrap();
    let pack = Pack::open(Some(home.path()));
    assert_eq!(pack.get(&key(2)), None);
    pack.put(key(2), &outline("second"));
    assert_eq!(pack.get(&key(2)), Some(outline("second")));
}

#[test]
fn a_second_process_keeps_its_outlines_in_memory() {
    let home = tempfile::tempdir().unwrap();
    let first = Pack::open(Some(home.path()));
    let second = Pack::open(Some(home.path()));
    second.put(key(1), &outline("a"));
    second.flush();
    assert_eq!(second.get(&key(1)), Some(outline("a")));
    first.put(key(2), &outline("b"));
    first.flush();
    drop((first, second));
    let third = Pack::open(Some(home.path()));
    assert_eq!((third.get(&key(1)), third.get(&key(2))), (None, Some(outline("b"))));
}

#[test]
fn a_pack_that_is_mostly_dead_is_compacted() {
    let home = tempfile::tempdir().unwrap();
    for folder in [Some(home.path()), None] {
        let pack = Pack::open(folder);
        let long = outline(&"x".repeat(300_000));
        for number in 0..8 {
            pack.put(key(number), &long);
        }
        let bytes = pack.bytes();
        let needed = |count: u8| (0..count).map(key).collect::<HashSet<_>>();
        assert!(!pack.compact(&needed(6)), "most of it is alive");
        assert!(pack.compact(&needed(2)));
        assert!(pack.bytes() < bytes / 3);
        assert_eq!((pack.get(&key(1)), pack.get(&key(5))), (Some(long.clone()), None));
        pack.put(key(5), &outline("again"));
        pack.flush();
        assert_eq!(pack.get(&key(5)), Some(outline("again")));
    }
    let pack = Pack::open(Some(home.path()));
    assert_eq!((pack.get(&key(5)), pack.get(&key(6))), (Some(outline("again")), None));
    assert!(pack.get(&key(0)).is_some());
}

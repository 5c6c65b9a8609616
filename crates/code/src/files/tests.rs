//! Files below a root: what links, pipes, races and failures must never do.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use base::{FileVersionId, Kind, Timestamp};
use rustix::io::Errno;
use tempfile::TempDir;

use super::steps::{Step, Steps};
use super::{Read, Replaced, Root, Seen, Sha256, Stat};
use crate::path::CodePath;

const ALL: [Step; 5] = [Step::Created, Step::Filled, Step::Synced, Step::Compared, Step::Renamed];

/// A folder with `root` and `outside` in it.
fn folders() -> (TempDir, Root) {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("root")).unwrap();
    fs::create_dir(folder.path().join("outside")).unwrap();
    fs::write(folder.path().join("outside/secret"), "secret").unwrap();
    let root = Root::open(&folder.path().join("root")).unwrap();
    (folder, root)
}

fn path(text: &str) -> CodePath {
    CodePath::parse(text).unwrap()
}

fn id() -> FileVersionId {
    FileVersionId::new(Timestamp::from_ms(1))
}

fn read(root: &Root, text: &str) -> Read {
    root.read(&path(text), 1_000).unwrap()
}

fn content(root: &Root, text: &str) -> Vec<u8> {
    match read(root, text) {
        Read::File { bytes, .. } => bytes,
        other => panic!("{text}: {other:?}"),
    }
}

fn write(root: &Root, text: &str, bytes: &str) -> base::Result<Replaced> {
    root.write(&path(text), bytes.as_bytes(), None, &id())
}

fn temporary_files(folder: &Path) -> usize {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| crate::is_temporary(name)).count()
}

#[test]
fn a_file_is_written_and_read_back() {
    let (folder, root) = folders();
    assert_eq!(read(&root, "a/b/c.txt"), Read::Missing);
    assert_eq!(root.stat(&path("a/b/c.txt")).unwrap(), Stat::Missing);
    assert_eq!(write(&root, "a/b/c.txt", "one").unwrap(), Replaced::Done);
    assert_eq!(content(&root, "a/b/c.txt"), b"one");
    let Stat::File(stamp) = root.stat(&path("a/b/c.txt")).unwrap() else { panic!() };
    assert_eq!(stamp.size, 3);
    assert_eq!(read(&root, "a/b"), Read::Folder);
    assert_eq!(root.stat(&path("a")).unwrap(), Stat::Folder);
    assert_eq!(read(&root, "a/b/c.txt/d"), Read::Missing);
    assert!(matches!(root.read(&path("a/b/c.txt"), 2).unwrap(), Read::TooLarge { size: 3, .. }));
    assert_eq!(write(&root, "a/b/c.txt/d", "x").unwrap_err().kind(), Kind::InvalidParams);
    assert_eq!(write(&root, "a/b", "x").unwrap_err().kind(), Kind::InvalidParams);
    assert_eq!(root.remove(&path("a/b"), None).unwrap_err().kind(), Kind::InvalidParams);
    assert_eq!(root.remove(&path("a/b/c.txt"), None).unwrap(), Replaced::Done);
    assert_eq!(root.remove(&path("a/b/c.txt"), None).unwrap(), Replaced::Done);
    assert_eq!(read(&root, "a/b/c.txt"), Read::Missing);
    assert_eq!(temporary_files(&folder.path().join("root/a/b")), 0);
}

#[test]
fn permission_bits_stay() {
    let (folder, root) = folders();
    let file = folder.path().join("root/run.sh");
    fs::write(&file, "old").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o751)).unwrap();
    write(&root, "run.sh", "new").unwrap();
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o7777, 0o751);
}

#[test]
fn a_write_finds_what_was_seen_or_changes_nothing() {
    let (folder, root) = folders();
    let (file, place) = (folder.path().join("root/a"), path("a"));
    let missing = Some(&Seen::Missing);
    assert_eq!(root.write(&place, b"one", missing, &id()).unwrap(), Replaced::Done);
    assert_eq!(root.write(&place, b"two", missing, &id()).unwrap(), Replaced::Changed);
    let one = Seen::File(Sha256::of(b"one"));
    assert_eq!(root.write(&place, b"two", Some(&one), &id()).unwrap(), Replaced::Done);
    assert_eq!(root.write(&place, b"three", Some(&one), &id()).unwrap(), Replaced::Changed);
    assert_eq!(root.remove(&place, Some(&one)).unwrap(), Replaced::Changed);
    assert_eq!(fs::read(&file).unwrap(), b"two");
    assert_eq!(temporary_files(&folder.path().join("root")), 0);
}

#[test]
fn a_file_that_appears_before_the_rename_is_not_replaced() {
    let (folder, root) = folders();
    let file = folder.path().join("root/new");
    let appears = move |step| if step == Step::Compared { fs::write(&file, "theirs") } else { Ok(()) };
    let root = root.with_steps(Steps { at: Some(Arc::new(appears)), kills: false });
    assert_eq!(root.write(&path("new"), b"ours", Some(&Seen::Missing), &id()).unwrap(), Replaced::Changed);
    assert_eq!(content(&root, "new"), b"theirs");
}

#[test]
fn links_are_followed_inside_and_never_out() {
    let (folder, root) = folders();
    let at = |name: &str| folder.path().join("root").join(name);
    fs::create_dir_all(at("real/deep")).unwrap();
    fs::create_dir_all(at(".git/hooks")).unwrap();
    fs::write(at(".git/config"), "token").unwrap();
    fs::write(at("real/file"), "inside").unwrap();
    for (target, link) in [
        ("real", "folder"),
        ("real/file", "file"),
        ("../real/file", "real/back"),
        (".", "itself"),
        ("folder/file", "chain"),
        ("nothing", "dangling"),
        ("loop2", "loop1"),
        ("loop1", "loop2"),
        (".git", "git"),
        (".git/config", "config"),
        ("../outside", "out"),
        ("../outside/secret", "secret"),
        ("real/../../outside", "winding"),
    ] {
        symlink(target, at(link)).unwrap();
    }
    symlink(folder.path().join("outside"), at("absolute")).unwrap();
    for text in ["folder/file", "file", "real/back", "itself/real/file", "itself/file", "chain", "itself/itself/folder/back"] {
        assert_eq!(content(&root, text), b"inside", "{text}");
        assert_eq!(root.real(&path(text)).unwrap(), path("real/file"), "{text}");
    }
    assert_eq!(read(&root, "dangling"), Read::Missing);
    assert_eq!(read(&root, "dangling/x"), Read::Missing);
    for text in
        ["git/config", "config", "git/hooks/x", "out/secret", "secret", "winding/secret", "absolute/secret", "loop1", "loop1/x"]
    {
        assert_eq!(root.read(&path(text), 100).unwrap_err().kind(), Kind::InvalidParams, "{text}");
        assert_eq!(write(&root, text, "bad").unwrap_err().kind(), Kind::InvalidParams, "{text}");
        assert_eq!(root.remove(&path(text), None).unwrap_err().kind(), Kind::InvalidParams, "{text}");
    }
    for text in ["dangling", "dangling/x", "out/new", "absolute/new/deep", "git/new"] {
        assert_eq!(write(&root, text, "bad").unwrap_err().kind(), Kind::InvalidParams, "{text}");
    }
    write(&root, "chain", "changed").unwrap();
    write(&root, "folder/deep/new/file", "created").unwrap();
    assert_eq!(fs::read(at("real/file")).unwrap(), b"changed");
    assert_eq!(fs::read(at("real/deep/new/file")).unwrap(), b"created");
    assert!(fs::symlink_metadata(at("chain")).unwrap().file_type().is_symlink());
    assert_eq!(fs::read_dir(folder.path().join("outside")).unwrap().count(), 1);
    assert_eq!(fs::read(folder.path().join("outside/secret")).unwrap(), b"secret");
    assert_eq!(fs::read(at(".git/config")).unwrap(), b"token");
}

#[test]
fn pipes_sockets_and_devices_are_not_opened() {
    let (folder, root) = folders();
    let at = |name: &str| folder.path().join("root").join(name);
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(rustix::fs::CWD, at("pipe"), rustix::fs::FileType::Fifo, mode, 0).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
    for text in ["pipe", "socket"] {
        assert_eq!(read(&root, text), Read::Special, "{text}");
        assert_eq!(root.stat(&path(text)).unwrap(), Stat::Special, "{text}");
        assert_eq!(write(&root, text, "x").unwrap_err().kind(), Kind::InvalidParams, "{text}");
        assert_eq!(root.remove(&path(text), None).unwrap_err().kind(), Kind::InvalidParams, "{text}");
    }
}

#[test]
fn failures_of_the_disk_change_nothing_and_say_what_happened() {
    for (errno, words) in [
        (Errno::NOSPC, "disk is full"),
        (Errno::ROFS, "read-only"),
        (Errno::ACCESS, "may not write"),
        (Errno::IO, "could not be written"),
    ] {
        for failing in &ALL[..4] {
            let (folder, root) = folders();
            fs::write(folder.path().join("root/a"), "old").unwrap();
            let failing = *failing;
            let fails = move |step| if step == failing { Err(errno.into()) } else { Ok(()) };
            let root = root.with_steps(Steps { at: Some(Arc::new(fails)), kills: false });
            let error = write(&root, "a", "new").unwrap_err();
            let expected = if errno == Errno::IO { Kind::Unavailable } else { Kind::Conflict };
            assert_eq!(error.kind(), expected);
            assert!(error.message().contains(words), "{}", error.message());
            assert_eq!(content(&root, "a"), b"old");
            assert_eq!(temporary_files(&folder.path().join("root")), 0);
        }
    }
}

#[test]
fn a_killed_write_leaves_the_old_or_the_new_content() {
    for dies in ALL {
        let (folder, root) = folders();
        fs::write(folder.path().join("root/a"), "old").unwrap();
        let killed = move |step| if step == dies { Err(Errno::INTR.into()) } else { Ok(()) };
        let root = root.with_steps(Steps { at: Some(Arc::new(killed)), kills: true });
        let version = id();
        root.write(&path("a"), b"new", None, &version).unwrap_err();
        let expected = if dies == Step::Renamed { "new" } else { "old" };
        assert_eq!(content(&root, "a"), expected.as_bytes(), "{dies:?}");
        assert_eq!(temporary_files(&folder.path().join("root")), usize::from(dies != Step::Renamed), "{dies:?}");
        root.clean_up(&path("a"), &version);
        assert_eq!(temporary_files(&folder.path().join("root")), 0, "{dies:?}");
    }
}

#[test]
fn a_root_that_is_gone_or_another_one_is_reported() {
    let (folder, root) = folders();
    write(&root, "a", "x").unwrap();
    assert_eq!(Root::open(&folder.path().join("nowhere")).map(drop).unwrap_err().kind(), Kind::Conflict);
    fs::rename(folder.path().join("root"), folder.path().join("moved")).unwrap();
    for _ in 0..2 {
        assert_eq!(root.read(&path("b"), 10).unwrap_err().kind(), Kind::Conflict);
        assert_eq!(root.stat(&path("b")).unwrap_err().kind(), Kind::Conflict);
        assert_eq!(write(&root, "a", "y").unwrap_err().kind(), Kind::Conflict);
        assert_eq!(root.remove(&path("a"), None).unwrap_err().kind(), Kind::Conflict);
        let _ = fs::create_dir(folder.path().join("root"));
    }
    assert_eq!(fs::read(folder.path().join("moved/a")).unwrap(), b"x");
}

/// A thread keeps swapping a folder for links out of the root and into `.git`. Nothing outside is ever read or written.
#[test]
fn a_folder_that_is_swapped_for_a_link_leads_nowhere() {
    let (folder, root) = folders();
    let at = |name: &str| folder.path().join("root").join(name);
    fs::create_dir_all(at("folder")).unwrap();
    fs::create_dir_all(at(".git")).unwrap();
    fs::write(at("folder/secret"), "plain").unwrap();
    fs::write(at(".git/secret"), "token").unwrap();
    let (running, base) = (Arc::new(AtomicBool::new(true)), folder.path().to_owned());
    let swapping = {
        let running = Arc::clone(&running);
        std::thread::spawn(move || {
            let at = |name: &str| base.join("root").join(name);
            for turn in (0_usize..).take_while(|_| running.load(Ordering::Relaxed)) {
                let target = ["../outside", ".git"][turn % 2];
                fs::rename(at("folder"), at("kept")).unwrap();
                symlink(target, at("folder")).unwrap();
                fs::remove_file(at("folder")).unwrap();
                fs::rename(at("kept"), at("folder")).unwrap();
            }
        })
    };
    let (mut reads, mut writes) = (0, 0);
    for turn in 0..4_000 {
        match root.read(&path("folder/secret"), 100) {
            Ok(Read::File { bytes, .. }) => {
                assert_eq!(bytes, b"plain");
                reads += 1;
            }
            Ok(other) => assert_eq!(other, Read::Missing),
            Err(error) => assert_eq!(error.kind(), Kind::InvalidParams, "{error}"),
        }
        if turn % 4 == 0 && root.write(&path("folder/secret"), b"plain", Some(&Seen::File(Sha256::of(b"plain"))), &id()).is_ok() {
            writes += 1;
        }
    }
    running.store(false, Ordering::Relaxed);
    swapping.join().unwrap();
    assert!(reads > 0 && writes > 0, "{reads} reads, {writes} writes");
    assert_eq!(fs::read_dir(folder.path().join("outside")).unwrap().count(), 1);
    assert_eq!(fs::read(folder.path().join("outside/secret")).unwrap(), b"secret");
    assert_eq!(fs::read_dir(at(".git")).unwrap().count(), 1);
    assert_eq!(fs::read(at(".git/secret")).unwrap(), b"token");
}

//! Which passages are in the folder of a keyword index. Ids follow from path and text, so after a restart only new passages need to be
//! indexed.
//!
//! The list is written after the index. If the two do not belong together, because the process died between the two writes, the folder
//! is emptied, and every passage is indexed again.

use std::collections::HashSet;
use std::fs;
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

use base::{Error, Result};
use search::keyword::KeywordIndex;
use sha2::{Digest, Sha256};

use super::finder::unusable;
use super::passage::PROJECT_PASSAGES_MAX;

/// Increase it with every change to the words that a passage gets.
const MAGIC: &[u8; 8] = b"tcwords1";
/// The list can hold removed passages besides the living ones.
const BYTES_MAX: u64 = 16 * PROJECT_PASSAGES_MAX as u64 + 64;
/// The gap between the writes of two processes.
const GAP: u64 = 1 << 20;

/// Opens the keyword index of a project: the index, the position of its last write, and the passages that are in it.
pub(super) fn open(folder: &Path) -> Result<(KeywordIndex, u64, HashSet<u64>)> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(Error::unavailable)?;
    let words = folder.join("words");
    let (index, recovery) = KeywordIndex::open(&words).map_err(unusable)?;
    let known = read(&folder.join("known")).filter(|(position, _)| *position == recovery.position && recovery.position > 0);
    if let Some((position, ids)) = known {
        return Ok((index, position + GAP, ids.into_iter().collect()));
    }
    if recovery.position == 0 {
        return Ok((index, 0, HashSet::new()));
    }
    drop(index);
    fs::remove_dir_all(&words).map_err(Error::unavailable)?;
    let (index, _) = KeywordIndex::open(&words).map_err(unusable)?;
    Ok((index, recovery.position + GAP, HashSet::new()))
}

/// Writes which passages are in the index at a position.
pub(super) fn write(folder: &Path, position: u64, ids: &[u64]) -> Result<()> {
    let mut bytes = [&MAGIC[..], &position.to_le_bytes()].concat();
    for id in ids {
        bytes.extend(id.to_le_bytes());
    }
    let checksum = Sha256::digest(&bytes);
    bytes.extend(checksum);
    let temporary = folder.join("known.new");
    let written = || -> std::io::Result<()> {
        let mut file = fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&temporary)?;
        file.write_all(&bytes)?;
        fs::rename(&temporary, folder.join("known"))
    };
    written().map_err(Error::unavailable)
}

fn read(path: &Path) -> Option<(u64, Vec<u64>)> {
    if fs::symlink_metadata(path).ok()?.len() > BYTES_MAX {
        return None;
    }
    let bytes = fs::read(path).ok()?;
    let (content, checksum) = bytes.split_at_checked(bytes.len().checked_sub(32)?)?;
    if Sha256::digest(content).as_slice() != checksum {
        return None;
    }
    let (position, ids) = content.strip_prefix(MAGIC)?.split_first_chunk::<8>()?;
    Some((
        u64::from_le_bytes(*position),
        ids.chunks_exact(8).filter_map(|id| Some(u64::from_le_bytes(*id.first_chunk()?))).collect(),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_read_back_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("known");
        assert_eq!(read(&path), None);
        write(folder.path(), 7, &[1, u64::MAX]).unwrap();
        assert_eq!(read(&path), Some((7, vec![1, u64::MAX])));
        let bytes = fs::read(&path).unwrap();
        for damaged in [&bytes[..bytes.len() - 1], &bytes[1..], &[], &[0; 64]] {
            fs::write(&path, damaged).unwrap();
            assert_eq!(read(&path), None);
        }
    }

    #[test]
    fn an_index_that_does_not_belong_to_its_list_is_emptied() {
        let folder = tempfile::tempdir().unwrap();
        let fill = |listed: u64| {
            let (index, position, _) = open(folder.path()).unwrap();
            index.upsert(5, "something", position + 1).unwrap();
            let position = index.flush().unwrap();
            write(folder.path(), position + listed, &[5]).unwrap();
        };
        fill(0);
        let (index, _, known) = open(folder.path()).unwrap();
        assert!(known.contains(&5) && index.search("something", 1, None).unwrap().len() == 1);
        drop(index);
        fill(1);
        let (index, _, known) = open(folder.path()).unwrap();
        assert!(known.is_empty() && index.search("something", 1, None).unwrap().is_empty());
    }
}

//! Outlines of an org by content: a file that is the same in two branches, worktrees or projects is parsed once.
//!
//! A pack is one append-only file of checked records. It is a cache: whatever is wrong with it costs a parse, never an error. A tail that
//! was cut off by a crash is removed when the pack is opened. One process uses a pack at a time; another one keeps its outlines in memory.

use std::collections::{HashMap, HashSet};
use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use sha2::{Digest as _, Sha256};
use syntax::Outline;

/// Changes when outlines change: when their types, the parsers or the queries change.
pub(crate) const OUTLINE_VERSION: u32 = 1;
const MAGIC: [u8; 12] = *b"tc-outlines\x01";
const HEAD_BYTES: u64 = 16;
/// The key, the length and the checksum before each record.
const RECORD_HEAD_BYTES: usize = 32 + 4 + 8;
/// A longer outline is not kept. The bounds of an outline make it shorter than this.
const RECORD_BYTES_MAX: usize = 8 * 1024 * 1024;
/// A full pack takes no more records until it is compacted.
const PACK_BYTES_MAX: u64 = 512 * 1024 * 1024;
/// Records wait here before they are written together.
const WAITING_BYTES_MAX: usize = 1024 * 1024;
/// Outlines that are kept in memory where there is no file.
const MEMORY_BYTES_MAX: usize = 64 * 1024 * 1024;
/// A smaller pack is not worth compacting.
const COMPACTED_BYTES_MIN: u64 = 1024 * 1024;

/// What an outline was made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Key([u8; 32]);

impl Key {
    /// The key of a content in a language.
    pub(crate) fn new(content: &[u8; 32], language: &str) -> Self {
        let mut hash = Sha256::new();
        hash.update(content);
        hash.update(OUTLINE_VERSION.to_le_bytes());
        hash.update(language.as_bytes());
        Self(hash.finalize().into())
    }
}

/// The outlines of an org.
pub(crate) struct Pack(Mutex<Inner>);

struct Inner {
    /// The file with its lock, or nothing for a pack in memory.
    disk: Option<Disk>,
    places: HashMap<Key, Place>,
    /// Where the next record goes.
    end: u64,
    /// The records from `waiting_from` on, which are not in the file yet. All records of a pack in memory.
    waiting: Vec<u8>,
    waiting_from: u64,
}

struct Disk {
    path: PathBuf,
    file: File,
    _lock: File,
}

#[derive(Clone, Copy)]
struct Place {
    start: u64,
    length: u32,
    checksum: u64,
}

impl Pack {
    /// The pack in a folder. Without a folder, or where the folder cannot be used, outlines are kept in memory.
    pub(crate) fn open(folder: Option<&Path>) -> Self {
        let opened = folder.map(open_disk).transpose().unwrap_or_else(|error| {
            tracing::warn!(%error, "the cache of outlines cannot be used; outlines are kept in memory");
            None
        });
        let inner = match opened {
            Some((disk, places, end)) => Inner { disk: Some(disk), places, end, waiting: Vec::new(), waiting_from: end },
            None => Inner { disk: None, places: HashMap::new(), end: 0, waiting: Vec::new(), waiting_from: 0 },
        };
        Self(Mutex::new(inner))
    }

    /// An outline, if it is known and intact.
    pub(crate) fn get(&self, key: &Key) -> Option<Outline> {
        let mut inner = self.lock();
        let place = *inner.places.get(key)?;
        let bytes = inner.read(&place);
        let outline = bytes.filter(|bytes| checksum(bytes) == place.checksum).and_then(|bytes| postcard::from_bytes(&bytes).ok());
        if outline.is_none() {
            inner.places.remove(key);
        }
        outline
    }

    /// Keeps an outline.
    pub(crate) fn put(&self, key: Key, outline: &Outline) {
        let Ok(bytes) = postcard::to_stdvec(outline) else { return };
        if bytes.len() > RECORD_BYTES_MAX {
            return;
        }
        let mut inner = self.lock();
        if !inner.places.contains_key(&key) {
            inner.append(key, &bytes);
        }
    }

    /// Writes what waits.
    pub(crate) fn flush(&self) {
        self.lock().flush();
    }

    /// The bytes of the pack.
    #[cfg(test)]
    pub(crate) fn bytes(&self) -> u64 {
        self.lock().end
    }

    /// Drops records that nobody needs, if they are more than half of the pack. Returns whether it did.
    pub(crate) fn compact(&self, needed: &HashSet<Key>) -> bool {
        let mut inner = self.lock();
        let total = |places: &mut dyn Iterator<Item = &Place>| -> u64 {
            places.map(|place| u64::from(place.length) + RECORD_HEAD_BYTES as u64).sum()
        };
        let live = total(&mut inner.places.iter().filter(|(key, _)| needed.contains(key)).map(|(_, place)| place));
        if inner.end < COMPACTED_BYTES_MIN || live.saturating_mul(2) >= inner.end {
            return false;
        }
        inner.flush();
        match inner.rewrite(needed) {
            Ok(()) => true,
            Err(error) => {
                tracing::warn!(%error, "the cache of outlines cannot be compacted");
                false
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn read(&self, place: &Place) -> Option<Vec<u8>> {
        let length = place.length as usize;
        if let Some(start) = place.start.checked_sub(self.waiting_from) {
            let start = usize::try_from(start).ok()?;
            return self.waiting.get(start..start.checked_add(length)?).map(<[u8]>::to_vec);
        }
        let mut bytes = vec![0; length];
        self.disk.as_ref()?.file.read_exact_at(&mut bytes, place.start).ok()?;
        Some(bytes)
    }

    fn append(&mut self, key: Key, bytes: &[u8]) {
        let needed = RECORD_HEAD_BYTES + bytes.len();
        if self.disk.is_none() && self.waiting.len() + needed > MEMORY_BYTES_MAX {
            self.places.clear();
            (self.waiting_from, self.waiting) = (self.end, Vec::new());
        }
        if self.disk.is_some() && self.end + needed as u64 > PACK_BYTES_MAX {
            return;
        }
        let Ok(length) = u32::try_from(bytes.len()) else { return };
        let place = Place { start: self.end + RECORD_HEAD_BYTES as u64, length, checksum: checksum(bytes) };
        self.waiting.extend_from_slice(&key.0);
        self.waiting.extend_from_slice(&length.to_le_bytes());
        self.waiting.extend_from_slice(&place.checksum.to_le_bytes());
        self.waiting.extend_from_slice(bytes);
        self.end += needed as u64;
        self.places.insert(key, place);
        if self.waiting.len() >= WAITING_BYTES_MAX {
            self.flush();
        }
    }

    fn flush(&mut self) {
        let Some(disk) = &self.disk else { return };
        if self.waiting.is_empty() {
            return;
        }
        if let Err(error) = disk.file.write_all_at(&self.waiting, self.waiting_from) {
            tracing::warn!(%error, "outlines cannot be kept on disk");
            let kept = self.waiting_from;
            self.places.retain(|_, place| place.start < kept);
            self.end = kept;
        }
        self.waiting.clear();
        self.waiting_from = self.end;
    }

    /// Writes the needed records into a new file that replaces the old one.
    fn rewrite(&mut self, needed: &HashSet<Key>) -> io::Result<()> {
        let mut kept: Vec<(Key, Place)> = self.places.iter().map(|(key, place)| (*key, *place)).collect();
        kept.retain(|(key, _)| needed.contains(key));
        kept.sort_unstable_by_key(|(_, place)| place.start);
        let (old_waiting, old_from) = (std::mem::take(&mut self.waiting), self.waiting_from);
        let old = Self { disk: self.disk.take(), places: HashMap::new(), end: 0, waiting: old_waiting, waiting_from: old_from };
        let mut fresh = Self { disk: None, places: HashMap::new(), end: 0, waiting: Vec::new(), waiting_from: 0 };
        let Disk { path, _lock: lock, .. } = match &old.disk {
            Some(disk) => Disk { path: disk.path.clone(), file: disk.file.try_clone()?, _lock: disk._lock.try_clone()? },
            None => {
                for (key, place) in kept {
                    if let Some(bytes) = old.read(&place) {
                        fresh.append(key, &bytes);
                    }
                }
                *self = fresh;
                return Ok(());
            }
        };
        let new_path = path.with_extension("new");
        let file = create(&new_path)?;
        (fresh.end, fresh.waiting_from) = (HEAD_BYTES, HEAD_BYTES);
        fresh.disk = Some(Disk { path: path.clone(), file, _lock: lock });
        for (key, place) in kept {
            if let Some(bytes) = old.read(&place).filter(|bytes| checksum(bytes) == place.checksum) {
                fresh.append(key, &bytes);
            }
        }
        fresh.flush();
        std::fs::rename(&new_path, &path)?;
        *self = fresh;
        Ok(())
    }
}

/// Opens or creates the file of a pack. It is an error if another process has it.
fn open_disk(folder: &Path) -> io::Result<(Disk, HashMap<Key, Place>, u64)> {
    std::fs::create_dir_all(folder)?;
    let lock = OpenOptions::new().create(true).write(true).truncate(false).open(folder.join("lock"))?;
    if lock.try_lock().is_err() {
        return Err(io::Error::new(io::ErrorKind::WouldBlock, "another process uses it"));
    }
    let path = folder.join("outlines.pack");
    let known = OpenOptions::new().read(true).write(true).open(&path).and_then(|file| Ok((places(&file)?, file)));
    let (file, places, end) = match known {
        Ok(((places, end), file)) => {
            file.set_len(end)?;
            (file, places, end)
        }
        Err(_) => (create(&path)?, HashMap::new(), HEAD_BYTES),
    };
    Ok((Disk { path, file, _lock: lock }, places, end))
}

fn create(path: &Path) -> io::Result<File> {
    let mut file = OpenOptions::new().read(true).write(true).create(true).truncate(true).open(path)?;
    file.write_all(&MAGIC)?;
    file.write_all(&OUTLINE_VERSION.to_le_bytes())?;
    Ok(file)
}

/// The records of a file, and the end of the last whole one.
fn places(file: &File) -> io::Result<(HashMap<Key, Place>, u64)> {
    let length = file.metadata()?.len();
    let mut reader = BufReader::with_capacity(1024 * 1024, file);
    reader.seek(SeekFrom::Start(0))?;
    let mut head = [0; HEAD_BYTES as usize];
    reader.read_exact(&mut head)?;
    let expected: Vec<u8> = MAGIC.into_iter().chain(OUTLINE_VERSION.to_le_bytes()).collect();
    if head.as_slice() != expected || length > PACK_BYTES_MAX.saturating_mul(2) {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let (mut places, mut end) = (HashMap::new(), HEAD_BYTES);
    let mut record = [0; RECORD_HEAD_BYTES];
    while reader.read_exact(&mut record).is_ok() {
        let (Some((key, rest)), start) = (record.split_first_chunk::<32>(), end + RECORD_HEAD_BYTES as u64) else { break };
        let Some((size, sum)) = rest.split_first_chunk::<4>() else { break };
        let Some(sum) = sum.first_chunk::<8>() else { break };
        let size = u32::from_le_bytes(*size);
        if size as usize > RECORD_BYTES_MAX || start + u64::from(size) > length {
            break;
        }
        places.insert(Key(*key), Place { start, length: size, checksum: u64::from_le_bytes(*sum) });
        end = start + u64::from(size);
        reader.seek_relative(i64::from(size))?;
    }
    Ok((places, end))
}

/// A fast checksum against accidents. Nobody attacks a cache in the data folder.
pub(crate) fn checksum(bytes: &[u8]) -> u64 {
    const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
    let mut sum = bytes.len() as u64 ^ FACTOR;
    for chunk in bytes.chunks(8) {
        let mut word = [0; 8];
        for (to, from) in word.iter_mut().zip(chunk) {
            *to = *from;
        }
        sum = (sum ^ u64::from_le_bytes(word)).wrapping_mul(FACTOR).rotate_left(29);
    }
    sum
}

#[cfg(test)]
mod tests;

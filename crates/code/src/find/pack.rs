//! The vectors of an org, by what the model read: a passage that was embedded once is not embedded again after a restart, on another
//! branch or in another worktree.
//!
//! A pack is one file per model: a header, then records of one size. A record is a key, a vector and a checksum. Records are only
//! appended. A torn end is cut off when the pack is opened, and a damaged record is never returned. When the pack is full, the records
//! that were used since it was opened are kept, up to half of its size. It holds no text, and losing it loses only time.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use base::{Error, Result};
use search::embed::{from_row, to_row};
use sha2::{Digest, Sha256};

/// The first bytes of a pack, with the version of its format.
const MAGIC: &[u8; 8] = b"tcpack01";
/// Magic, dimension, hash of the model's name.
const HEADER: usize = 8 + 4 + 20;
const KEY: usize = 32;
const CHECKSUM: usize = 8;
/// The smallest bound that makes sense.
const BYTES_MIN: u64 = 64 * 1024;

/// What a vector is found by: the hash of the model's name and of the text that it read.
pub(super) type Key = [u8; KEY];

/// The vectors of one org and one model.
pub(crate) struct VectorPack {
    path: PathBuf,
    model: String,
    dimension: usize,
    bytes_max: u64,
    inside: Mutex<Inside>,
}

struct Inside {
    file: File,
    /// The place of each record, and whether it was used since the pack was opened.
    places: HashMap<Key, (u32, bool)>,
    records: u32,
}

impl VectorPack {
    /// Opens the pack of a model in a folder. Anything but a valid pack is replaced by an empty one. Packs of other models are deleted,
    /// oldest first, while all together are larger than `bytes_max`.
    pub(crate) fn open(folder: &Path, model: &str, dimension: usize, bytes_max: u64) -> Result<Self> {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(Error::unavailable)?;
        let name: String = model_hash(model).iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        let path = folder.join(format!("{name}-{dimension}.pack"));
        let pack =
            |inside| Self { path: path.clone(), model: model.to_owned(), dimension, bytes_max: bytes_max.max(BYTES_MIN), inside };
        let file = opened(&path).map_err(Error::unavailable)?;
        file.try_lock().map_err(|_| Error::unavailable("the pack of vectors is open elsewhere"))?;
        let pack = pack(Mutex::new(Inside { file, places: HashMap::new(), records: 0 }));
        pack.read().map_err(Error::unavailable)?;
        discard_others(folder, &path, bytes_max);
        Ok(pack)
    }

    /// The key of what a model reads.
    pub(super) fn key(&self, text: &str) -> Key {
        Sha256::new().chain_update(self.model.as_bytes()).chain_update([0]).chain_update(text.as_bytes()).finalize().into()
    }

    /// The vector of a key.
    pub(super) fn get(&self, key: &Key) -> Option<Vec<f32>> {
        let mut inside = self.lock();
        let (place, _) = *inside.places.get(key)?;
        match record_at(&inside.file, place, self.dimension).filter(|record| record.starts_with(key)) {
            Some(record) => {
                inside.places.insert(*key, (place, true));
                record.get(KEY..KEY + 2 * self.dimension).map(from_row)
            }
            None => {
                inside.places.remove(key);
                None
            }
        }
    }

    /// Appends vectors in one write. What cannot be written is embedded again some day.
    pub(super) fn put(&self, vectors: &[(Key, &[f32])]) -> Result<()> {
        let mut inside = self.lock();
        let mut bytes = Vec::new();
        let mut added = Vec::new();
        for (key, vector) in vectors {
            if vector.len() == self.dimension && !inside.places.contains_key(key) && !added.contains(key) {
                bytes.extend(record(key, vector));
                added.push(*key);
            }
        }
        let end = HEADER as u64 + u64::from(inside.records) * size_of_record(self.dimension) as u64;
        if end + bytes.len() as u64 > self.bytes_max {
            self.shrink(&mut inside).map_err(Error::unavailable)?;
        }
        let end = HEADER as u64 + u64::from(inside.records) * size_of_record(self.dimension) as u64;
        inside.file.write_all_at(&bytes, end).map_err(Error::unavailable)?;
        for key in added {
            let place = inside.records;
            inside.places.insert(key, (place, true));
            inside.records += 1;
        }
        Ok(())
    }

    /// The number of vectors.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.lock().places.len()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn header(&self) -> Vec<u8> {
        let dimension = u32::try_from(self.dimension).unwrap_or(u32::MAX).to_le_bytes();
        [&MAGIC[..], &dimension, model_hash(&self.model).get(..20).unwrap_or_default()].concat()
    }

    /// Reads the keys, and cuts off a torn end.
    fn read(&self) -> std::io::Result<()> {
        let mut inside = self.lock();
        let size = size_of_record(self.dimension);
        let length = inside.file.metadata()?.len().min(self.bytes_max);
        let mut header = vec![0; HEADER];
        if length < HEADER as u64 || inside.file.read_exact_at(&mut header, 0).is_err() || header != self.header() {
            inside.file.set_len(0)?;
            return inside.file.write_all_at(&self.header(), 0);
        }
        let mut records = u32::try_from((length - HEADER as u64) / size as u64).unwrap_or(u32::MAX);
        while records > 0 && record_at(&inside.file, records - 1, self.dimension).is_none() {
            records -= 1;
        }
        inside.file.set_len(HEADER as u64 + u64::from(records) * size as u64)?;
        let mut reader = std::io::BufReader::with_capacity(1 << 20, &inside.file);
        std::io::Seek::seek(&mut reader, std::io::SeekFrom::Start(HEADER as u64))?;
        let (mut places, mut bytes) = (HashMap::with_capacity(records as usize), vec![0; size]);
        for place in 0..records {
            reader.read_exact(&mut bytes)?;
            if let Some(key) = bytes.first_chunk::<KEY>() {
                places.insert(*key, (place, false));
            }
        }
        (inside.places, inside.records) = (places, records);
        Ok(())
    }

    /// Writes a new file with the records that were used, then the latest others, up to half of the bound.
    fn shrink(&self, inside: &mut Inside) -> std::io::Result<()> {
        let size = size_of_record(self.dimension);
        let most = (self.bytes_max / 2).saturating_sub(HEADER as u64) as usize / size;
        let mut order: Vec<(bool, u32, Key)> = inside.places.iter().map(|(key, (place, used))| (*used, *place, *key)).collect();
        order.sort_unstable_by(|left, right| right.cmp(left));
        order.truncate(most);
        order.sort_unstable_by_key(|(_, place, _)| *place);
        let temporary = self.path.with_extension("new");
        let _ = fs::remove_file(&temporary);
        let file = opened(&temporary)?;
        file.try_lock()?;
        let mut writer = std::io::BufWriter::with_capacity(1 << 20, &file);
        writer.write_all(&self.header())?;
        let (mut places, mut records) = (HashMap::with_capacity(order.len()), 0);
        for (_, place, key) in order {
            if let Some(record) = record_at(&inside.file, place, self.dimension).filter(|record| record.starts_with(&key)) {
                writer.write_all(&record)?;
                places.insert(key, (records, false));
                records += 1;
            }
        }
        writer.flush()?;
        drop(writer);
        fs::rename(&temporary, &self.path)?;
        *inside = Inside { file, places, records };
        Ok(())
    }
}

fn opened(path: &Path) -> std::io::Result<File> {
    OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path)
}

fn model_hash(model: &str) -> [u8; 32] {
    Sha256::digest(model.as_bytes()).into()
}

fn size_of_record(dimension: usize) -> usize {
    KEY + 2 * dimension + CHECKSUM
}

fn record(key: &Key, vector: &[f32]) -> Vec<u8> {
    let mut bytes = [&key[..], &to_row(vector)].concat();
    let checksum = Sha256::digest(&bytes);
    bytes.extend(checksum.iter().take(CHECKSUM));
    bytes
}

/// A record, if it is intact.
fn record_at(file: &File, place: u32, dimension: usize) -> Option<Vec<u8>> {
    let size = size_of_record(dimension);
    let mut bytes = vec![0; size];
    file.read_exact_at(&mut bytes, HEADER as u64 + u64::from(place) * size as u64).ok()?;
    let (content, checksum) = bytes.split_at_checked(size - CHECKSUM)?;
    Sha256::digest(content).starts_with(checksum).then_some(bytes)
}

fn discard_others(folder: &Path, own: &Path, bytes_max: u64) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut others = Vec::new();
    for path in entries.flatten().map(|entry| entry.path()) {
        let is_pack = path.extension().is_some_and(|extension| extension == "pack" || extension == "new");
        if let Some(metadata) = fs::symlink_metadata(&path).ok().filter(|_| is_pack && path != own) {
            others.push((metadata.modified().ok(), metadata.len(), path));
        }
    }
    others.sort();
    let mut bytes: u64 = others.iter().map(|(_, bytes, _)| *bytes).sum::<u64>() + fs::metadata(own).map_or(0, |own| own.len());
    for (_, size, path) in others {
        if bytes > bytes_max && fs::remove_file(path).is_ok() {
            bytes = bytes.saturating_sub(size);
        }
    }
}

#[cfg(test)]
#[path = "pack_tests.rs"]
mod tests;

//! What is known about each passage besides its words and its vector: its file, its lines and its symbol.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::identifier::{folded, last_name};
use super::passage::Passage;

/// The maximum number of other definitions of a passage whose names lead to it.
const NAMES_MAX: usize = 64;

/// A passage without its text.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) file: u32,
    pub(super) start_line: u32,
    pub(super) end_line: u32,
    pub(super) symbol: Option<Arc<str>>,
    /// The names of its symbol and of other definitions in it, without parents.
    pub(super) names: Box<[Arc<str>]>,
}

/// A file and its passages in the order of the text.
#[derive(Clone, Debug)]
pub(super) struct FileEntry {
    pub(super) path: Arc<str>,
    pub(super) passages: Vec<u64>,
}

/// All passages of a project.
#[derive(Default)]
pub(super) struct Catalogue {
    entries: HashMap<u64, Entry>,
    files: HashMap<u32, FileEntry>,
    /// Passages by the folded name of their symbol.
    names: HashMap<Box<str>, BTreeSet<u64>>,
}

impl Catalogue {
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn entry(&self, id: u64) -> Option<&Entry> {
        self.entries.get(&id)
    }

    pub(super) fn file(&self, file: u32) -> Option<&FileEntry> {
        self.files.get(&file)
    }

    pub(super) fn ids(&self) -> impl Iterator<Item = u64> + '_ {
        self.entries.keys().copied()
    }

    /// The passages of symbols with this name, in any notation.
    pub(super) fn named(&self, folded: &str) -> Option<&BTreeSet<u64>> {
        self.names.get(folded)
    }

    /// Gives each passage its id. It follows from the path and the text, so an unchanged passage has the same id after a restart.
    /// Equal passages of a file, and passages whose ids collide, get the next free ones.
    pub(super) fn number(&self, file: u32, path: &str, passages: Vec<Passage>) -> Vec<(u64, Passage)> {
        let mut taken = HashSet::with_capacity(passages.len());
        let mut numbered = Vec::with_capacity(passages.len());
        for passage in passages {
            let mut id = first_id(path, &passage.hash);
            while taken.contains(&id) || self.entries.get(&id).is_some_and(|entry| entry.file != file) {
                id = id.wrapping_add(1);
            }
            taken.insert(id);
            numbered.push((id, passage));
        }
        numbered
    }

    /// Replaces the passages of a file and returns the ids that are gone.
    pub(super) fn put(&mut self, file: u32, path: &str, entries: Vec<(u64, Entry)>) -> Vec<u64> {
        let before = self.files.remove(&file).map(|file| file.passages).unwrap_or_default();
        for id in &before {
            self.forget(*id);
        }
        let passages: Vec<u64> = entries.iter().map(|(id, _)| *id).collect();
        for (id, entry) in entries {
            for name in &entry.names {
                self.names.entry(folded(name).into_boxed_str()).or_default().insert(id);
            }
            self.entries.insert(id, entry);
        }
        self.files.insert(file, FileEntry { path: path.into(), passages });
        before.into_iter().filter(|id| !self.entries.contains_key(id)).collect()
    }

    /// Removes a file and returns the ids that are gone.
    pub(super) fn remove(&mut self, file: u32) -> Vec<u64> {
        let gone = self.files.remove(&file).map(|file| file.passages).unwrap_or_default();
        for id in &gone {
            self.forget(*id);
        }
        gone
    }

    fn forget(&mut self, id: u64) {
        let names = self.entries.remove(&id).map(|entry| entry.names).unwrap_or_default();
        for name in names.iter().map(|name| folded(name)) {
            if let Some(ids) = self.names.get_mut(name.as_str()) {
                ids.remove(&id);
                if ids.is_empty() {
                    self.names.remove(name.as_str());
                }
            }
        }
    }
}

fn first_id(path: &str, hash: &[u8; 32]) -> u64 {
    let digest = Sha256::new().chain_update(path.as_bytes()).chain_update([0]).chain_update(hash).finalize();
    digest.iter().take(8).fold(0, |id, byte| id << 8 | u64::from(*byte))
}

impl Entry {
    pub(super) fn of(file: u32, passage: &Passage) -> Self {
        let symbol = passage.symbol.clone();
        let own = symbol.as_deref().map(|symbol| last_name(symbol).into());
        let names = own.into_iter().chain(passage.names.iter().take(NAMES_MAX).cloned()).collect();
        Self { file, start_line: passage.start_line, end_line: passage.end_line, symbol, names }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::passage;
    use super::*;

    fn put(catalogue: &mut Catalogue, file: u32, path: &str, texts: &[&str]) -> (Vec<u64>, Vec<u64>) {
        let passages = texts.iter().map(|text| passage(text, Some(text))).collect();
        let numbered = catalogue.number(file, path, passages);
        let ids = numbered.iter().map(|(id, _)| *id).collect();
        let gone = catalogue.put(file, path, numbered.iter().map(|(id, one)| (*id, Entry::of(file, one))).collect());
        (ids, gone)
    }

    #[test]
    fn ids_follow_from_path_and_text() {
        let mut catalogue = Catalogue::default();
        let (first, gone) = put(&mut catalogue, 1, "a.py", &["one", "two", "two"]);
        assert!(gone.is_empty() && first.len() == 3 && catalogue.len() == 3);
        assert_eq!(first[2], first[1].wrapping_add(1), "equal passages get different ids");
        let (second, gone) = put(&mut catalogue, 1, "a.py", &["two", "one", "three"]);
        assert_eq!((second[0], second[1], gone), (first[1], first[0], vec![first[2]]));
        let (other, _) = put(&mut catalogue, 2, "b.py", &["one"]);
        assert_ne!(other[0], first[0]);
    }

    #[test]
    fn names_follow_the_passages() {
        let mut catalogue = Catalogue::default();
        let (ids, _) = put(&mut catalogue, 1, "a.py", &["Class.getUser", "get_user"]);
        assert_eq!(catalogue.named("getuser").map(BTreeSet::len), Some(2));
        put(&mut catalogue, 1, "a.py", &["get_user"]);
        assert_eq!(catalogue.named("getuser"), Some(&BTreeSet::from([ids[1]])));
        assert_eq!(catalogue.remove(1), [ids[1]]);
        assert!(catalogue.named("getuser").is_none() && catalogue.len() == 0 && catalogue.remove(9).is_empty());
    }
}

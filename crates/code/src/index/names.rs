//! Names of a project as numbers. The same text is kept once, however many files use it.
//!
//! A number never changes its meaning, so that an older snapshot can read names while files are added. Names are not removed: they
//! go when the index is dropped.

use std::collections::HashMap;
use std::collections::hash_map::{Entry, RandomState};
use std::hash::BuildHasher as _;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// The number of a name.
pub(crate) type Name = u32;

/// No name.
pub(crate) const NO_NAME: Name = u32::MAX;

/// The names of a project.
#[derive(Default)]
pub(crate) struct Names(RwLock<Known>);

/// The names behind the lock.
#[derive(Default)]
pub(crate) struct Known {
    /// All texts, one after the other.
    texts: String,
    /// The end of each text.
    ends: Vec<u32>,
    /// The first name with each hash. Half of a hash is enough: few names share one, and those are in `others`.
    numbers: HashMap<u32, Name>,
    /// The names whose hash another name has.
    others: HashMap<Box<str>, Name>,
    hasher: RandomState,
}

impl Names {
    pub(crate) fn read(&self) -> RwLockReadGuard<'_, Known> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn write(&self) -> RwLockWriteGuard<'_, Known> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    /// The number of a text. A new text gets a new number.
    pub(crate) fn number(&mut self, text: &str) -> Name {
        if let Some(number) = self.get(text) {
            return number;
        }
        let (Ok(number), Ok(end)) = (Name::try_from(self.ends.len()), u32::try_from(self.texts.len() + text.len())) else {
            return NO_NAME;
        };
        self.texts.push_str(text);
        self.ends.push(end);
        match self.numbers.entry(self.hash(text)) {
            Entry::Vacant(free) => _ = free.insert(number),
            Entry::Occupied(_) => _ = self.others.insert(text.into(), number),
        }
        number
    }

    /// The number of a text that may be missing.
    pub(crate) fn optional(&mut self, text: Option<&str>) -> Name {
        text.map_or(NO_NAME, |text| self.number(text))
    }

    /// The number of a known text.
    pub(crate) fn get(&self, text: &str) -> Option<Name> {
        let first = *self.numbers.get(&self.hash(text))?;
        if self.text(first) == text { Some(first) } else { self.others.get(text).copied() }
    }

    /// The text of a number; empty if there is no such number.
    pub(crate) fn text(&self, name: Name) -> &str {
        self.text_of(name).unwrap_or_default()
    }

    /// The text of a number, unless it is [`NO_NAME`].
    pub(crate) fn text_of(&self, name: Name) -> Option<&str> {
        let place = name as usize;
        let end = *self.ends.get(place)?;
        let start = place.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0);
        self.texts.get(start as usize..end as usize)
    }

    fn hash(&self, text: &str) -> u32 {
        (self.hasher.hash_one(text) >> 32) as u32
    }

    /// The number of names.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The approximate memory in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let table = self.numbers.capacity() * 8 / 7 * (size_of::<(u32, Name)>() + 1);
        self.texts.capacity() + self.ends.capacity() * size_of::<u32>() + table + self.others.len() * 64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_share_a_hash_are_kept_apart() {
        let mut known = Known::default();
        let numbers: Vec<Name> = (0..200_000).map(|number| known.number(&format!("name_{number}"))).collect();
        for (number, name) in (0..200_000).zip(&numbers) {
            let text = format!("name_{number}");
            assert_eq!((known.text(*name), known.get(&text)), (text.as_str(), Some(*name)));
        }
        assert_eq!(known.get("name_200000"), None);
    }

    #[test]
    fn a_text_has_one_number() {
        let names = Names::default();
        let first = names.write().number("a");
        let second = names.write().number("b");
        assert_ne!(first, second);
        assert_eq!(names.write().number("a"), first);
        let known = names.read();
        assert_eq!((known.text(second), known.get("c")), ("b", None));
        assert_eq!((known.text(NO_NAME), known.text_of(NO_NAME)), ("", None));
        drop(known);
        assert_eq!(names.write().optional(None), NO_NAME);
    }
}

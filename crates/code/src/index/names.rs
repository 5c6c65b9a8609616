//! Names of a project as numbers. The same text is kept once, however many files use it.
//!
//! A number never changes its meaning, so that an older snapshot can read names while files are added. Names are not removed: they
//! go when the index is dropped.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

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
    numbers: HashMap<Arc<str>, Name>,
    texts: Vec<Arc<str>>,
    bytes: usize,
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
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        let number = Name::try_from(self.texts.len()).unwrap_or(NO_NAME);
        if number == NO_NAME {
            return NO_NAME;
        }
        let text: Arc<str> = Arc::from(text);
        // The text with its two counters, the place in the list, and the slot in the table.
        self.bytes += text.len() + 16 + size_of::<Arc<str>>() + (size_of::<(Arc<str>, Name)>() + 1) * 8 / 7;
        self.texts.push(Arc::clone(&text));
        self.numbers.insert(text, number);
        number
    }

    /// The number of a text that may be missing.
    pub(crate) fn optional(&mut self, text: Option<&str>) -> Name {
        text.map_or(NO_NAME, |text| self.number(text))
    }

    /// The number of a known text.
    pub(crate) fn get(&self, text: &str) -> Option<Name> {
        self.numbers.get(text).copied()
    }

    /// The text of a number; empty if there is no such number.
    pub(crate) fn text(&self, name: Name) -> &str {
        self.texts.get(name as usize).map_or("", AsRef::as_ref)
    }

    /// The text of a number, unless it is [`NO_NAME`].
    pub(crate) fn text_of(&self, name: Name) -> Option<&str> {
        self.texts.get(name as usize).map(AsRef::as_ref)
    }

    /// The approximate memory in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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

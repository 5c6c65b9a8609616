//! The data of each observation besides its text, so that ranking needs no rows.

use std::collections::HashMap;

use base::Timestamp;

/// The longest time between two neighbours.
const NEIGHBOURS_MS_MAX: i64 = 60 * 60 * 1_000;

/// What the ranking needs to know about an observation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Note {
    pub(crate) created_at: Timestamp,
    pub(crate) weight: f32,
}

/// An observation and its session.
struct Item {
    note: Note,
    session: u32,
}

/// The observations of one project.
#[derive(Default)]
pub(super) struct Known {
    items: HashMap<u64, Item>,
    sessions: HashMap<String, u32>,
    /// The observations of each session, in order.
    said: Vec<Vec<u64>>,
}

impl Known {
    pub(super) fn contains(&self, number: u64) -> bool {
        self.items.contains_key(&number)
    }

    pub(super) fn note(&self, number: u64) -> Option<Note> {
        self.items.get(&number).map(|item| item.note)
    }

    /// Adds an observation, or updates its weight.
    pub(super) fn put(&mut self, number: u64, session: &str, note: Note) {
        if let Some(item) = self.items.get_mut(&number) {
            item.note = note;
            return;
        }
        let place = match self.sessions.get(session) {
            Some(place) => *place,
            None => {
                let place = u32::try_from(self.said.len()).unwrap_or(u32::MAX);
                self.sessions.insert(session.to_owned(), place);
                self.said.push(Vec::new());
                place
            }
        };
        if let Some(said) = self.said.get_mut(place as usize) {
            // Nearly always at the end, because numbers rise.
            let at = said.partition_point(|earlier| *earlier < number);
            said.insert(at, number);
        }
        self.items.insert(number, Item { note, session: place });
    }

    pub(super) fn remove(&mut self, number: u64) {
        if let Some(item) = self.items.remove(&number)
            && let Some(said) = self.said.get_mut(item.session as usize)
        {
            said.retain(|other| *other != number);
        }
    }

    /// The observations that the same session saved `steps` before and after this one, if they are of the same hour.
    pub(super) fn neighbours(&self, number: u64, steps: usize) -> Vec<u64> {
        let Some((item, said)) = self.items.get(&number).and_then(|item| Some((item, self.said.get(item.session as usize)?)))
        else {
            return Vec::new();
        };
        let Ok(at) = said.binary_search(&number) else { return Vec::new() };
        let both = at.checked_sub(steps).into_iter().chain([at + steps]).filter_map(|place| said.get(place).copied());
        let is_near = |other: &u64| {
            let other = self.items.get(other).map(|other| other.note.created_at.ms());
            other.is_some_and(|other| (other - item.note.created_at.ms()).abs() <= NEIGHBOURS_MS_MAX)
        };
        both.filter(is_near).collect()
    }

    /// The approximate memory in bytes.
    pub(super) fn bytes(&self) -> usize {
        const ITEM_BYTES: usize = 64;
        self.items.len() * ITEM_BYTES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_belong_to_the_same_session() {
        let mut known = Known::default();
        let note = Note { created_at: Timestamp::from_ms(0), weight: 1.0 };
        for (number, session) in [(1, "a"), (2, "b"), (5, "a"), (3, "a"), (9, "a")] {
            known.put(number, session, note);
        }
        assert_eq!((known.neighbours(3, 1), known.neighbours(3, 2)), (vec![1, 5], vec![9]));
        assert_eq!((known.neighbours(1, 1), known.neighbours(9, 1)), (vec![3], vec![5]));
        assert!(known.neighbours(2, 1).is_empty() && known.neighbours(7, 1).is_empty());
        known.remove(5);
        assert_eq!(known.neighbours(3, 1), [1, 9]);
        assert!(!known.contains(5));
    }

    #[test]
    fn neighbours_are_of_the_same_hour() {
        let mut known = Known::default();
        for (number, minute) in [(1, 0), (2, 60), (3, 121)] {
            let note = Note { created_at: Timestamp::from_ms(minute * 60_000), weight: 1.0 };
            known.put(number, "a", note);
        }
        assert_eq!((known.neighbours(1, 1), known.neighbours(2, 1)), (vec![2], vec![1]));
    }
}

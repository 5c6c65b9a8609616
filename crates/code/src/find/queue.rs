//! Passages that wait for a vector, the most useful ones first.
//!
//! The queue holds what the model will read, up to a number of bytes. When it is full, the least useful texts are dropped, and their
//! files are named, so that the index can put them again when there is room.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use base::Timestamp;

use super::passage::PassageKind;

/// Passages of files that changed on the same day have the same age.
const DAY_MS: i64 = 24 * 60 * 60 * 1_000;

/// A passage without a vector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Waiting {
    pub(super) id: u64,
    pub(super) file: u32,
    pub(super) kind: PassageKind,
    pub(super) changed_at: Option<Timestamp>,
    pub(super) text: Box<str>,
}

/// Kind, day of the change, length, id.
type Turn = (PassageKind, Reverse<i64>, usize, u64);

/// The waiting passages of a project.
pub(super) struct Queue {
    turns: BTreeMap<Turn, Waiting>,
    places: HashMap<u64, Turn>,
    bytes: usize,
    bytes_max: usize,
    /// Files with dropped texts.
    dropped: BTreeSet<u32>,
}

impl Queue {
    pub(super) fn new(bytes_max: usize) -> Self {
        Self { turns: BTreeMap::new(), places: HashMap::new(), bytes: 0, bytes_max, dropped: BTreeSet::new() }
    }

    pub(super) fn len(&self) -> usize {
        self.turns.len()
    }

    pub(super) fn push(&mut self, waiting: Waiting) {
        let day = waiting.changed_at.map_or(i64::MIN, |changed| changed.ms().div_euclid(DAY_MS));
        let turn = (waiting.kind, Reverse(day), waiting.text.len(), waiting.id);
        self.remove(waiting.id);
        self.bytes += waiting.text.len();
        self.places.insert(waiting.id, turn);
        self.turns.insert(turn, waiting);
        while self.bytes > self.bytes_max {
            let Some((turn, last)) = self.turns.pop_last() else { break };
            self.places.remove(&turn.3);
            self.bytes = self.bytes.saturating_sub(last.text.len());
            self.dropped.insert(last.file);
        }
    }

    pub(super) fn remove(&mut self, id: u64) {
        if let Some(waiting) = self.places.remove(&id).and_then(|turn| self.turns.remove(&turn)) {
            self.bytes = self.bytes.saturating_sub(waiting.text.len());
        }
    }

    /// Forgets that texts of a file were dropped: it was put again or removed.
    pub(super) fn renew(&mut self, file: u32) {
        self.dropped.remove(&file);
    }

    /// The next passages. They leave the queue.
    pub(super) fn take(&mut self, most: usize) -> Vec<Waiting> {
        let mut taken = Vec::new();
        while taken.len() < most {
            let Some((turn, waiting)) = self.turns.pop_first() else { break };
            self.places.remove(&turn.3);
            self.bytes = self.bytes.saturating_sub(waiting.text.len());
            taken.push(waiting);
        }
        taken
    }

    /// Some files whose texts were dropped, if there is room for them again.
    pub(super) fn to_put_again(&self, most: usize) -> Vec<u32> {
        if self.bytes > self.bytes_max / 2 { Vec::new() } else { self.dropped.iter().take(most).copied().collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waiting(id: u64, kind: PassageKind, day: i64, text: &str) -> Waiting {
        Waiting { id, file: id as u32, kind, changed_at: Some(Timestamp::from_ms(day * DAY_MS)), text: text.into() }
    }

    #[test]
    fn the_most_useful_come_first() {
        let mut queue = Queue::new(1_000);
        for one in [
            waiting(1, PassageKind::Text, 9, "t"),
            waiting(2, PassageKind::Code, 1, "old"),
            waiting(3, PassageKind::Code, 2, "new but longer"),
            waiting(4, PassageKind::Code, 2, "new"),
            waiting(5, PassageKind::Documented, 0, "documented"),
        ] {
            queue.push(one);
        }
        assert_eq!(queue.take(10).iter().map(|one| one.id).collect::<Vec<_>>(), [5, 4, 3, 2, 1]);
        assert!(queue.take(1).is_empty() && queue.bytes == 0);
    }

    #[test]
    fn a_full_queue_drops_the_least_useful_and_names_their_files() {
        let mut queue = Queue::new(10);
        queue.push(waiting(1, PassageKind::Text, 0, "12345"));
        queue.push(waiting(2, PassageKind::Code, 0, "12345"));
        queue.push(waiting(3, PassageKind::Documented, 0, "1"));
        assert_eq!((queue.len(), queue.bytes), (2, 6));
        assert!(queue.to_put_again(5).is_empty(), "there is no room yet");
        queue.take(5);
        assert_eq!(queue.to_put_again(5), [1]);
        queue.renew(1);
        assert!(queue.to_put_again(5).is_empty());
        queue.push(waiting(7, PassageKind::Code, 0, &"x".repeat(100)));
        assert_eq!((queue.len(), queue.bytes), (0, 0), "a text that is too long by itself");
    }

    #[test]
    fn a_passage_waits_once() {
        let mut queue = Queue::new(100);
        queue.push(waiting(1, PassageKind::Code, 0, "a"));
        queue.push(waiting(1, PassageKind::Text, 0, "bb"));
        assert_eq!((queue.len(), queue.bytes), (1, 2));
        queue.remove(1);
        queue.remove(1);
        assert_eq!((queue.len(), queue.bytes), (0, 0));
    }
}

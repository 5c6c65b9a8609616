//! A heap of nodes in which a node can move up.

use crate::distances::Counters;
use crate::labels::Key;

/// A node has this many children: the heap is flatter than a binary one, and children are next to each other in memory.
const CHILDREN: usize = 4;
const ABSENT: u32 = u32::MAX;

/// A heap that holds each number once. The least key is first.
#[derive(Debug, Default)]
pub(crate) struct Heap {
    keys: Vec<Key>,
    /// The place of each number in the heap.
    places: Vec<u32>,
}

impl Heap {
    /// Adds a number, or moves it up if its new key is less than its old one.
    pub(crate) fn push(&mut self, key: Key, counters: &mut Counters) {
        let number = key.number as usize;
        if number >= self.places.len() {
            self.places.resize(number + 1, ABSENT);
        }
        let place = self.places.get(number).copied().unwrap_or(ABSENT) as usize;
        match self.keys.get_mut(place) {
            Some(known) if key < *known => {
                *known = key;
                counters.heap_decreases += 1;
                self.rise(place, counters);
            }
            Some(_) => {}
            None => {
                self.keys.push(key);
                counters.heap_pushes += 1;
                self.rise(self.keys.len() - 1, counters);
            }
        }
    }

    /// Takes the least key.
    pub(crate) fn pop(&mut self, counters: &mut Counters) -> Option<Key> {
        let last = self.keys.pop()?;
        counters.heap_pops += 1;
        let first = match self.keys.first_mut() {
            None => last,
            Some(first) => {
                let first = std::mem::replace(first, last);
                self.sink(counters);
                first
            }
        };
        self.put(first.number, ABSENT as usize);
        Some(first)
    }

    /// Removes everything. The cost depends on what is left.
    pub(crate) fn clear(&mut self) {
        for key in self.keys.drain(..) {
            if let Some(place) = self.places.get_mut(key.number as usize) {
                *place = ABSENT;
            }
        }
    }

    fn rise(&mut self, mut place: usize, counters: &mut Counters) {
        let Some(key) = self.keys.get(place).copied() else { return };
        while place > 0 {
            let above = (place - 1) / CHILDREN;
            counters.comparisons += 1;
            let Some(parent) = self.keys.get(above).copied().filter(|parent| key < *parent) else { break };
            self.set(place, parent);
            place = above;
        }
        self.set(place, key);
    }

    fn sink(&mut self, counters: &mut Counters) {
        let mut place = 0;
        let Some(key) = self.keys.first().copied() else { return };
        loop {
            let first = place * CHILDREN + 1;
            let end = self.keys.len().min(first + CHILDREN);
            let children = self.keys.get(first..end).unwrap_or_default();
            counters.comparisons += children.len() as u64;
            let least = (first..).zip(children).min_by_key(|(_, child)| **child);
            let Some((below, child)) = least.filter(|(_, child)| **child < key) else { break };
            let child = *child;
            self.set(place, child);
            place = below;
        }
        self.set(place, key);
    }

    fn set(&mut self, place: usize, key: Key) {
        if let Some(slot) = self.keys.get_mut(place) {
            *slot = key;
        }
        self.put(key.number, place);
    }

    fn put(&mut self, number: u32, place: usize) {
        if let Some(slot) = self.places.get_mut(number as usize) {
            *slot = u32::try_from(place).unwrap_or(ABSENT);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(length: u32, number: u32) -> Key {
        Key::new(f64::from(length), 0, number, number)
    }

    fn drained(heap: &mut Heap, counters: &mut Counters) -> Vec<Key> {
        std::iter::from_fn(|| heap.pop(counters)).collect()
    }

    #[test]
    fn keys_come_out_in_order() {
        let (mut heap, mut counters) = (Heap::default(), Counters::default());
        let keys: Vec<_> = (0..1_000).map(|number| key(number * 7_919 % 256, number)).collect();
        for key in &keys {
            heap.push(*key, &mut counters);
        }
        let mut sorted = keys;
        sorted.sort_unstable();
        assert_eq!(drained(&mut heap, &mut counters), sorted);
        assert_eq!((counters.heap_pushes, counters.heap_pops, counters.heap_decreases), (1_000, 1_000, 0));
        assert!((2_000..20_000).contains(&counters.comparisons), "{}", counters.comparisons);
    }

    #[test]
    fn a_number_moves_up_but_never_down() {
        let (mut heap, mut counters) = (Heap::default(), Counters::default());
        for number in 0..100 {
            heap.push(key(100 + number, number), &mut counters);
        }
        heap.push(key(3, 70), &mut counters);
        heap.push(key(2, 90), &mut counters);
        heap.push(key(999, 0), &mut counters);
        let order: Vec<_> = drained(&mut heap, &mut counters).iter().map(|key| key.number).collect();
        let rest = (0..100).filter(|number| ![70, 90].contains(number));
        assert_eq!(order, [90, 70].into_iter().chain(rest).collect::<Vec<_>>());
        assert_eq!((counters.heap_pushes, counters.heap_decreases), (100, 2));
    }

    #[test]
    fn a_cleared_heap_has_forgotten_everything() {
        let (mut heap, mut counters) = (Heap::default(), Counters::default());
        for number in 0..10 {
            heap.push(key(5, number), &mut counters);
        }
        heap.clear();
        heap.push(key(9, 4), &mut counters);
        assert_eq!(drained(&mut heap, &mut counters), [key(9, 4)], "not compared with its old key");
    }
}

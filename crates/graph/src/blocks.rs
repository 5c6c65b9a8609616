//! A queue that is only sorted in part: blocks are in order, the keys within a block are not.
//!
//! It is the data structure of Lemma 3.3 of the paper that [`crate::fre()`] follows. A pull takes the least keys, up to a fixed
//! number of them, without sorting them. Keys that are less than all others are put in front as a batch, which costs less than
//! inserting them.
//!
//! A node that moves up is inserted again. Its old key stays and is dropped when its block is divided or pulled: `is_open` says
//! which keys still count.

use std::collections::BTreeMap;

use crate::distances::Counters;
use crate::labels::Key;

#[derive(Debug)]
pub(crate) struct Blocks {
    /// The maximum number of keys of a pull and, if none of them are outdated, of a block.
    size: usize,
    /// All keys are less.
    bound: Key,
    /// The batches put in front, the least keys in the last block.
    front: Vec<Vec<Key>>,
    /// The inserted keys by the greatest key that their block can hold. There is always a block for the bound.
    inserted: BTreeMap<Key, Vec<Key>>,
}

impl Blocks {
    pub(crate) fn new(size: usize, bound: Key) -> Self {
        Self { size: size.max(1), bound, front: Vec::new(), inserted: BTreeMap::from([(bound, Vec::new())]) }
    }

    /// Inserts a key.
    pub(crate) fn insert(&mut self, key: Key, is_open: impl Fn(&Key) -> bool, counters: &mut Counters) {
        counters.inserts += 1;
        counters.comparisons += u64::from(self.inserted.len().ilog2()) + 1;
        let Some((end, block)) = self.inserted.range_mut(key..).next() else { return };
        block.push(key);
        if block.len() <= self.size {
            return;
        }
        block.retain(is_open);
        if block.len() > self.size {
            let (end, greater) = (*end, divide(block, counters));
            let less = std::mem::replace(block, greater);
            // Only the same key twice can reach the end of the block.
            match less.iter().max().copied().filter(|greatest| *greatest < end) {
                Some(greatest) => _ = self.inserted.insert(greatest, less),
                None => block.extend(less),
            }
        }
    }

    /// Puts keys in front that are less than all others.
    pub(crate) fn prepend(&mut self, batch: Vec<Key>, counters: &mut Counters) {
        if batch.is_empty() {
            return;
        }
        counters.prepends += 1;
        counters.prepended += batch.len() as u64;
        // Blocks of a large batch are at least a quarter full, so there are not many.
        let most = if batch.len() <= self.size { self.size } else { self.size.div_ceil(2) };
        let mut batches = vec![batch];
        while let Some(mut block) = batches.pop() {
            if block.len() <= most {
                self.front.push(block);
            } else {
                let greater = divide(&mut block, counters);
                batches.push(block);
                batches.push(greater);
            }
        }
    }

    /// Takes the least keys, and returns them with a key that separates them from the rest: they are less, the rest is not.
    /// `is_open` must refuse a key that it has already been asked about during this pull.
    pub(crate) fn pull(&mut self, mut is_open: impl FnMut(&Key) -> bool, counters: &mut Counters) -> Option<(Key, Vec<Key>)> {
        // One key more than a pull can hold, from both parts of the queue, includes the least key of the rest.
        let (mut front, mut inserted) = (Vec::new(), Vec::new());
        let mut count = 0;
        while count <= self.size
            && let Some(mut block) = self.front.pop()
        {
            block.retain(&mut is_open);
            count += block.len();
            front.push(block);
        }
        count = 0;
        while count <= self.size
            && let Some((end, mut block)) = self.inserted.pop_first()
        {
            block.retain(&mut is_open);
            count += block.len();
            inserted.push((end, block));
        }
        let mut keys: Vec<Key> = front.iter().chain(inserted.iter().map(|(_, block)| block)).flatten().copied().collect();
        let mut rest = self.bound;
        if keys.len() > self.size {
            // Dividing the blocks below compares each key once.
            counters.comparisons += keys.len() as u64;
            rest = select(&mut keys, self.size, counters);
            keys.truncate(self.size);
        }
        for mut block in front.into_iter().rev() {
            block.retain(|key| *key >= rest);
            if !block.is_empty() {
                self.front.push(block);
            }
        }
        for (end, mut block) in inserted {
            block.retain(|key| *key >= rest);
            if !block.is_empty() || end == self.bound {
                self.inserted.insert(end, block);
            }
        }
        if keys.is_empty() {
            return None;
        }
        counters.pulls += 1;
        counters.pulled += keys.len() as u64;
        Some((rest, keys))
    }
}

/// Divides a block at its median. Returns the greater half.
fn divide(block: &mut Vec<Key>, counters: &mut Counters) -> Vec<Key> {
    let middle = block.len() / 2;
    select(block, middle, counters);
    block.split_off(middle)
}

/// The key at a place in the order. Less keys are then before it, greater ones after it.
fn select(keys: &mut [Key], place: usize, counters: &mut Counters) -> Key {
    counters.selections += 1;
    let comparisons = &mut counters.comparisons;
    let (_, key, _) = keys.select_nth_unstable_by(place, |one, other| {
        *comparisons += 1;
        one.cmp(other)
    });
    *key
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, HashSet};

    use proptest::prelude::*;

    use super::*;

    fn key(length: u32, number: u32) -> Key {
        Key::new(f64::from(length), 0, number, number)
    }

    fn pulled(queue: &mut Blocks, counters: &mut Counters) -> Option<(Key, Vec<Key>)> {
        let mut asked = HashSet::new();
        let (rest, mut keys) = queue.pull(|key| asked.insert(key.number), counters)?;
        keys.sort_unstable();
        Some((rest, keys))
    }

    #[test]
    fn a_pull_takes_the_least_keys_from_both_parts() {
        let (mut queue, mut counters) = (Blocks::new(3, key(100, 0)), Counters::default());
        for number in [9, 5, 7, 20, 11, 13, 8] {
            queue.insert(key(number, number), |_| true, &mut counters);
        }
        queue.prepend(vec![key(4, 4), key(2, 2)], &mut counters);
        assert_eq!(pulled(&mut queue, &mut counters), Some((key(7, 7), vec![key(2, 2), key(4, 4), key(5, 5)])));
        queue.prepend((30..40).map(|number| key(number - 30, number)).collect(), &mut counters);
        assert_eq!(pulled(&mut queue, &mut counters), Some((key(3, 33), vec![key(0, 30), key(1, 31), key(2, 32)])));
        assert_eq!((counters.inserts, counters.prepends, counters.prepended, counters.pulls), (7, 2, 12, 2));
    }

    #[test]
    fn the_last_pull_is_separated_by_the_bound() {
        let (mut queue, mut counters) = (Blocks::new(4, key(100, 0)), Counters::default());
        assert_eq!(pulled(&mut queue, &mut counters), None);
        queue.insert(key(1, 1), |_| true, &mut counters);
        assert_eq!(pulled(&mut queue, &mut counters), Some((key(100, 0), vec![key(1, 1)])));
        queue.insert(key(2, 2), |_| true, &mut counters);
        assert_eq!(pulled(&mut queue, &mut counters), Some((key(100, 0), vec![key(2, 2)])), "it can be used again");
        assert_eq!(pulled(&mut queue, &mut counters), None);
    }

    #[test]
    fn the_same_key_is_pulled_once() {
        let (mut queue, mut counters) = (Blocks::new(2, Key::LAST), Counters::default());
        for _ in 0..50 {
            queue.insert(key(1, 1), |_| true, &mut counters);
        }
        queue.insert(key(3, 3), |_| true, &mut counters);
        queue.prepend(vec![key(0, 0); 9], &mut counters);
        assert_eq!(pulled(&mut queue, &mut counters), Some((key(3, 3), vec![key(0, 0), key(1, 1)])));
    }

    proptest! {
        #[test]
        fn it_behaves_like_a_sorted_map(
            size in 1..20_usize,
            steps in prop::collection::vec((0..4_u8, prop::collection::vec((0..500_u32, 0..60_u32), 0..30)), 0..40),
        ) {
            let (mut queue, mut counters) = (Blocks::new(size, key(1_000, 0)), Counters::default());
            let mut model: BTreeMap<u32, Key> = BTreeMap::new();
            for (step, keys) in steps {
                let least = model.values().min().copied().unwrap_or(key(1_000, 0));
                let keys = keys.into_iter().map(|(length, number)| key(1 + length, number));
                match step {
                    0 | 1 => for new in keys {
                        let known = model.entry(new.number).or_insert(new);
                        *known = new.min(*known);
                        if *known == new {
                            queue.insert(new, |key| model.get(&key.number) == Some(key), &mut counters);
                        }
                    },
                    2 => {
                        let less: BTreeMap<_, _> = keys.filter(|new| *new < least).map(|new| (new.number, new)).collect();
                        queue.prepend(less.values().copied().collect(), &mut counters);
                        model.extend(less);
                    }
                    _ => {
                        let mut asked = HashSet::new();
                        let is_open = |key: &Key| model.get(&key.number) == Some(key) && asked.insert(key.number);
                        let pulled = queue.pull(is_open, &mut counters);
                        let mut sorted: Vec<_> = model.values().copied().collect();
                        sorted.sort_unstable();
                        let taken: Vec<_> = sorted.iter().take(size).copied().collect();
                        let rest = sorted.get(size).copied().unwrap_or(key(1_000, 0));
                        model.retain(|_, key| *key >= rest);
                        let pulled = pulled.map(|(rest, mut keys)| { keys.sort_unstable(); (rest, keys) });
                        prop_assert_eq!(pulled, (!taken.is_empty()).then_some((rest, taken)));
                    }
                }
                prop_assert!(queue.front.iter().all(|block| block.len() <= size));
            }
        }
    }
}

//! Which sources of a search are worth a search of their own.
//!
//! A few steps from all sources complete the nodes with short paths. A node with a longer path is reached through a source that
//! many found nodes hang on. There are few such sources: the pivots.

use crate::fre::Search;
use crate::labels::Key;

/// A set of numbers, each with its place, that is emptied in no time.
#[derive(Debug, Default)]
pub(crate) struct Marks {
    /// The time of each number's insertion, and its place.
    marks: Vec<(u32, u32)>,
    time: u32,
}

impl Marks {
    pub(crate) fn clear(&mut self) {
        match self.time.checked_add(1) {
            Some(time) => self.time = time,
            None => {
                self.marks.clear();
                self.time = 1;
            }
        }
    }

    /// Inserts a number. Returns whether it is new.
    #[inline]
    pub(crate) fn insert(&mut self, number: u32, place: usize) -> bool {
        let number = number as usize;
        if number >= self.marks.len() {
            self.marks.resize(number + 1, (0, 0));
        }
        let Some(mark) = self.marks.get_mut(number).filter(|mark| mark.0 != self.time) else { return false };
        *mark = (self.time, u32::try_from(place).unwrap_or(u32::MAX));
        true
    }

    /// The place of a number that is in the set.
    #[inline]
    fn place(&self, number: u32) -> Option<u32> {
        self.marks.get(number as usize).filter(|mark| mark.0 == self.time).map(|mark| mark.1)
    }
}

impl<E, A: Fn(&E) -> bool, W: Fn(&E) -> f64> Search<'_, E, A, W> {
    /// The paper's FindPivots. Returns the pivots and all nodes found. If the steps find too many nodes, all sources are pivots;
    /// the found nodes are then not needed, because a search through all sources finds them again.
    pub(crate) fn find_pivots(&mut self, bound: Key, starts: &[u32]) -> (Vec<u32>, Vec<u32>) {
        let most = self.steps.saturating_mul(starts.len());
        self.marks.clear();
        let mut near = Vec::with_capacity(starts.len());
        for start in starts {
            if self.marks.insert(*start, near.len()) {
                near.push(*start);
            }
        }
        let mut layer = near.clone();
        for _ in 0..self.steps {
            self.round.clear();
            let mut next = Vec::new();
            for number in layer {
                let (start, end) = self.edges(number);
                for place in start..end {
                    let Some(reached) = self.relax(number, place).filter(|reached| *reached < bound) else { continue };
                    if self.marks.insert(reached.number, near.len()) {
                        near.push(reached.number);
                    }
                    if self.round.insert(reached.number, 0) {
                        next.push(reached.number);
                    }
                }
                if near.len() > most {
                    return (starts.to_vec(), Vec::new());
                }
            }
            layer = next;
        }
        let sizes = tree_sizes(near.iter().map(|number| self.labels.before(*number).and_then(|before| self.marks.place(before))));
        let sizes = near.iter().zip(sizes);
        let pivots = sizes.filter(|(_, size)| *size >= self.steps).map(|(number, _)| *number).collect();
        (pivots, near)
    }
}

/// The number of nodes in the tree below each root, and zero for other nodes. Each node comes with its parent, if it has one.
fn tree_sizes(parents: impl Iterator<Item = Option<u32>>) -> Vec<usize> {
    // A root is its own parent.
    let mut above: Vec<u32> = (0..).zip(parents).map(|(place, parent)| parent.unwrap_or(place)).collect();
    let mut sizes = vec![0; above.len()];
    let parent = |above: &[u32], place: u32| above.get(place as usize).copied().unwrap_or(place);
    for start in (0..).take(above.len()) {
        let mut root: u32 = start;
        while parent(&above, root) != root {
            root = parent(&above, root);
        }
        // Later walks take the short way.
        let mut place = start;
        while place != root {
            let next = parent(&above, place);
            if let Some(slot) = above.get_mut(place as usize) {
                *slot = root;
            }
            place = next;
        }
        if let Some(size) = sizes.get_mut(root as usize) {
            *size += 1;
        }
    }
    sizes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trees_are_counted_at_their_roots() {
        let parents = [None, Some(0), Some(1), None, Some(2), None, Some(5)];
        assert_eq!(tree_sizes(parents.into_iter()), [4, 0, 0, 1, 0, 2, 0]);
        let line = (0..100_000_u32).map(|place| place.checked_sub(1));
        assert_eq!(tree_sizes(line).iter().max(), Some(&100_000));
        let turned = (0..100_000_u32).map(|place| (place < 99_999).then_some(place + 1));
        assert_eq!(tree_sizes(turned).last(), Some(&100_000));
    }

    #[test]
    fn marks_are_forgotten_when_cleared() {
        let mut marks = Marks::default();
        marks.clear();
        assert!(marks.insert(5, 7));
        assert!(!marks.insert(5, 8));
        assert_eq!((marks.place(5), marks.place(4), marks.place(9)), (Some(7), None, None));
        marks.clear();
        assert_eq!(marks.place(5), None);
        marks.time = u32::MAX;
        assert!(marks.insert(5, 1));
        marks.clear();
        assert_eq!(marks.place(5), None, "also when time starts again");
        assert!(marks.insert(5, 2));
    }
}

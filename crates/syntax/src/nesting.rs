//! Which definition is the innermost around a place. Places are asked in the order of the text, so one pass answers all of them.

use std::cmp::Reverse;
use std::iter::Peekable;
use std::vec::IntoIter;

/// A range of the text that stands for a definition. `None` stands for a block whose type is not in the file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Range {
    pub(crate) start: u32,
    pub(crate) end: u32,
    pub(crate) definition: Option<u32>,
}

/// The ranges of a text.
pub(crate) struct Nesting {
    coming: Peekable<IntoIter<Range>>,
    open: Vec<Range>,
}

impl Nesting {
    pub(crate) fn new(mut ranges: Vec<Range>) -> Self {
        ranges.sort_by_key(|range| (range.start, Reverse(range.end), range.definition));
        Self { coming: ranges.into_iter().peekable(), open: Vec::new() }
    }

    /// The innermost definition around `place`. Places must not go back.
    pub(crate) fn innermost(&mut self, place: u32) -> Option<u32> {
        while let Some(range) = self.coming.next_if(|range| range.start <= place) {
            while self.open.pop_if(|open| open.end <= range.start).is_some() {}
            self.open.push(range);
        }
        while self.open.pop_if(|open| open.end <= place).is_some() {}
        self.open.last().and_then(|range| range.definition)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_range_wins() {
        let range = |start, end, definition| Range { start, end, definition };
        let mut nesting =
            Nesting::new(vec![range(2, 5, Some(1)), range(0, 10, Some(0)), range(12, 20, None), range(13, 15, Some(2))]);
        let answers: Vec<_> = [0, 2, 4, 5, 11, 12, 14, 16, 30].map(|place| nesting.innermost(place)).into();
        assert_eq!(answers, [Some(0), Some(1), Some(1), Some(0), None, None, Some(2), None, None]);
    }
}

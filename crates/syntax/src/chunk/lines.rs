//! The lines of a text, and splitting them. Lines are counted from 0, and ranges end before their end.

/// The lines of a text.
pub(super) struct Lines<'a> {
    text: &'a str,
    /// Where each line starts, and the end of the text.
    starts: Vec<usize>,
    /// Whether each line has only white space.
    blank: Vec<bool>,
}

impl<'a> Lines<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let mut starts = vec![0];
        let mut blank = Vec::new();
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            at += line.len();
            starts.push(at);
            blank.push(line.trim().is_empty());
        }
        Self { text, starts, blank }
    }

    pub(super) fn len(&self) -> usize {
        self.blank.len()
    }

    pub(super) fn is_blank(&self, line: usize) -> bool {
        self.blank.get(line).copied().unwrap_or(true)
    }

    /// A line without its line break.
    pub(super) fn get(&self, line: usize) -> &'a str {
        let (start, end) = self.bytes(line, line + 1);
        self.text.get(start..end).unwrap_or_default().trim_end_matches(['\n', '\r'])
    }

    /// The first byte of `first`, and the byte after the last of the line before `end`, without its line break.
    pub(super) fn bytes(&self, first: usize, end: usize) -> (usize, usize) {
        let at = |line: usize| self.starts.get(line).copied().unwrap_or(self.text.len());
        let (start, end) = (at(first), at(end));
        let kept = self.text.get(start..end).unwrap_or_default().trim_end_matches(['\n', '\r']).len();
        (start, start + kept)
    }

    /// The range without blank lines at its ends; empty if nothing is left.
    pub(super) fn trim(&self, mut first: usize, mut end: usize) -> (usize, usize) {
        while first < end && self.is_blank(first) {
            first += 1;
        }
        while first < end && self.is_blank(end - 1) {
            end -= 1;
        }
        (first, end)
    }

    /// Splits a range into parts of at most `lines_max` lines and about `bytes_max` bytes, at blank lines where there are any.
    pub(super) fn split(&self, first: usize, end: usize, lines_max: usize, bytes_max: usize) -> Vec<(usize, usize)> {
        let mut parts = Vec::new();
        let (mut first, end) = self.trim(first, end);
        while first < end {
            let start_byte = self.starts.get(first).copied().unwrap_or_default();
            let fits = (first + 1..=end).take(lines_max).take_while(|line| self.bytes_to(*line) - start_byte <= bytes_max).last();
            // One line alone is a part, however long it is.
            let most = fits.unwrap_or(first + 1);
            let cut = if most == end { end } else { self.blank_before(first, most).unwrap_or(most) };
            let part = self.trim(first, cut);
            if part.0 < part.1 {
                parts.push(part);
            }
            first = self.trim(cut, end).0.max(cut);
        }
        parts
    }

    /// Splits bytes into parts of at most `bytes_max`, between characters.
    pub(super) fn split_bytes(&self, start: usize, end: usize, bytes_max: usize) -> Vec<(usize, usize)> {
        let mut parts = Vec::new();
        let mut start = start;
        while end - start > bytes_max {
            let cut = self.text.floor_char_boundary(start + bytes_max);
            parts.push((start, cut));
            start = cut;
        }
        parts.push((start, end));
        parts
    }

    fn bytes_to(&self, line: usize) -> usize {
        self.starts.get(line).copied().unwrap_or(self.text.len())
    }

    /// The last blank line in the range, if it does not leave too small a part.
    fn blank_before(&self, first: usize, end: usize) -> Option<usize> {
        let least = first + (end - first) / 3;
        (least..=end).rev().find(|line| *line > first && self.is_blank(*line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_split_at_blank_lines() {
        let lines = Lines::new("a\nb\n\nc\nd\n\n\ne\n");
        assert_eq!(lines.len(), 8);
        assert_eq!(lines.split(0, 8, 4, 1000), [(0, 2), (3, 5), (7, 8)]);
        assert_eq!(lines.split(0, 8, 100, 1000), [(0, 8)]);
        assert_eq!(lines.split(0, 8, 100, 5), [(0, 2), (3, 5), (7, 8)]);
        assert_eq!(lines.split(2, 3, 4, 1000), []);
    }

    #[test]
    fn lines_without_blanks_are_split_all_the_same() {
        let text = "x\n".repeat(10);
        let lines = Lines::new(&text);
        assert_eq!(lines.split(0, 10, 4, 1000), [(0, 4), (4, 8), (8, 10)]);
        assert_eq!(lines.bytes(0, 2), (0, 3));
    }

    #[test]
    fn bytes_are_split_between_characters() {
        let lines = Lines::new("éééé");
        assert_eq!(lines.split_bytes(0, 8, 3), [(0, 2), (2, 4), (4, 6), (6, 8)]);
        assert_eq!(lines.split_bytes(0, 0, 3), [(0, 0)]);
    }
}

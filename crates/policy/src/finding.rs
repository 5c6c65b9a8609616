//! Problems in a policy text, with their positions.

/// One problem. Line and column count from 1, columns in Unicode scalar values, as editors show them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
    /// The problem, and what may help.
    pub message: String,
}

impl std::fmt::Display for Finding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)
    }
}

/// A problem with its position as a byte offset, as the parser counts.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Complaint {
    pub(crate) offset: usize,
    pub(crate) message: String,
}

impl Complaint {
    pub(crate) fn new(offset: usize, message: impl Into<String>) -> Self {
        Self { offset, message: message.into() }
    }
}

/// The problems with lines and columns, in text order and without duplicates.
pub(crate) fn located(text: &str, mut complaints: Vec<Complaint>) -> Vec<Finding> {
    complaints.sort();
    complaints.dedup();
    let mut places = Places::new(text);
    complaints
        .into_iter()
        .map(|complaint| {
            let (line, column) = places.place(complaint.offset);
            Finding { line, column, message: complaint.message }
        })
        .collect()
}

/// Converts byte offsets to lines and columns in one pass. Thousands of findings on one very long line must not take thousands
/// of passes.
pub(crate) struct Places<'a> {
    rest: std::str::CharIndices<'a>,
    line: usize,
    column: usize,
}

impl<'a> Places<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { rest: text.char_indices(), line: 1, column: 1 }
    }

    /// The line and column of `offset`. Offsets must not decrease from call to call.
    pub(crate) fn place(&mut self, offset: usize) -> (usize, usize) {
        while self.rest.offset() < offset {
            match self.rest.next() {
                Some((_, '\n')) => {
                    self.line += 1;
                    self.column = 1;
                }
                Some(_) => self.column += 1,
                None => break,
            }
        }
        (self.line, self.column)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters_not_bytes() {
        let text = "äö\n日本x\r\ny";
        let mut places = Places::new(text);
        for (needle, place) in [("ä", (1, 1)), ("ö", (1, 2)), ("x", (2, 3)), ("y", (3, 1))] {
            assert_eq!(places.place(text.find(needle).unwrap()), place, "{needle}");
        }
        assert_eq!(places.place(text.len() + 7), (3, 2), "an offset past the end is the end");
    }

    #[test]
    fn findings_are_in_text_order_without_duplicates() {
        let complaints = vec![Complaint::new(3, "b"), Complaint::new(0, "a"), Complaint::new(3, "b"), Complaint::new(3, "a")];
        let findings: Vec<String> = located("x\ny\nz", complaints).iter().map(Finding::to_string).collect();
        assert_eq!(findings, ["1:1: a", "2:2: a", "2:2: b"]);
    }
}

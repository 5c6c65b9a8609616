//! Reads lines from stdin, up to a maximum length. Of a longer line, only the id is kept.

use std::io;

use serde_json::value::RawValue;
use tokio::io::{AsyncBufRead, AsyncBufReadExt};

use super::id_scan::IdScan;

/// One line of input.
#[derive(Debug)]
pub(super) enum Input {
    /// A line without its line break.
    Line(Vec<u8>),
    /// A line over the limit, and its id if it is a request.
    TooLong(Option<Box<RawValue>>),
}

/// A line reader.
pub(super) struct Lines<R> {
    input: R,
    bytes_max: usize,
    line: Vec<u8>,
    /// Scans for the id once the line is over the limit.
    too_long: Option<IdScan>,
}

impl<R: AsyncBufRead + Unpin> Lines<R> {
    pub(super) fn new(input: R, bytes_max: usize) -> Self {
        Self { input, bytes_max, line: Vec::new(), too_long: None }
    }

    /// Reads the next line, or `None` at the end. This is cancel safe: a partial line stays buffered here.
    pub(super) async fn next(&mut self) -> io::Result<Option<Input>> {
        loop {
            let available = self.input.fill_buf().await?;
            if available.is_empty() {
                let rest = !self.line.is_empty() || self.too_long.is_some();
                return Ok(rest.then(|| self.take()));
            }
            let end = available.iter().position(|byte| *byte == b'\n');
            let piece = available.get(..end.unwrap_or(available.len())).unwrap_or_default();
            // Allow one more byte, which may be the `\r` of the line break.
            if self.too_long.is_none() && self.line.len() + piece.len() > self.bytes_max.saturating_add(1) {
                self.too_long = Some(IdScan::of(&std::mem::take(&mut self.line)));
            }
            match &mut self.too_long {
                Some(scan) => scan.push(piece),
                None => self.line.extend_from_slice(piece),
            }
            let used = piece.len() + usize::from(end.is_some());
            self.input.consume(used);
            if end.is_some() {
                return Ok(Some(self.take()));
            }
        }
    }

    fn take(&mut self) -> Input {
        let mut line = std::mem::take(&mut self.line);
        if line.last() == Some(&b'\r') {
            line.pop();
        }
        match self.too_long.take() {
            Some(scan) => Input::TooLong(scan.id()),
            None if line.len() > self.bytes_max => Input::TooLong(IdScan::of(&line).id()),
            None => Input::Line(line),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::BufReader;

    async fn read(text: &str, capacity: usize, bytes_max: usize) -> Vec<Option<String>> {
        let mut lines = Lines::new(BufReader::with_capacity(capacity, text.as_bytes()), bytes_max);
        let mut read = Vec::new();
        while let Some(input) = lines.next().await.unwrap() {
            read.push(match input {
                Input::Line(line) => Some(String::from_utf8(line).unwrap()),
                Input::TooLong(_) => None,
            });
        }
        read
    }

    #[tokio::test]
    async fn lines_are_complete_for_any_buffer_size() {
        for capacity in [1, 3, 4096] {
            let read = read("one\r\n\ntwo\n12345\n12345\r\n123456\n123456\r\nlast", capacity, 5).await;
            let some = |text: &str| Some(text.to_owned());
            let lines = [some("one"), some(""), some("two"), some("12345"), some("12345"), None, None, some("last")];
            assert_eq!(read, lines, "{capacity}");
        }
        assert!(read("", 8, 5).await.is_empty());
        assert_eq!(read("123456", 2, 5).await, [None]);
    }

    #[tokio::test]
    async fn id_of_a_too_long_line_is_found() {
        let long = format!(r#"{{"method":"ping","params":{{"id":1,"pad":"{}"}},"id":"seven"}}"#, "x".repeat(100));
        for capacity in [1, 7, 4096] {
            for bytes_max in [5, 50, long.len() - 1] {
                let mut lines = Lines::new(BufReader::with_capacity(capacity, long.as_bytes()), bytes_max);
                let Some(Input::TooLong(Some(id))) = lines.next().await.unwrap() else { panic!("{capacity} {bytes_max}") };
                assert_eq!(id.get(), "\"seven\"");
            }
        }
    }
}

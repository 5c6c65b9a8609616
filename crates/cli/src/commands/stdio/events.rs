//! Parses server-sent events. The data of each event is one message.

/// An incremental parser.
#[derive(Debug, Default)]
pub(super) struct Events {
    line: Vec<u8>,
    data: Vec<u8>,
    has_data: bool,
    after_return: bool,
}

impl Events {
    /// Parses the next bytes and returns the data of each completed event.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Vec<Vec<u8>> {
        let mut complete = Vec::new();
        for byte in bytes {
            let second_half = std::mem::replace(&mut self.after_return, *byte == b'\r') && *byte == b'\n';
            match byte {
                b'\n' if second_half => {}
                b'\n' | b'\r' => complete.extend(self.end_line()),
                _ => self.line.push(*byte),
            }
        }
        complete
    }

    fn end_line(&mut self) -> Option<Vec<u8>> {
        let line = std::mem::take(&mut self.line);
        if line.is_empty() {
            let data = std::mem::take(&mut self.data);
            return std::mem::take(&mut self.has_data).then_some(data);
        }
        let value = line.strip_prefix(b"data:")?;
        if self.has_data {
            self.data.push(b'\n');
        }
        self.data.extend_from_slice(value.strip_prefix(b" ").unwrap_or(value));
        self.has_data = true;
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(text: &str, piece: usize) -> Vec<String> {
        let mut events = Events::default();
        let pieces = text.as_bytes().chunks(piece).flat_map(|bytes| events.push(bytes)).collect::<Vec<_>>();
        pieces.into_iter().map(|data| String::from_utf8(data).unwrap()).collect()
    }

    #[test]
    fn events_are_parsed_across_chunk_boundaries() {
        let text =
            ":\n\nevent: message\ndata: {\"a\":1}\n\ndata:one\r\ndata: two\r\n\r\nid: 5\n\ndata\n\ndata: last\r\rdata: cut off";
        for piece in [1, 2, 7, 1000] {
            assert_eq!(events(text, piece), ["{\"a\":1}", "one\ntwo", "last"], "{piece}");
        }
    }
}

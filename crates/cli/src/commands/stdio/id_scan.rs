//! Finds the id of a message that is too long to keep in memory. It scans the bytes and keeps only the current member name and the
//! id. Many clients write the id last, so the beginning of a line is not enough.

use serde_json::value::RawValue;

/// Maximum length of a member name, enough for `"method"` with every letter escaped.
const NAME_BYTES_MAX: usize = 64;
/// Maximum length of an id.
const ID_BYTES_MAX: usize = 1_024;

/// The scan of one line.
#[derive(Debug, Default)]
pub(super) struct IdScan {
    /// Number of open brackets.
    depth: usize,
    in_string: bool,
    is_escaped: bool,
    place: Place,
    name: Kept<NAME_BYTES_MAX>,
    value: Kept<ID_BYTES_MAX>,
    id: Option<Box<RawValue>>,
    ids: usize,
    has_method: bool,
}

/// The position in the outermost object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Place {
    /// Outside. A line that is not an object stays here.
    #[default]
    Outside,
    Name,
    Value,
}

impl IdScan {
    /// Starts a scan with the beginning of a line.
    pub(super) fn of(bytes: &[u8]) -> Self {
        let mut scan = Self::default();
        scan.push(bytes);
        scan
    }

    /// Scans the next bytes.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.scan(*byte));
    }

    /// The id, if the line is a request with exactly one valid id. Nothing else gets a response.
    pub(super) fn id(self) -> Option<Box<RawValue>> {
        self.id.filter(|_| self.ids == 1 && self.has_method)
    }

    fn scan(&mut self, byte: u8) {
        if self.in_string {
            self.keep(byte);
            match byte {
                _ if self.is_escaped => self.is_escaped = false,
                b'\\' => self.is_escaped = true,
                b'"' => self.in_string = false,
                _ => {}
            }
            return;
        }
        let is_member_end = self.depth == 1 && self.place == Place::Value;
        match byte {
            b'"' => {
                self.in_string = true;
                self.keep(byte);
            }
            b'{' | b'[' => {
                self.keep(byte);
                self.depth += 1;
                if self.depth == 1 && byte == b'{' {
                    self.place = Place::Name;
                }
            }
            b'}' | b']' => {
                if is_member_end {
                    self.end_member();
                }
                self.depth = self.depth.saturating_sub(1);
                if self.depth == 0 {
                    self.place = Place::Outside;
                }
            }
            b':' if self.depth == 1 && self.place == Place::Name => self.place = Place::Value,
            b',' if is_member_end => {
                self.end_member();
                self.place = Place::Name;
            }
            b' ' | b'\t' | b'\r' => {}
            _ => self.keep(byte),
        }
    }

    fn keep(&mut self, byte: u8) {
        match (self.depth, self.place) {
            (1, Place::Name) => self.name.push(byte),
            (1, Place::Value) => self.value.push(byte),
            _ => {}
        }
    }

    fn end_member(&mut self) {
        let (name, value) = (std::mem::take(&mut self.name), std::mem::take(&mut self.value));
        match name.read::<String>().as_deref() {
            Some("id") => {
                self.ids += 1;
                self.id = value.read::<Box<RawValue>>().filter(|id| mcp::Id::legal(id).is_some());
            }
            Some("method") => self.has_method = true,
            _ => {}
        }
    }
}

/// The first bytes of a value, and whether it was truncated.
#[derive(Debug, Default)]
struct Kept<const MAX: usize> {
    bytes: Vec<u8>,
    is_cut: bool,
}

impl<const MAX: usize> Kept<MAX> {
    fn push(&mut self, byte: u8) {
        if self.bytes.len() < MAX {
            self.bytes.push(byte);
        } else {
            self.is_cut = true;
        }
    }

    /// Parses the bytes as JSON, unless they were truncated.
    fn read<T: serde::de::DeserializeOwned>(&self) -> Option<T> {
        if self.is_cut { None } else { serde_json::from_slice(&self.bytes).ok() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(line: &str) -> Option<String> {
        IdScan::of(line.as_bytes()).id().map(|id| id.get().to_owned())
    }

    #[test]
    fn request_id_is_found_at_any_position() {
        for (line, found) in [
            (r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#, "7"),
            (
                r#"{"method":"tools/call","params":{"id":1,"a":[{"id":2}],"b":"\"id\":3,{"},"jsonrpc":"2.0","id":"x y"}"#,
                r#""x y""#,
            ),
            (r#" { "id" : -1.5e3 , "method" : "ping" } "#, "-1.5e3"),
            (r#"{"id":"a\"}\\","method":"ping"}"#, r#""a\"}\\""#),
            (r#"{"\u0069d":12345678901234567890,"method":"ping"}"#, "12345678901234567890"),
            // Truncated lines.
            (r#"{"id":7,"method":"ping","params":{"pad":"xxxx"#, "7"),
            ("\u{feff}{\"id\":7,\"method\":\"ping\"}", "7"),
        ] {
            assert_eq!(id(line).as_deref(), Some(found), "{line}");
        }
    }

    #[test]
    fn other_lines_have_no_id() {
        let long = format!(r#"{{"id":"{}","method":"ping"}}"#, "x".repeat(ID_BYTES_MAX));
        for line in [
            "",
            "garbage",
            r#"[{"id":7,"method":"ping"}]"#,
            r#""id""#,
            r#"{"method":"notifications/initialized"}"#,
            r#"{"id":7,"result":{"method":"ping"}}"#,
            r#"{"id":7,"id":8,"method":"ping"}"#,
            r#"{"id":null,"method":"ping"}"#,
            r#"{"id":{},"method":"ping"}"#,
            r#"{"id":[7],"method":"ping"}"#,
            r#"{"id":true,"method":"ping"}"#,
            r#"{"params":{"id":7},"method":"ping"}"#,
            &long,
        ] {
            assert_eq!(id(line), None, "{line}");
        }
    }

    #[test]
    fn scan_memory_is_bounded() {
        let mut scan = IdScan::of(br#"{"method":"m","params":""#);
        for _ in 0..1_000 {
            scan.push(&[b'x'; 1_000]);
        }
        scan.push(br#"","id":9}"#);
        assert!(scan.name.bytes.capacity() <= 2 * NAME_BYTES_MAX && scan.value.bytes.capacity() <= 2 * ID_BYTES_MAX);
        assert_eq!(scan.id().unwrap().get(), "9");
    }
}

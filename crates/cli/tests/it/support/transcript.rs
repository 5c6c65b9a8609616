//! Transcripts of the command line, with ids, times and ports masked.

use std::fmt::Write;

use super::{Said, Terminal, words};

/// A transcript that is being written.
pub(crate) struct Transcript {
    terminal: Terminal,
    /// Every id that was printed.
    ids: Vec<String>,
    text: String,
}

impl Transcript {
    pub(crate) fn new(terminal: &Terminal) -> Self {
        Self { terminal: terminal.clone(), ids: Vec::new(), text: String::new() }
    }

    /// Types a line. `ses_…` stands for the last such id that was printed; `echo … | …` gives the command its input.
    pub(crate) async fn type_line(&mut self, line: &str) {
        let (input, command) = match line.strip_prefix("echo ").and_then(|rest| rest.split_once(" | ")) {
            Some((input, command)) => (format!("{}\n", words(input).join(" ")), command),
            None => (String::new(), line),
        };
        let arguments = self.filled(command.strip_prefix("toolcrib ").expect("a line begins with `toolcrib`"));
        let said = self.terminal.run_with_input(&arguments, &input).await;
        self.note(line, &said);
    }

    /// The line with its placeholders replaced by ids.
    fn filled(&self, line: &str) -> String {
        let mut filled = line.to_owned();
        while let Some(end) = filled.find("_…") {
            let start = filled[..end].rfind(|c: char| !c.is_ascii_lowercase()).map_or(0, |before| before + 1);
            let prefix = &filled[start..=end];
            let id = self.ids.iter().rev().find(|id| id.starts_with(prefix)).unwrap_or_else(|| panic!("no id for {line}"));
            filled.replace_range(start..end + "_…".len(), id);
        }
        filled
    }

    /// Appends stdout as it is, stderr with `!`, and an exit code other than 0 with `=`.
    fn note(&mut self, line: &str, said: &Said) {
        writeln!(self.text, "$ {line}").unwrap();
        for (mark, words) in [("", &said.out), ("! ", &said.err)] {
            for line in words.lines() {
                let line = line.replace(self.terminal.here.to_str().unwrap(), "~");
                writeln!(self.text, "{mark}{}", steady(&line)).unwrap();
            }
        }
        if said.code != Some(0) {
            writeln!(self.text, "= {}", said.code.unwrap()).unwrap();
        }
        self.ids.extend(ids(&said.out));
    }

    pub(crate) fn into_text(self) -> String {
        self.text
    }
}

const LOOPBACK: &str = "http://127.0.0.1:";
const TIME: &str = "0000-00-00T00:00:00.000Z";
/// A year that only a test writes, so it is not masked.
const FAR: &str = "2099";

/// The text with ids, keys, codes, times and ports masked. All masks but the port keep the width.
pub(crate) fn steady(text: &str) -> String {
    let mut steady = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let word = run(rest, |c| c.is_ascii_alphanumeric() || c == '_');
        let (said, used) = if let Some(port) = rest.strip_prefix(LOOPBACK) {
            (format!("{LOOPBACK}7420"), LOOPBACK.len() + run(port, |c| c.is_ascii_digit()))
        } else if is_time(rest) {
            (TIME.to_owned(), TIME.len())
        } else if word > 0 {
            (masked(&rest[..word]), word)
        } else {
            (first.to_string(), first.len_utf8())
        };
        steady.push_str(&said);
        rest = &rest[used..];
    }
    steady
}

/// Every id in a text.
fn ids(text: &str) -> Vec<String> {
    let pieces = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    pieces.filter(|piece| id_prefix(piece).is_some()).map(str::to_owned).collect()
}

fn masked(word: &str) -> String {
    let is_hex =
        |upper: bool| word.chars().all(|c| c.is_ascii_hexdigit() && (c.is_ascii_digit() || c.is_ascii_uppercase() == upper));
    match (id_prefix(word), word.len()) {
        (Some(prefix), length) => format!("{prefix}{}", "x".repeat(length - prefix.len())),
        // A kit code, or the time in a page cursor.
        (None, length) if (length == 8 && is_hex(true)) || (length == 16 && is_hex(false)) => "x".repeat(length),
        (None, _) => word.to_owned(),
    }
}

/// The prefix of an id or a key, if `word` is one.
fn id_prefix(word: &str) -> Option<&str> {
    let (prefix, tail) = word.split_at(word.rfind('_')? + 1);
    // Lists show only a short part of a key.
    let is_long = tail.len() >= 20 || (prefix == "rsk_live_" && tail.len() == 6);
    let is_random = tail.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    (is_long && is_random).then_some(prefix)
}

fn is_time(text: &str) -> bool {
    let alike = |(c, pattern): (u8, u8)| if pattern == b'0' { c.is_ascii_digit() } else { c == pattern };
    text.len() >= TIME.len() && !text.starts_with(FAR) && text.bytes().zip(TIME.bytes()).all(alike)
}

fn run(text: &str, is_part: impl Fn(char) -> bool) -> usize {
    text.find(|c| !is_part(c)).unwrap_or(text.len())
}

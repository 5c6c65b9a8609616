//! Compares two texts line by line, with the algorithm that git uses by default.

use std::fmt::Write as _;
use std::ops::Range;

use gix::bstr::ByteSlice;
use gix::diff::blob::{Algorithm, Diff, Hunk, InternedInput, sources::byte_lines};

/// Lines around a hunk.
const CONTEXT: u32 = 3;
/// A zero byte this far from the start means that a file is not text, as for git.
const BINARY_PROBE: usize = 8_000;

/// Whether git takes these bytes for binary.
pub(super) fn is_binary(bytes: &[u8]) -> bool {
    bytes.get(..BINARY_PROBE).unwrap_or(bytes).contains(&0)
}

/// The number of lines. The last one needs no line end.
pub(super) fn count(bytes: &[u8]) -> u32 {
    u32::try_from(byte_lines(bytes).count()).unwrap_or(u32::MAX)
}

/// Added and removed lines.
pub(super) fn changed(old: &[u8], new: &[u8]) -> (u32, u32) {
    if old.is_empty() || new.is_empty() {
        return (count(new), count(old));
    }
    let input = InternedInput::new(byte_lines(old), byte_lines(new));
    let diff = Diff::compute(Algorithm::Myers, &input);
    (diff.count_additions(), diff.count_removals())
}

/// The hunks, sorted.
pub(super) fn hunks(old: &[u8], new: &[u8]) -> Vec<Hunk> {
    let input = InternedInput::new(byte_lines(old), byte_lines(new));
    let mut diff = Diff::compute(Algorithm::Myers, &input);
    diff.postprocess_lines(&input);
    diff.hunks().collect()
}

/// A unified diff of at most about `most` bytes, without the two lines that name the files. The second value says whether it was cut.
pub(super) fn unified(old: &[u8], new: &[u8], most: usize) -> (String, bool) {
    let hunks = hunks(old, new);
    let (old, new): (Vec<_>, Vec<_>) = (byte_lines(old).collect(), byte_lines(new).collect());
    let mut text = String::new();
    for group in hunks.chunk_by(|one, next| next.before.start - one.before.end <= 2 * CONTEXT) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else { continue };
        let before = first.before.start.saturating_sub(CONTEXT)..(last.before.end + CONTEXT).min(length(&old));
        let after = first.after.start.saturating_sub(CONTEXT)..(last.after.end + CONTEXT).min(length(&new));
        // Writing to a string cannot fail.
        let _ = writeln!(text, "@@ -{} +{} @@", span(&before), span(&after));
        let mut at = before.start;
        for hunk in group {
            put(&mut text, ' ', slice(&old, at..hunk.before.start), most);
            put(&mut text, '-', slice(&old, hunk.before.clone()), most);
            put(&mut text, '+', slice(&new, hunk.after.clone()), most);
            at = hunk.before.end;
        }
        put(&mut text, ' ', slice(&old, at..before.end), most);
        if text.len() > most {
            return (text, true);
        }
    }
    (text, false)
}

fn length(lines: &[&[u8]]) -> u32 {
    u32::try_from(lines.len()).unwrap_or(u32::MAX)
}

fn slice<'l, 't>(lines: &'l [&'t [u8]], range: Range<u32>) -> &'l [&'t [u8]] {
    lines.get(range.start as usize..range.end as usize).unwrap_or_default()
}

/// The range as in a hunk's head: the first line counted from 1, or the line before if there is none.
fn span(range: &Range<u32>) -> String {
    match range.end - range.start {
        0 => format!("{},0", range.start),
        1 => format!("{}", range.start + 1),
        lines => format!("{},{lines}", range.start + 1),
    }
}

fn put(text: &mut String, sign: char, lines: &[&[u8]], most: usize) {
    for line in lines {
        if text.len() > most {
            return;
        }
        text.push(sign);
        // A cut keeps whole lines where it can. One endless line is cut itself.
        text.push_str(&line.get(..most).unwrap_or(line).to_str_lossy());
        if !line.ends_with(b"\n") {
            text.push_str("\n\\ No newline at end of file\n");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unified_diff_has_heads_and_context() {
        let old: String = (1..=20).map(|line| format!("{line}\n")).collect();
        let new = old.replace("5\n", "five\n").replacen("20\n", "20", 1);
        let (text, is_cut) = unified(old.as_bytes(), new.as_bytes(), 1_000);
        assert!(!is_cut);
        assert!(text.starts_with("@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n"), "{text}");
        assert!(text.ends_with("-20\n+20\n\\ No newline at end of file\n"), "{text}");
    }

    #[test]
    fn a_new_file_is_all_additions_and_a_long_diff_is_cut() {
        assert_eq!(unified(b"", b"a\nb\n", 100), ("@@ -0,0 +1,2 @@\n+a\n+b\n".to_owned(), false));
        let (text, is_cut) = unified(b"", "line\n".repeat(1_000).as_bytes(), 100);
        assert!(is_cut && text.len() < 200);
        let (text, is_cut) = unified(b"", &[b'x'; 10_000], 100);
        assert!(is_cut && text.len() < 200);
    }
}

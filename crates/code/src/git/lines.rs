//! Compares two texts line by line, with the algorithm that git uses by default. Very long texts are compared within a time, and can then
//! have more changed lines than in git.

use std::fmt::Write as _;
use std::ops::Range;
use std::time::{Duration, Instant};

use gix::bstr::ByteSlice;
use gix::diff::blob::{Algorithm, Diff, Hunk, InternedInput, Token, sources::byte_lines};

/// Lines around a hunk.
const CONTEXT: u32 = 3;
/// A zero byte this far from the start means that a file is not text, as for git.
const BINARY_PROBE: usize = 8_000;

/// Lines of both sides that are compared without a look at the clock.
const MAX_EXACT: usize = 50_000;
/// How long one comparison of more lines may take until the rest counts as replaced.
const MAX_TIME: Duration = Duration::from_millis(500);

/// Whether git takes these bytes for binary.
pub(super) fn is_binary(bytes: &[u8]) -> bool {
    bytes.get(..BINARY_PROBE).unwrap_or(bytes).contains(&0)
}

/// The number of lines. The last one needs no line end.
pub(super) fn count(bytes: &[u8]) -> u32 {
    narrow(byte_lines(bytes).count())
}

/// Added and removed lines.
pub(super) fn changed(old: &[u8], new: &[u8]) -> (u32, u32) {
    if old.is_empty() || new.is_empty() {
        return (count(new), count(old));
    }
    let (hunks, _) = hunks(old, new);
    let total = |side: fn(&Hunk) -> &Range<u32>| hunks.iter().map(|hunk| side(hunk).end - side(hunk).start).sum();
    (total(|hunk| &hunk.after), total(|hunk| &hunk.before))
}

/// The hunks, sorted. The second value says whether they are coarse: correct, but larger than they need to be.
pub(super) fn hunks(old: &[u8], new: &[u8]) -> (Vec<Hunk>, bool) {
    let input = InternedInput::new(byte_lines(old), byte_lines(new));
    if input.before.len() + input.after.len() > MAX_EXACT {
        return within_time(&input);
    }
    let mut diff = Diff::compute(Algorithm::Myers, &input);
    diff.postprocess_lines(&input);
    (diff.hunks().collect(), false)
}

/// The hunks of long texts. The effort grows with the product of lines and differences, which a hostile file can make very large.
fn within_time(input: &InternedInput<&[u8]>) -> (Vec<Hunk>, bool) {
    let numbers = |tokens: &[Token]| tokens.iter().map(|token| token.0).collect::<Vec<u32>>();
    let (before, after) = (numbers(&input.before), numbers(&input.after));
    let start = Instant::now();
    let operations =
        similar::capture_diff_slices_deadline(similar::Algorithm::Myers, &before, &after, start.checked_add(MAX_TIME));
    let is_coarse = start.elapsed() >= MAX_TIME;
    let short = |range: Range<usize>| narrow(range.start)..narrow(range.end);
    let mut hunks: Vec<Hunk> = Vec::new();
    for operation in operations.iter().filter(|operation| operation.tag() != similar::DiffTag::Equal) {
        let (before, after) = (short(operation.old_range()), short(operation.new_range()));
        match hunks.last_mut().filter(|last| last.before.end == before.start && last.after.end == after.start) {
            Some(last) => (last.before.end, last.after.end) = (before.end, after.end),
            None => hunks.push(Hunk { before, after }),
        }
    }
    (hunks, is_coarse)
}

fn narrow(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

/// A unified diff of at most about `most` bytes, without the two lines that name the files. The second value says whether it was cut.
pub(super) fn unified(old: &[u8], new: &[u8], most: usize) -> (String, bool) {
    let (hunks, _) = hunks(old, new);
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
    narrow(lines.len())
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

    /// What a text becomes when its hunks are applied.
    fn applied(old: &[u8], new: &[u8]) -> Vec<u8> {
        let (before, after): (Vec<_>, Vec<_>) = (byte_lines(old).collect(), byte_lines(new).collect());
        let (mut text, mut at) = (Vec::new(), 0);
        for hunk in hunks(old, new).0 {
            text.extend_from_slice(&slice(&before, at..hunk.before.start).concat());
            text.extend_from_slice(&slice(&after, hunk.after.clone()).concat());
            at = hunk.before.end;
        }
        text.extend_from_slice(&slice(&before, at..length(&before)).concat());
        text
    }

    #[test]
    fn a_long_text_with_few_changes_is_compared_exactly() {
        let old: String = (0..30_000).map(|line| format!("line {line}\n")).collect();
        let new = old.replace("line 5\n", "").replace("line 20000\n", "one\ntwo\n").replace("line 29999\n", "end\n");
        assert_eq!(changed(old.as_bytes(), new.as_bytes()), (3, 3));
        assert_eq!(applied(old.as_bytes(), new.as_bytes()), new.as_bytes());
    }

    #[test]
    fn a_text_that_is_hard_to_compare_ends_in_time() {
        let mut state = 1_u64;
        let mut coins = || {
            let mut flip = || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                if state >> 63 == 0 { "0\n" } else { "1\n" }
            };
            (0..200_000).map(|_| flip()).collect::<String>()
        };
        let (old, new) = (coins(), coins());
        assert_eq!(applied(old.as_bytes(), new.as_bytes()), new.as_bytes());
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

//! Splits text into words: prose, identifiers and paths, scripts without spaces, and emoji.
//!
//! An identifier, a dotted name and a path give their parts and their whole form: `auth/getUserById.ts` gives
//! `auth/getuserbyid.ts`, `auth`, `getuserbyid.ts`, `getuserbyid`, `get`, `user`, `by`, `id` and `ts`. The whole form of an
//! identifier has no separators, so `get_user_by_id`, `get-user-by-id` and `getUserById` give the same word.

use unicode_normalization::char::is_combining_mark;

/// The maximum length of a word in bytes. Anything longer is data and not language: it is cut, and whole forms are left out.
pub(super) const WORD_BYTES_MAX: usize = 64;

/// The role of a character in a word.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A letter, digit or mark of a script with spaces between words.
    Letter,
    /// A character of a script without spaces, which is indexed in pairs.
    Unspaced,
    Emoji,
    /// Half of a flag emoji.
    Region,
    /// A separator between the parts of a name.
    Seam,
    Space,
}

/// The purpose of the text. For scripts without spaces, a query gives only pairs, and a document also gives single characters.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    Document,
    Query,
}

/// Calls `sink` with each word of folded text, in lower case.
pub(super) fn words(text: &str, purpose: Purpose, sink: &mut dyn FnMut(String)) {
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let kind = kind_of(first);
        let end = match kind {
            Kind::Letter => rest.find(|character| !matches!(kind_of(character), Kind::Letter | Kind::Seam)),
            _ => rest.find(|character| kind_of(character) != kind),
        };
        let (run, after) = rest.split_at_checked(end.unwrap_or(rest.len())).unwrap_or((rest, ""));
        match kind {
            Kind::Letter => {
                name(run, sink);
                language(run, after, sink);
            }
            Kind::Unspaced => pairs(run, purpose, sink),
            Kind::Emoji => run.chars().filter(|emoji| !is_skin_tone(*emoji)).for_each(|emoji| sink(emoji.to_string())),
            Kind::Region => flags(run, sink),
            Kind::Seam | Kind::Space => {}
        }
        rest = after;
    }
}

fn kind_of(character: char) -> Kind {
    match character {
        'a'..='z' | 'A'..='Z' | '0'..='9' => Kind::Letter,
        '_' | '-' | '.' | '/' | '\\' | ':' | '\'' | '’' => Kind::Seam,
        '\0'..='\x7f' => Kind::Space,
        _ => match u32::from(character) {
            0x1F1E6..=0x1F1FF => Kind::Region,
            0x2300..=0x23FF | 0x2600..=0x27BF | 0x2B00..=0x2BFF | 0x1F000..=0x1FAFF => Kind::Emoji,
            code if character.is_alphanumeric() || is_combining_mark(character) => {
                if is_unspaced(code) {
                    Kind::Unspaced
                } else {
                    Kind::Letter
                }
            }
            _ => Kind::Space,
        },
    }
}

/// Thai, Lao, Tibetan, Burmese, Khmer, Chinese, Japanese and Korean. Korean has spaces but appends particles to words.
fn is_unspaced(code: u32) -> bool {
    matches!(code,
        0x0E00..=0x109F | 0x1100..=0x11FF | 0x1780..=0x17FF | 0x2E80..=0x2FDF | 0x3005..=0x312F | 0x31A0..=0x31FF
        | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xA960..=0xA97F | 0xAC00..=0xD7FF | 0xF900..=0xFAFF | 0x20000..=0x3FFFF)
}

fn is_skin_tone(character: char) -> bool {
    matches!(character, '\u{1F3FB}'..='\u{1F3FF}')
}

/// Every two neighbours, and single characters where a query may be just one.
fn pairs(run: &str, purpose: Purpose, sink: &mut dyn FnMut(String)) {
    let alone = purpose == Purpose::Document || run.chars().nth(1).is_none();
    let mut previous = None;
    for character in run.chars() {
        if alone && !is_combining_mark(character) {
            sink(character.to_string());
        }
        if let Some(previous) = previous {
            sink([previous, character].iter().collect());
        }
        previous = Some(character);
    }
}

fn flags(run: &str, sink: &mut dyn FnMut(String)) {
    let regions: Vec<char> = run.chars().collect();
    regions.chunks(2).for_each(|flag| sink(flag.iter().collect()));
}

/// `C++` and `C#` are more than a letter.
fn language(run: &str, after: &str, sink: &mut dyn FnMut(String)) {
    if run.len() == 1 {
        for sign in ["++", "#"] {
            if after.starts_with(sign) {
                sink(run.to_ascii_lowercase() + sign);
            }
        }
    }
}

/// A run of letters and separators: paths of dotted names of identifiers.
fn name(run: &str, sink: &mut dyn FnMut(String)) {
    level(run, &['/', '\\', ':'], "/", sink, &mut |dotted, sink| level(dotted, &['.'], ".", sink, &mut identifier));
}

type Sink<'a> = &'a mut dyn FnMut(String);

/// One level of a name: emits each part by the next level, and the whole form if there are several parts. Returns the whole
/// form.
fn level(run: &str, seams: &[char], joint: &str, sink: Sink<'_>, part: &mut dyn FnMut(&str, Sink<'_>) -> String) -> String {
    let (mut whole, mut parts) = (String::new(), 0);
    for piece in run.split(seams) {
        let piece = part(piece, sink);
        if !piece.is_empty() {
            if parts > 0 {
                whole.push_str(joint);
            }
            whole.push_str(&piece);
            parts += 1;
        }
    }
    if parts > 1 && whole.len() <= WORD_BYTES_MAX {
        sink(whole.clone());
    }
    whole
}

/// `get_userById`: emits its parts, and its whole form if there are several. Returns the whole form.
fn identifier(run: &str, sink: Sink<'_>) -> String {
    let (mut whole, mut parts) = (String::new(), 0);
    for piece in run.split(['_', '-']) {
        for part in humps(&without_apostrophes(piece)) {
            let part = part.to_lowercase();
            whole.push_str(&part);
            parts += 1;
            sink(shortened(part));
        }
    }
    if parts > 1 && whole.len() <= WORD_BYTES_MAX {
        sink(whole.clone());
    }
    whole
}

/// `user's` becomes `user`, and `don't` is one word.
fn without_apostrophes(word: &str) -> String {
    let word = word.trim_matches(['\'', '’']);
    let owner = ["'s", "’s", "'S", "’S"].iter().find_map(|end| word.strip_suffix(end)).unwrap_or(word);
    owner.replace(['\'', '’'], "")
}

fn shortened(mut word: String) -> String {
    if word.len() > WORD_BYTES_MAX {
        word.truncate(word.floor_char_boundary(WORD_BYTES_MAX));
    }
    word
}

/// The words of `parseHTTPResponse2`: parse, HTTP, Response, 2.
fn humps(word: &str) -> Vec<&str> {
    let mut cuts = cuts(word, true);
    if cuts.digits > DIGIT_CUTS_MAX {
        cuts = self::cuts(word, false);
    }
    // Many tiny parts mean a checksum or encoded data and not words.
    if cuts.at.len() > HUMPS_MAX && word.len() < 3 * cuts.at.len() {
        cuts.at.clear();
    }
    let (mut parts, mut rest, mut done) = (Vec::with_capacity(cuts.at.len() + 1), word, 0);
    for at in cuts.at {
        if let Some((part, after)) = rest.split_at_checked(at - done) {
            parts.push(part);
            (rest, done) = (after, at);
        }
    }
    if rest.chars().any(char::is_alphanumeric) {
        parts.push(rest);
    }
    parts
}

/// More changes between letters and digits than this do not occur in version numbers.
const DIGIT_CUTS_MAX: usize = 4;
/// With more parts than this, the parts must have some length.
const HUMPS_MAX: usize = 6;

struct Cuts {
    at: Vec<usize>,
    digits: usize,
}

fn cuts(word: &str, at_digits: bool) -> Cuts {
    let mut cuts = Cuts { at: Vec::new(), digits: 0 };
    let mut before: Option<char> = None;
    let mut letters = word.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        if is_combining_mark(letter) {
            continue;
        }
        if let Some(before) = before {
            let next = letters.peek().map(|(_, next)| *next);
            if before.is_numeric() != letter.is_numeric() {
                cuts.digits += 1;
                if at_digits {
                    cuts.at.push(at);
                }
            } else if letter.is_uppercase() {
                let after_lower = before.is_lowercase();
                // The S of `HTTPServer` starts a word; the L of `URLs` does not.
                let plural = next == Some('s') && word.len() == at + letter.len_utf8() + 1;
                let last_of_capitals = before.is_uppercase() && next.is_some_and(char::is_lowercase) && !plural;
                if after_lower || last_of_capitals {
                    cuts.at.push(at);
                }
            }
        }
        before = Some(letter);
    }
    cuts
}

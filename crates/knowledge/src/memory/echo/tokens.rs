//! Cuts texts into tokens: words, numbers, and the symbols that can change a meaning.

/// Stands for any number in a template of our own answers.
pub const NUMBER: char = '\u{e000}';

/// Tokens of one text, and their places in it. Case makes no difference.
#[derive(Debug)]
pub(super) struct Tokens {
    text: String,
    tokens: Vec<Token>,
}

/// One token. Equal tokens have equal hashes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    hash: u64,
    start: u32,
    end: u32,
    pub(super) kind: Kind,
    /// A sentence or a line starts here.
    pub(super) starts_sentence: bool,
    /// Punctuation or a line break stands before it.
    pub(super) follows_break: bool,
    /// Whitespace, or nothing, stands before it.
    follows_space: bool,
    /// The character after it.
    next: Option<char>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Word,
    Number,
    /// An operator or another symbol. Punctuation is no token.
    Symbol,
    /// Any number, in a template.
    AnyNumber,
}

impl Tokens {
    pub(super) fn of(text: &str) -> Self {
        Self::cut(text, false)
    }

    /// The tokens of a template, in which [`NUMBER`] stands for any number.
    pub(super) fn of_template(text: &str) -> Self {
        Self::cut(text, true)
    }

    fn cut(text: &str, is_template: bool) -> Self {
        let mut tokens = Vec::new();
        let mut before = Before { is_line_start: true, ..Before::default() };
        let mut rest = text.char_indices().peekable();
        while let Some((start, letter)) = rest.next() {
            let next = rest.peek().map(|(_, next)| *next);
            let kind = match letter {
                NUMBER if is_template => Kind::AnyNumber,
                _ if letter.is_ascii_digit() => Kind::Number,
                _ if letter.is_alphanumeric() => Kind::Word,
                _ if is_symbol(letter, &before, next) => Kind::Symbol,
                _ => {
                    before.add(letter, next);
                    continue;
                }
            };
            let (mut end, mut kind) = (start + letter.len_utf8(), kind);
            if matches!(kind, Kind::Word | Kind::Number) {
                while let Some((at, letter)) = rest.peek().copied() {
                    let is_inside = letter.is_alphanumeric() || is_point_in_number(text, at, letter);
                    if !is_inside || letter == NUMBER {
                        break;
                    }
                    if !letter.is_ascii_digit() && letter != '.' {
                        kind = Kind::Word;
                    }
                    end = at + letter.len_utf8();
                    rest.next();
                }
            }
            let next = rest.peek().map(|(_, next)| *next);
            let token = Token {
                hash: hash_of(text.get(start..end).unwrap_or_default()),
                start: u32::try_from(start).unwrap_or(u32::MAX),
                end: u32::try_from(end).unwrap_or(u32::MAX),
                kind,
                starts_sentence: tokens.is_empty() || before.ends_sentence,
                follows_break: tokens.is_empty() || before.is_break,
                follows_space: tokens.is_empty() || before.is_space,
                next,
            };
            // What a separator separates stands alone.
            before = Before { is_break: token.is_separator(text.get(start..end).unwrap_or_default()), ..Before::default() };
            tokens.push(token);
        }
        Self { text: text.to_owned(), tokens }
    }

    pub(super) fn len(&self) -> usize {
        self.tokens.len()
    }

    pub(super) fn get(&self, place: usize) -> Option<&Token> {
        self.tokens.get(place)
    }

    pub(super) fn hash(&self, place: usize) -> Option<u64> {
        self.get(place).map(|token| token.hash)
    }

    /// The token in lower case.
    pub(super) fn word(&self, place: usize) -> String {
        let token = self.get(place);
        token.and_then(|token| self.text.get(token.start as usize..token.end as usize)).unwrap_or_default().to_lowercase()
    }

    /// Whether a sentence ends before this place.
    pub(super) fn is_edge(&self, place: usize) -> bool {
        self.get(place).is_none_or(|token| token.starts_sentence)
    }

    /// Whether punctuation or a line break, or nothing, stands before this place.
    pub(super) fn is_break(&self, place: usize) -> bool {
        self.get(place).is_none_or(|token| token.follows_break)
    }

    /// The places of the tokens of a part of the text, given by its bytes.
    pub(super) fn within(&self, start: usize, end: usize) -> Option<std::ops::Range<usize>> {
        let from = self.tokens.partition_point(|token| (token.start as usize) < start);
        let to = self.tokens.partition_point(|token| (token.end as usize) <= end);
        (from < to).then_some(from..to)
    }
}

impl Token {
    pub(super) fn hash(&self) -> u64 {
        self.hash
    }

    /// Whether it numbers an item of a list: `1.`, `2)`, `[3]`, `4:`.
    pub(super) fn is_list_number(&self) -> bool {
        const DIGITS_MAX: u32 = 3;
        let is_short = self.end - self.start <= DIGITS_MAX;
        self.kind == Kind::Number && is_short && matches!(self.next, Some('.' | ')' | ']' | ':'))
    }

    /// Whether it is a symbol that only separates: ` - `, ` | `, ` > `, ` & `.
    pub(super) fn is_separator(&self, word: &str) -> bool {
        let is_apart = self.follows_space && self.next.is_none_or(char::is_whitespace);
        self.kind == Kind::Symbol && is_apart && matches!(word, "-" | "|" | ">" | "&")
    }
}

/// What stands before a token.
#[derive(Default)]
struct Before {
    ends_sentence: bool,
    is_break: bool,
    is_space: bool,
    /// Only whitespace and marks of lists and quotes since the line began.
    is_line_start: bool,
}

impl Before {
    fn add(&mut self, letter: char, next: Option<char>) {
        match letter {
            '\n' | '\u{2028}' | '\u{2029}' => {
                *self = Self { ends_sentence: true, is_break: true, is_space: true, is_line_start: true };
            }
            _ if letter.is_whitespace() => self.is_space = true,
            '.' | '!' | '?' | ';' => {
                self.is_break = true;
                // A point inside `a.b` ends no sentence. Closing quotes and brackets belong to it.
                self.ends_sentence |=
                    next.is_none_or(|next| next.is_whitespace() || matches!(next, '"' | '\'' | ')' | '`' | '*'));
            }
            '。' | '！' | '？' | '；' => (self.is_break, self.ends_sentence) = (true, true),
            '\'' | '’' | '`' | '*' | '_' => {}
            _ => self.is_break = true,
        }
    }
}

/// Whether a character is a token of its own, because a text can differ in it alone. At the start of a line it only marks a
/// list or a quote.
fn is_symbol(letter: char, before: &Before, next: Option<char>) -> bool {
    let is_mark = before.is_line_start && matches!(letter, '-' | '>' | '#' | '+' | '|' | '=');
    match letter {
        _ if is_mark && next.is_none_or(|next| next.is_whitespace() || next == letter || next == '>') => false,
        // Exclamation or negation.
        '!' => next.is_some_and(|next| next == '=' || next.is_alphanumeric()),
        '=' | '<' | '>' | '+' | '-' | '/' | '%' | '&' | '|' | '^' | '~' | '$' | '@' | '#' => true,
        _ => !letter.is_ascii() && !letter.is_whitespace() && !letter.is_control() && !is_punctuation(letter),
    }
}

/// Punctuation outside ASCII: quotes, dashes, bullets, joiners, and that of Chinese and Japanese.
fn is_punctuation(letter: char) -> bool {
    matches!(letter, '\u{2000}'..='\u{206f}' | '\u{3000}'..='\u{303f}' | '\u{ff01}'..='\u{ff0f}' | '\u{ff1a}'..='\u{ff20}')
        || matches!(
            letter,
            '«' | '»' | '·' | '¿' | '¡' | '\u{ad}' | '\u{feff}' | '\u{fe0f}' | '\u{25cf}' | '\u{25e6}' | '\u{25aa}'
        )
}

fn is_point_in_number(text: &str, at: usize, letter: char) -> bool {
    let is_digit = |letter: Option<char>| letter.is_some_and(|letter| letter.is_ascii_digit());
    let before = text.get(..at).and_then(|before| before.chars().next_back());
    letter == '.' && is_digit(before) && is_digit(text.get(at + 1..).and_then(|after| after.chars().next()))
}

/// FNV-1a over the letters in lower case.
fn hash_of(word: &str) -> u64 {
    let letters = word.chars().flat_map(char::to_lowercase);
    letters.fold(0xcbf2_9ce4_8422_2325_u64, |hash, letter| (hash ^ u64::from(letter)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        let tokens = Tokens::of(text);
        (0..tokens.len()).map(|place| tokens.word(place)).collect()
    }

    #[test]
    fn words_numbers_and_operators_are_tokens_and_punctuation_is_not() {
        for (text, tokens) in [
            ("Use pnpm, not npm: \"it\" works.", "use pnpm not npm it works"),
            ("> quoted\n- listed\n## titled\n  * starred", "quoted listed titled starred"),
            ("a != b == -5 <= 20.5 %", "a ! = b = = - 5 < = 20.5 %"),
            ("ends in 20. Next! !x", "ends in 20 next ! x"),
            ("fine ✅ 🦀 → “so”…", "fine ✅ 🦀 → so"),
            ("v1.2.3 and obs_01AB", "v1.2.3 and obs 01ab"),
            ("- -5 is a number", "- 5 is a number"),
        ] {
            assert_eq!(words(text).join(" "), tokens, "{text}");
        }
    }

    #[test]
    fn sentences_and_lines_start_after_their_ends() {
        let tokens = Tokens::of("One two. Three (four); five a.b, six\n> seven: eight");
        let starts: Vec<String> =
            (0..tokens.len()).filter(|place| tokens.is_edge(*place)).map(|place| tokens.word(place)).collect();
        assert_eq!(starts, ["one", "three", "five", "seven"]);
        assert!(tokens.is_edge(tokens.len()));
        let breaks: Vec<String> =
            (0..tokens.len()).filter(|place| tokens.is_break(*place)).map(|place| tokens.word(place)).collect();
        assert_eq!(breaks, ["one", "three", "four", "five", "b", "six", "seven", "eight"]);
    }

    #[test]
    fn numbers_of_lists_are_recognised() {
        let is_number = |text: &str| Tokens::of(text).get(0).is_some_and(Token::is_list_number);
        assert!(["1. a", "12) a", "[3] a", "4: a"].into_iter().all(is_number));
        assert!(!["1 a", "1000. a", "1.5 a", "x1. a"].into_iter().any(is_number));
    }

    #[test]
    fn templates_have_any_number() {
        let tokens = Tokens::of_template(&format!("{NUMBER} of {NUMBER}"));
        let kinds: Vec<Kind> = tokens.tokens.iter().map(|token| token.kind).collect();
        assert_eq!(kinds, [Kind::AnyNumber, Kind::Word, Kind::AnyNumber]);
    }
}

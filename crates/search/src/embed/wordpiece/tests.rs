use std::collections::BTreeSet;
use std::sync::LazyLock;

use proptest::prelude::*;
use tokenizers::Tokenizer;
use tokenizers::models::wordpiece::WordPiece;
use tokenizers::normalizers::BertNormalizer;
use tokenizers::pre_tokenizers::bert::BertPreTokenizer;

use super::*;
use crate::embed::weights::bundled;

/// The reference tokenizer of the model, with the vocabulary of our file.
static THEIRS: LazyLock<Tokenizer> = LazyLock::new(|| {
    let vocabulary = bundled().unwrap().vocabulary;
    let pieces: Vec<_> = (0..).map_while(|number| vocabulary.piece(number)).collect();
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), pieces.join(&b'\n')).unwrap();
    let model = WordPiece::from_file(file.path().to_str().unwrap()).unk_token("[UNK]".into()).build().unwrap();
    let mut tokenizer = Tokenizer::new(model);
    tokenizer.with_normalizer(Some(BertNormalizer::default())).unwrap();
    tokenizer.with_pre_tokenizer(Some(BertPreTokenizer));
    tokenizer
});

fn ours(text: &str) -> Vec<u32> {
    let mut pieces = Vec::new();
    cut(&bundled().unwrap().vocabulary, text, &mut pieces);
    pieces.into_iter().map(u32::from).collect()
}

fn theirs(text: &str) -> Vec<u32> {
    let encoding = THEIRS.encode(text, false).unwrap();
    let inner = encoding.get_ids().iter().copied().take(PIECES_MAX - 2);
    [101].into_iter().chain(inner).chain([102]).collect()
}

/// Characters that differ because the reference uses Unicode 9 and we use a newer version. The model knows none of them.
static NEWER: LazyLock<BTreeSet<char>> = LazyLock::new(|| {
    let assigned = ('\0'..'\u{32000}').chain('\u{E0000}'..'\u{E0200}').collect::<Vec<_>>();
    let text = |characters: &[char]| characters.iter().map(|character| format!("x{character}y ")).collect::<String>();
    let differing = assigned.chunks(50).filter(|some| ours(&text(some)) != theirs(&text(some)));
    differing.flatten().copied().filter(|one| ours(&text(&[*one])) != theirs(&text(&[*one]))).collect()
});

#[test]
fn every_older_character_is_split_as_in_the_reference() {
    let vocabulary = bundled().unwrap().vocabulary;
    let pieces = (0..).map_while(|number| vocabulary.piece(number));
    let known: BTreeSet<char> = pieces.flat_map(|piece| str::from_utf8(piece).unwrap().chars()).collect();
    assert!(NEWER.is_disjoint(&known));
    assert!(NEWER.len() < 800, "{} characters differ", NEWER.len());
}

#[test]
fn texts_are_split_as_in_the_reference() {
    let long = "x".repeat(101);
    let texts = [
        "",
        " ",
        "Hello, World!",
        "unaffable embeddings",
        "don't stop—now…",
        "naïve café ÀÉÎÕÜ ñ ç ø ł đ",
        "e\u{301}cole \u{1100}\u{1161} 한국어 조선",
        "日本語のテキスト 東京と 㐀 𠀀 豈 中文 mixed中文words",
        "ひらがな カタカナ ｶﾞ",
        "العَرَبِيَّة مرحبا",
        "עִבְרִית שלום",
        "हिन्दी नमस्ते",
        "ไทยสวัสดี",
        "Ελληνικά ΣΊΣΥΦΟΣ",
        "Русский язык Ёё Йй",
        "İstanbul ISPARTA ı ſ ß ẞ ǅ ﬁ ﬂ",
        "😀 👩‍💻 🇩🇪 👍🏽 text😀text",
        "a\u{0}b\u{7}c\u{FFFD}d\u{AD}e\u{200B}f\u{FEFF}g",
        "tab\tline\nreturn\rvertical\u{B}form\u{C}next\u{85}",
        "no\u{A0}break\u{2003}em\u{3000}wide",
        "z̸̢̛̪a̷l̶g̵o̷ t̸e̷x̶t̴",
        "₀²³½ Ⅷ ① ㎏ ℡",
        "`~!@#$%^&*()_+-={}[]|\\:\";'<>?,./",
        "$100 €50 £20 ¥ ± × ÷ ≤ ∞",
        "[CLS] [SEP] [MASK] [UNK] ##ing",
        "snake_case camelCase kebab-case v1.2.3 0xDEADBEEF",
        "fn main() { println!(\"{}\", 1 + 2); }",
        "https://example.org/path?query=1&other=%20#top",
        "\u{E000}private\u{F8FF} \u{10FFFF}",
        "\u{1FEF}\u{37E}\u{212A}\u{2126}",
        &long,
        &long[..100],
    ];
    for text in texts {
        // The reference would recognise names of special tokens only if it were configured to, which it is not here.
        assert_eq!(ours(text), theirs(text), "{text:?}");
    }
}

#[test]
fn long_texts_are_truncated() {
    for (text, pieces) in [("word ".repeat(254), 256), ("word ".repeat(253), 255), ("word ".repeat(100_000), 256)] {
        assert_eq!(ours(&text).len(), pieces);
        assert_eq!(ours(&text).last(), Some(&102));
    }
    // A last word of several pieces is cut inside.
    let text = format!("{}embeddings", "word ".repeat(252));
    assert_eq!(ours(&text), theirs(&text));
}

#[test]
fn a_text_of_one_endless_word_is_read_once() {
    let start = std::time::Instant::now();
    assert_eq!(ours(&"x".repeat(1_000_000)), [101, 100, 102]);
    assert_eq!(ours(&" ".repeat(1_000_000)), [101, 102]);
    assert_eq!(ours(&"\u{301}".repeat(1_000_000)), [101, 102]);
    assert!(start.elapsed().as_secs() < 10, "{:?}", start.elapsed());
}

/// Random mixtures of typical text.
fn texts() -> impl Strategy<Value = String> {
    let pieces = prop_oneof![
        any::<String>(),
        "[a-zA-Z]{1,12}",
        "[ \t\n.,;:!?_(){}-]{1,3}",
        "\\PC{1,8}",
        "[\u{300}-\u{36F}àéîõüÅÇ]{1,4}",
        "[一-龥ぁ-んァ-ヶ가-힣]{1,4}",
        "[א-תء-ي]{1,6}",
        "[😀-🙏🇦-🇿\u{200D}\u{FE0F}]{1,3}",
        "[\u{0}-\u{1F}\u{7F}-\u{A0}\u{2000}-\u{206F}]{1,3}",
    ];
    proptest::collection::vec(pieces, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn arbitrary_texts_are_split_as_in_the_reference(text in texts()) {
        prop_assume!(!text.chars().any(|character| NEWER.contains(&character)));
        prop_assert_eq!(ours(&text), theirs(&text));
    }
}

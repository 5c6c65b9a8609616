//! Parsing within limits. One parser lives in each thread, because making one is not free and a parser has no state between texts.
//! Nothing here calls itself over the tree: a text can nest as deep as it is long.

use std::cell::RefCell;
use std::fmt;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use tree_sitter::{ParseOptions, Parser, Tree};

use crate::{Bounds, Language, grammar, languages};

thread_local! {
    static PARSER: RefCell<Parser> = RefCell::new(Parser::new());
}

/// Why a text has no outline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unparsed {
    /// It has more bytes than [`Bounds::bytes_max`].
    TooLong,
    /// It took longer than [`Bounds::parse_ms_max`].
    TookTooLong,
    /// This build has no grammar of the language.
    NoGrammar,
}

impl fmt::Display for Unparsed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::TooLong => "the text is too long to parse",
            Self::TookTooLong => "the text took too long to parse",
            Self::NoGrammar => "this build has no grammar of the language",
        })
    }
}

impl std::error::Error for Unparsed {}

/// A tree, and the time at which all work on it must end.
pub(crate) struct Parsed {
    pub(crate) tree: Tree,
    pub(crate) deadline: Instant,
}

/// Parses `text`.
pub(crate) fn parse(language: Language, text: &str, bounds: &Bounds) -> Result<Parsed, Unparsed> {
    // Positions in an outline are 32 bits wide.
    if text.len() > bounds.bytes_max || u32::try_from(text.len()).is_err() {
        return Err(Unparsed::TooLong);
    }
    let grammar = grammar::of(language).ok_or(Unparsed::NoGrammar)?;
    let deadline = Instant::now() + Duration::from_millis(bounds.parse_ms_max);
    let mut tree = tree_of(&grammar, text, deadline)?;
    if tree.root_node().has_error()
        && let Some(other) = languages::repaired(language, text)
    {
        let repaired = tree_of(&grammar, &other, deadline)?;
        if error_count(language, &repaired, text) < error_count(language, &tree, text) {
            tree = repaired;
        }
    }
    Ok(Parsed { tree, deadline })
}

fn tree_of(grammar: &tree_sitter::Language, text: &str, deadline: Instant) -> Result<Tree, Unparsed> {
    PARSER.with(|parser| {
        let mut parser = parser.try_borrow_mut().map_err(|_| Unparsed::TookTooLong)?;
        parser.set_language(grammar).map_err(|_| Unparsed::NoGrammar)?;
        let bytes = text.as_bytes();
        let mut is_late = |_: &_| if Instant::now() >= deadline { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
        let options = ParseOptions::new().progress_callback(&mut is_late);
        let tree = parser.parse_with_options(&mut |at, _| bytes.get(at..).unwrap_or_default(), None, Some(options));
        // A parse that was stopped would otherwise go on with the next text.
        parser.reset();
        tree.ok_or(Unparsed::TookTooLong)
    })
}

/// The number of places where the text is broken.
pub(crate) fn error_count(language: Language, tree: &Tree, text: &str) -> u32 {
    let mut count = 0_u32;
    each_error(tree, |node| {
        count = count.saturating_add(u32::from(!languages::is_valid(language, node, text)));
        true
    });
    count
}

/// Calls `seen` for each ERROR and each MISSING node in the order of the text, until it returns false.
pub(crate) fn each_error<'tree>(tree: &'tree Tree, mut seen: impl FnMut(tree_sitter::Node<'tree>) -> bool) {
    let mut cursor = tree.walk();
    loop {
        let node = cursor.node();
        if (node.is_error() || node.is_missing()) && !seen(node) {
            return;
        }
        // Only a node with an error inside is worth a visit.
        if node.has_error() && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return;
            }
        }
    }
}

//! Words that add nothing to a text, and words that must not get lost.

/// Words that only frame what follows. None of them judges it, denies it or says when it holds.
pub(super) const FRAMING: [&str; 56] = [
    "a",
    "af",
    "agent",
    "agents",
    "answer",
    "answers",
    "are",
    "by",
    "citation",
    "citations",
    "content",
    "context",
    "fact",
    "facts",
    "following",
    "for",
    "from",
    "given",
    "have",
    "here",
    "i",
    "id",
    "in",
    "is",
    "item",
    "items",
    "json",
    "list",
    "memories",
    "memory",
    "my",
    "note",
    "notes",
    "observation",
    "observations",
    "of",
    "on",
    "our",
    "project",
    "quote",
    "quotes",
    "recall",
    "recalled",
    "recalls",
    "remember",
    "remembered",
    "result",
    "results",
    "s",
    "source",
    "summary",
    "text",
    "the",
    "these",
    "we",
    "what",
];
/// Words that join two parts.
pub(super) const JOINING: [&str; 3] = ["also", "and", "plus"];

/// A sentence without one of these words may say the opposite.
pub(super) const LIMITING: [&str; 36] = [
    "aber", "barely", "but", "cannot", "except", "hardly", "if", "jamais", "kein", "keine", "never", "nicht", "nie", "no", "non",
    "none", "nor", "not", "nothing", "nunca", "nur", "ohne", "only", "pas", "rarely", "sans", "seldom", "sin", "t", "unless",
    "unlike", "until", "when", "without", "не", "нет",
];

/// Whether a word limits or denies what stands around it.
pub(in crate::memory) fn is_limiting(word: &str) -> bool {
    LIMITING.binary_search(&word).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_sorted() {
        assert!(FRAMING.is_sorted() && LIMITING.is_sorted());
    }
}

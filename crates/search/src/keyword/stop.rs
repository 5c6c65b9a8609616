//! English words that carry no meaning for search. They are indexed, but dropped from queries with other words.

/// Sorted, for binary search.
const STOP_WORDS: &[&str] = &[
    "a", "about", "after", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be", "because", "been", "before",
    "being", "but", "by", "can", "cannot", "could", "did", "do", "does", "doing", "done", "dont", "each", "for", "from", "had",
    "has", "have", "having", "he", "her", "here", "hers", "him", "his", "how", "i", "if", "im", "in", "into", "is", "isnt", "it",
    "its", "just", "me", "more", "most", "my", "no", "nor", "not", "of", "off", "on", "once", "only", "or", "other", "our",
    "ours", "out", "over", "own", "please", "same", "she", "should", "so", "some", "such", "tell", "than", "that", "thats",
    "the", "their", "theirs", "them", "then", "there", "these", "they", "this", "those", "to", "too", "under", "until", "up",
    "us", "very", "was", "we", "were", "what", "whats", "when", "where", "which", "while", "who", "whom", "whose", "why", "will",
    "with", "would", "you", "your", "yours",
];

/// Whether a lower-case word, before stemming, is a stop word.
pub(super) fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.binary_search(&word).is_ok()
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_list_is_sorted() {
        assert!(super::STOP_WORDS.is_sorted());
        assert!(super::is_stop_word("the") && super::is_stop_word("a") && super::is_stop_word("yours"));
        assert!(!super::is_stop_word("user") && !super::is_stop_word(""));
    }
}

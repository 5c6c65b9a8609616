//! Measures the nesting depth and the number of values of a JSON text without parsing it: one pass, no recursion, no
//! allocation.

/// Why a text is not parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Excess {
    /// Arrays and objects are nested too deeply.
    Depth,
    /// There are too many values. A parsed value takes many times the memory of its text.
    Values,
}

/// Whether a text exceeds `depth_max` or `values_max`.
///
/// The content of strings does not count. For a text that is not JSON the answer only has to be safe, because the parser
/// refuses it anyway.
pub fn excess(bytes: &[u8], depth_max: usize, values_max: usize) -> Option<Excess> {
    let (mut depth, mut values) = (0_usize, 1_usize);
    let mut rest = bytes.iter();
    while let Some(byte) = rest.next() {
        match byte {
            b'"' => skip_string(&mut rest),
            b'[' | b'{' => {
                depth += 1;
                values += 1;
                if depth > depth_max {
                    return Some(Excess::Depth);
                }
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            b',' => values += 1,
            _ => {}
        }
    }
    (values > values_max).then_some(Excess::Values)
}

/// Moves past the closing quote of a string and skips escaped quotes.
fn skip_string(rest: &mut std::slice::Iter<'_, u8>) {
    while let Some(byte) = rest.next() {
        match byte {
            b'"' => return,
            b'\\' => {
                rest.next();
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn exceeds(bytes: &[u8], depth_max: usize) -> bool {
        excess(bytes, depth_max, usize::MAX).is_some()
    }

    #[test]
    fn the_limit_itself_is_allowed() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(!exceeds(nested(128).as_bytes(), 128));
        assert!(exceeds(nested(129).as_bytes(), 128));
        assert!(!exceeds("[],".repeat(1_000).as_bytes(), 1));
    }

    #[test]
    fn values_are_counted_outside_strings() {
        let of = |text: &str, values_max| excess(text.as_bytes(), 128, values_max);
        assert_eq!(of(r#"{"a": [1, 2, 3]}"#, 5), None);
        assert_eq!(of(r#"{"a": [1, 2, 3, 4]}"#, 5), Some(Excess::Values));
        assert_eq!(of(r#"",,,,,,,,""#, 1), None);
    }

    #[test]
    fn brackets_in_strings_do_not_count() {
        assert!(!exceeds(br#"["[[[[", "\"[[[[", "\\", "\\\"{{{{"]"#, 1));
        assert!(exceeds(br#"["\\", [[]]]"#, 2));
        assert!(!exceeds(b"\"[[[[ never closed \\", 1));
    }

    proptest! {
        #[test]
        fn it_agrees_with_a_parsed_tree(value in tree()) {
            fn depth(value: &serde_json::Value) -> usize {
                match value {
                    serde_json::Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
                    serde_json::Value::Object(members) => 1 + members.values().map(depth).max().unwrap_or(0),
                    _ => 0,
                }
            }
            let text = value.to_string();
            let depth = depth(&value);
            prop_assert!(!exceeds(text.as_bytes(), depth));
            prop_assert!(depth == 0 || exceeds(text.as_bytes(), depth - 1));
        }
    }

    fn tree() -> impl Strategy<Value = serde_json::Value> {
        let leaf = "[\\[\\]{}\"\\\\a]{0,6}".prop_map(serde_json::Value::from);
        leaf.prop_recursive(6, 40, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(serde_json::Value::from),
                prop::collection::btree_map("[\\[{\"a]{0,4}", inner, 0..4)
                    .prop_map(|members| serde_json::Value::Object(members.into_iter().collect())),
            ]
        })
    }
}

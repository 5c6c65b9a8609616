//! How deeply a JSON text is nested and how many values it has, seen without parsing it: one pass, no recursion, no allocation.

/// Why a text is not parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Excess {
    /// More arrays and objects lie inside one another than may.
    Depth,
    /// There are more values than may be: each takes many times its text once it is parsed.
    Values,
}

/// What a text has too much of: nesting beyond `depth_max`, or more than `values_max` values.
///
/// What stands inside strings does not count. On text that is no JSON the answer only has to be safe: the parser refuses it anyway.
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

/// Moves behind the quote that ends the string; an escaped quote does not.
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
    fn strings_hide_their_brackets() {
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

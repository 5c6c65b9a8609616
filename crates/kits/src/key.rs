//! A brick's key: its name in snake case, with a number if that key is taken.

use base::Result;

/// The key of a name without any ASCII letter or digit.
const NAMELESS: &str = "brick";

/// Runs of ASCII letters and digits, in lower case and joined by `_`. Other letters and digits are dropped, and every other
/// character is a separator.
pub(crate) fn snake_case(name: &str) -> String {
    let mut key = String::with_capacity(name.len());
    let mut separated = false;
    for character in name.chars() {
        if character.is_ascii_alphanumeric() {
            if separated && !key.is_empty() {
                key.push('_');
            }
            separated = false;
            key.push(character.to_ascii_lowercase());
        } else if !character.is_alphanumeric() {
            separated = true;
        }
    }
    if key.is_empty() { NAMELESS.to_owned() } else { key }
}

/// The first free key of `key`, `key_2`, `key_3`, … with only a few lookups even if thousands are taken: it doubles the number
/// until one is free, then bisects. Bricks are never deleted, so the numbers have no gaps, unless a brick was itself named like
/// `key_7`. Then a later number may be chosen, which is also free.
pub(crate) fn first_free(key: &str, mut is_taken: impl FnMut(&str) -> Result<bool>) -> Result<String> {
    let numbered = |number: u64| format!("{key}_{number}");
    if !is_taken(key)? {
        return Ok(key.to_owned());
    }
    let (mut taken, mut free) = (1, 2);
    while is_taken(&numbered(free))? {
        (taken, free) = (free, free.saturating_mul(2));
    }
    while free - taken > 1 {
        let middle = taken + (free - taken) / 2;
        if is_taken(&numbered(middle))? {
            taken = middle;
        } else {
            free = middle;
        }
    }
    Ok(numbered(free))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_become_keys() {
        let cases = [
            ("Mentions pricing", "mentions_pricing"),
            ("  CTA: clear & early?  ", "cta_clear_early"),
            ("already_snake_case", "already_snake_case"),
            ("CamelCase 2", "camelcase_2"),
            ("Größe — naïve", "gre_nave"),
            ("__a--b__", "a_b"),
            ("漢字", "brick"),
            ("💥", "brick"),
            ("", "brick"),
            ("漢 a", "a"),
            ("a 漢", "a"),
        ];
        for (name, key) in cases {
            assert_eq!(snake_case(name), key, "{name}");
        }
    }

    #[test]
    fn ten_thousand_equal_names_need_few_lookups() {
        let mut taken: BTreeSet<String> = BTreeSet::from(["same".into()]);
        taken.extend((2..=10_000).map(|number| format!("same_{number}")));
        let mut asked = 0;
        let free = first_free("same", |key| {
            asked += 1;
            Ok(taken.contains(key))
        });
        assert_eq!(free.unwrap(), "same_10001");
        assert!(asked <= 30, "{asked}");
    }

    proptest! {
        #[test]
        fn keys_are_snake_case(name in "\\PC{0,130}") {
            let key = snake_case(&name);
            prop_assert!(!key.is_empty());
            prop_assert!(key.split('_').all(|word| !word.is_empty()), "{}", key);
            prop_assert!(key.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_'));
            prop_assert_eq!(snake_case(&key), key);
        }

        #[test]
        fn keys_keep_every_ascii_letter_and_digit_in_order(name in "\\PC{0,130}") {
            let kept: String = name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect();
            let key = snake_case(&name).replace('_', "");
            prop_assert_eq!(key, if kept.is_empty() { NAMELESS.to_owned() } else { kept });
        }

        #[test]
        fn the_chosen_key_is_always_free(numbers in proptest::collection::btree_set(1_u64..60, 0..60)) {
            let taken: BTreeSet<String> =
                numbers.iter().map(|number| if *number == 1 { "k".to_owned() } else { format!("k_{number}") }).collect();
            let free = first_free("k", |key| Ok(taken.contains(key))).unwrap();
            prop_assert!(!taken.contains(&free));
        }

        #[test]
        fn without_gaps_the_next_number_is_chosen(count in 1_u64..300) {
            let free = first_free("k", |key| {
                let number = key.strip_prefix("k_").map_or(1, |number| number.parse().unwrap());
                Ok(number <= count)
            });
            prop_assert_eq!(free.unwrap(), format!("k_{}", count + 1));
        }
    }
}

//! Patterns of `workspaces` and of `include`: `*`, `?` and `**`. Matching takes time proportional to pattern times path.

/// Whether a path matches a pattern. Both are relative to the same folder.
pub(super) fn matches(pattern: &str, path: &str) -> bool {
    let pattern: Vec<&str> = parts(pattern).collect();
    let path: Vec<&str> = parts(path).collect();
    wildcard(
        &pattern,
        &path,
        |part| *part == "**",
        |pattern, part| {
            let (pattern, part): (Vec<char>, Vec<char>) = (pattern.chars().collect(), part.chars().collect());
            wildcard(&pattern, &part, |sign| *sign == '*', |sign, letter| *sign == '?' || sign == letter)
        },
    )
}

fn parts(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter(|part| !part.is_empty() && *part != ".")
}

/// Matches a sequence against a pattern in which some signs stand for any sequence. It goes back only to the last such sign.
fn wildcard<T>(pattern: &[T], text: &[T], is_any: impl Fn(&T) -> bool, is_equal: impl Fn(&T, &T) -> bool) -> bool {
    let (mut at, mut position) = (0, 0);
    let mut resume: Option<(usize, usize)> = None;
    while let Some(item) = text.get(position) {
        match pattern.get(at) {
            Some(sign) if is_any(sign) => {
                resume = Some((at, position));
                at += 1;
            }
            Some(sign) if is_equal(sign, item) => {
                at += 1;
                position += 1;
            }
            _ => match resume {
                Some((sign, from)) => {
                    resume = Some((sign, from + 1));
                    at = sign + 1;
                    position = from + 1;
                }
                None => return false,
            },
        }
    }
    pattern.iter().skip(at).all(is_any)
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn patterns_match_as_globs_do() {
        for (pattern, path, expected) in [
            ("packages/*", "packages/a", true),
            ("packages/*", "packages/a/b", false),
            ("./packages/**", "packages/a/b", true),
            ("packages/**", "packages", true),
            ("**/*.ts", "a.ts", true),
            ("**/*.ts", "a/b.ts", true),
            ("src/**/*.test.?s", "src/a/b.test.ts", true),
            ("src/**/*.test.?s", "src/a/b.ts", false),
            ("a*b*c", "axxbyyc", true),
            ("a*b*c", "axxbyy", false),
        ] {
            assert_eq!(matches(pattern, path), expected, "{pattern} {path}");
        }
        assert!(!matches(&"a*".repeat(400), &"a".repeat(300)));
    }
}

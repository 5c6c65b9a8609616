//! Licences as packages state them: SPDX expressions (`OR`, `AND`, `WITH`, parentheses), and `A/B`, which is how they said `OR` before.

use std::collections::BTreeSet;
use std::iter::Peekable;

/// Whether what is allowed satisfies an expression; one that cannot be read satisfies nobody.
pub(crate) fn is_satisfied(expression: &str, allowed: &BTreeSet<String>) -> Result<bool, String> {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let mut reader = Reader { words: spaced.split_whitespace().peekable(), allowed };
    match (reader.any(), reader.words.next()) {
        (Some(is_satisfied), None) => Ok(is_satisfied),
        _ => Err(format!("`{expression}` is no licence expression")),
    }
}

struct Reader<'a, W: Iterator<Item = &'a str>> {
    words: Peekable<W>,
    allowed: &'a BTreeSet<String>,
}

impl<'a, W: Iterator<Item = &'a str>> Reader<'a, W> {
    /// `A OR B`, which binds less than `AND`. Both sides are read, whatever the first one says.
    fn any(&mut self) -> Option<bool> {
        let mut is_satisfied = self.all()?;
        while self.words.next_if_eq(&"OR").is_some() {
            is_satisfied |= self.all()?;
        }
        Some(is_satisfied)
    }

    fn all(&mut self) -> Option<bool> {
        let mut is_satisfied = self.one()?;
        while self.words.next_if_eq(&"AND").is_some() {
            is_satisfied &= self.one()?;
        }
        Some(is_satisfied)
    }

    /// A licence, perhaps with an exception, which makes it another one; or an expression in parentheses.
    fn one(&mut self) -> Option<bool> {
        if self.words.next_if_eq(&"(").is_some() {
            let inner = self.any()?;
            return self.words.next_if_eq(&")").map(|_| inner);
        }
        let name = self.name()?;
        if self.words.next_if_eq(&"WITH").is_none() {
            return Some(self.allowed.contains(name));
        }
        let exception = self.name()?;
        Some(self.allowed.contains(&format!("{name} WITH {exception}")))
    }

    fn name(&mut self) -> Option<&'a str> {
        self.words.next_if(|word| !["OR", "AND", "WITH", "(", ")"].contains(word))
    }
}

fn satisfied(expression: &str) -> Result<bool, String> {
    let allowed = ["Apache-2.0", "Apache-2.0 WITH LLVM-exception", "ISC", "MIT"].map(str::to_owned);
    is_satisfied(expression, &BTreeSet::from(allowed))
}

#[test]
fn one_allowed_licence_of_a_choice_will_do() {
    for good in [
        "MIT",
        "MIT OR GPL-3.0-only",
        "GPL-3.0-only OR MIT",
        "Unlicense/MIT",
        "LGPL-2.1 / MIT / MPL-2.0",
        "Apache-2.0 WITH LLVM-exception",
        "Apache-2.0 WITH LLVM-exception OR GPL-2.0-only",
        "MIT AND ISC",
        "(MIT OR GPL-2.0-only) AND ISC",
        "((MIT))",
        // `AND` binds more.
        "MIT OR GPL-2.0-only AND LGPL-2.1",
        "GPL-2.0-only AND LGPL-2.1 OR MIT",
    ] {
        assert_eq!(satisfied(good), Ok(true), "{good}");
    }
}

#[test]
fn a_licence_that_is_not_listed_is_refused() {
    for bad in [
        "GPL-3.0-only",
        "GPL-3.0-only OR AGPL-3.0-only",
        "GPL-2.0/LGPL-2.1",
        "MIT AND GPL-3.0-only",
        "GPL-3.0-only AND MIT",
        "(MIT OR GPL-2.0-only) AND GPL-2.0-only",
        "MIT WITH LLVM-exception",
        "GPL-2.0-only WITH LLVM-exception",
        "MIT-0",
        "mit",
        "Apache-2.0+",
    ] {
        assert_eq!(satisfied(bad), Ok(false), "{bad}");
    }
}

#[test]
fn what_is_no_expression_satisfies_nobody() {
    for broken in
        ["", "OR", "MIT OR", "MIT ISC", "MIT AND OR ISC", "(MIT", "MIT)", "()", "MIT WITH", "MIT WITH (ISC)", "MIT//ISC"]
    {
        assert!(satisfied(broken).is_err(), "{broken}");
    }
}

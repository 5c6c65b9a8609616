//! Licences as packages state them: SPDX expressions, and `A/B`, which is how they said `OR` before.

use std::collections::BTreeSet;

use spdx::{Expression, ParseMode};

/// A name that SPDX does not know, or knows no more, is a licence all the same: one that nobody has allowed.
const MODE: ParseMode = ParseMode {
    allow_slash_as_or_operator: true,
    allow_imprecise_license_names: false,
    allow_postfix_plus_on_gpl: true,
    allow_deprecated: true,
    allow_unknown: true,
};

/// Whether what is allowed satisfies an expression; one that cannot be read satisfies nobody.
pub(crate) fn is_satisfied(expression: &str, allowed: &BTreeSet<String>) -> Result<bool, String> {
    let parsed = Expression::parse_mode(expression, MODE).map_err(|error| error.to_string())?;
    // A licence with an exception is another one, and is allowed by its whole name.
    Ok(parsed.evaluate(|required| allowed.contains(&required.to_string())))
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

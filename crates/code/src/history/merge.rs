//! A merge of two changes of one text, line by line.
//!
//! Two changes that touch each other are a conflict, even if a guess could combine them: a wrong guess would put code together that
//! nobody wrote.

use std::ops::Range;

use similar::DiffOp;

use super::delta::{compare, deadline, is_comparable, lines};

/// One change of the base: these lines became those.
#[derive(Clone, Debug)]
struct Edit {
    base: Range<usize>,
    new: Range<usize>,
}

/// `ours` with the change that leads from `base` to `theirs`. `None` if the two changes touch each other, or the texts are too long
/// to compare.
pub(super) fn merge(base: &[u8], ours: &[u8], theirs: &[u8]) -> Option<Vec<u8>> {
    if ![base, ours, theirs].iter().all(|content| is_comparable(content)) {
        return None;
    }
    let (base, ours, theirs) = (lines(base), lines(ours), lines(theirs));
    let (our_edits, their_edits) = (edits(&base, &ours), edits(&base, &theirs));
    let (mut our_edits, mut their_edits) = (our_edits.into_iter().peekable(), their_edits.into_iter().peekable());
    let (mut merged, mut done) = (Vec::<&[u8]>::new(), 0);
    loop {
        let (edit, lines) = match (our_edits.peek(), their_edits.peek()) {
            (None, None) => break,
            (Some(our), Some(their)) if touches(our, their) => {
                let is_same = our.base == their.base && ours.get(our.new.clone())? == theirs.get(their.new.clone())?;
                if !is_same {
                    return None;
                }
                their_edits.next();
                (our_edits.next()?, &ours)
            }
            (Some(our), Some(their)) if their.base.start < our.base.start => (their_edits.next()?, &theirs),
            (None, Some(_)) => (their_edits.next()?, &theirs),
            _ => (our_edits.next()?, &ours),
        };
        merged.extend(base.get(done..edit.base.start)?);
        merged.extend(lines.get(edit.new)?);
        done = edit.base.end;
    }
    merged.extend(base.get(done..)?);
    Some(merged.concat())
}

/// Whether two changes overlap or are next to each other.
fn touches(one: &Edit, other: &Edit) -> bool {
    one.base.start <= other.base.end && other.base.start <= one.base.end
}

fn edits(base: &[&[u8]], new: &[&[u8]]) -> Vec<Edit> {
    let mut edits: Vec<Edit> = Vec::new();
    for op in compare(base, new, deadline()) {
        let edit = Edit { base: op.old_range(), new: op.new_range() };
        match edits.last_mut() {
            _ if matches!(op, DiffOp::Equal { .. }) => (),
            // A deletion and an insertion at one place are one change.
            Some(last) if last.base.end == edit.base.start && last.new.end == edit.new.start => {
                last.base.end = edit.base.end;
                last.new.end = edit.new.end;
            }
            _ => edits.push(edit),
        }
    }
    edits
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn merged(base: &str, ours: &str, theirs: &str) -> Option<String> {
        merge(base.as_bytes(), ours.as_bytes(), theirs.as_bytes()).map(|bytes| String::from_utf8(bytes).unwrap())
    }

    #[test]
    fn changes_apart_are_combined_and_changes_that_touch_are_not() {
        let base = "1\n2\n3\n4\n5\n";
        for (ours, theirs, expected) in [
            ("x\n2\n3\n4\n5\n", "1\n2\n3\n4\ny\n", Some("x\n2\n3\n4\ny\n")),
            ("2\n3\n4\n5\n", "1\n2\n3\n4\n5\n6\n", Some("2\n3\n4\n5\n6\n")),
            ("1\n2\nx\n4\n5\n", "1\n2\nx\n4\n5\n", Some("1\n2\nx\n4\n5\n")),
            ("1\n2\nx\n4\n5\n", "1\n2\ny\n4\n5\n", None),
            ("1\n2\nx\n4\n5\n", "1\n2\n3\ny\n5\n", None),
            ("1\n2\n2.5\n3\n4\n5\n", "1\n2\n2.6\n3\n4\n5\n", None),
            (base, "new", Some("new")),
            ("", base, Some("")),
        ] {
            assert_eq!(merged(base, ours, theirs).as_deref(), expected, "{ours:?} {theirs:?}");
        }
    }

    fn text() -> impl Strategy<Value = String> {
        proptest::collection::vec("[abc]\n", 0..8).prop_map(|lines| lines.concat())
    }

    proptest! {
        #[test]
        fn one_change_alone_is_taken_as_it_is(base in text(), new in text()) {
            prop_assert_eq!(merged(&base, &base, &new), Some(new.clone()));
            prop_assert_eq!(merged(&base, &new, &base), Some(new.clone()));
            prop_assert_eq!(merged(&base, &new, &new), Some(new));
        }

        #[test]
        fn the_order_of_the_two_does_not_matter(base in text(), one in text(), other in text()) {
            prop_assert_eq!(merged(&base, &one, &other), merged(&base, &other, &one));
        }
    }
}

//! Definitions with their parents. A parent is the definition around; methods outside of their type find it by its name.

use std::collections::HashMap;

use crate::assemble::signature;
use crate::collect::{Defined, Scope};
use crate::docs::{Above, Marks};
use crate::exports::{Candidate, is_exported};
use crate::nesting::Range;
use crate::text::{Span, clip, unquote};
use crate::{Bounds, Definition, DefinitionKind, Export, Language};

/// What the builder makes.
pub(crate) struct Built {
    pub(crate) definitions: Vec<Definition>,
    /// Exports with the byte where they start.
    pub(crate) exports: Vec<(u32, Export)>,
    /// The ranges of definitions and scopes.
    pub(crate) ranges: Vec<Range>,
}

/// A range that is open at the current place of the text.
struct Open {
    whole: Span,
    /// The definition; `None` for a scope whose type is not known yet.
    definition: Option<u32>,
    /// Whether functions directly in it are methods.
    has_methods: bool,
    /// Whether it is a function: what it declares is its own business.
    is_function: bool,
    /// Whether names in it can be seen from other files.
    is_exported: bool,
}

/// Takes definitions in the order of the text.
pub(crate) struct Builder<'a> {
    language: Language,
    text: &'a str,
    bounds: &'a Bounds,
    /// Whether the rule of the language says what is exported.
    has_rule: bool,
    definitions: Vec<Definition>,
    exports: Vec<(u32, Export)>,
    ranges: Vec<Range>,
    /// Scopes, each with the name of its type.
    scopes: Vec<(Span, &'a str)>,
    /// Types of the file by name.
    types: HashMap<&'a str, u32>,
    open: Vec<Open>,
}

impl<'a> Builder<'a> {
    pub(crate) fn new(language: Language, text: &'a str, bounds: &'a Bounds, has_rule: bool) -> Self {
        Self {
            language,
            text,
            bounds,
            has_rule,
            definitions: Vec::new(),
            exports: Vec::new(),
            ranges: Vec::new(),
            scopes: Vec::new(),
            types: HashMap::new(),
            open: Vec::new(),
        }
    }

    /// Adds definitions, which must be in the order of the text, and scopes.
    pub(crate) fn define(&mut self, defined: &[Defined], mut scopes: Vec<Scope>, marks: &Marks<'_>) {
        scopes.sort_by_key(|scope| scope.whole.start);
        self.scopes = scopes.iter().map(|scope| (scope.whole, type_name(scope.owner.text(self.text)))).collect();
        let mut coming = self.scopes.clone().into_iter().peekable();
        let mut last: Option<(u32, Above)> = None;
        for one in defined {
            while let Some((whole, owner)) = coming.next_if(|(whole, _)| whole.start <= one.whole.start) {
                self.close(whole);
                let definition = self.types.get(owner).copied();
                self.open.push(Open { whole, definition, has_methods: true, is_function: false, is_exported: false });
            }
            self.close(one.whole);
            if self.is_local(one) {
                continue;
            }
            let above = match last.take() {
                // Several names of one statement share what is above it.
                Some((start, above)) if start == one.whole.start => above,
                _ => marks.above(one.whole.start, one.start_line),
            };
            self.add(one, &above, marks);
            last = Some((one.whole.start, above));
        }
    }

    pub(crate) fn finish(mut self) -> Built {
        // What stands directly in a scope belongs to its type, wherever in the file the type is.
        for (whole, owner) in &self.scopes {
            let definition = self.types.get(owner).copied();
            self.ranges.push(Range { start: whole.start, end: whole.end, definition });
        }
        Built { definitions: self.definitions, exports: self.exports, ranges: self.ranges }
    }

    /// Leaves the ranges that do not contain `span`.
    fn close(&mut self, span: Span) {
        while self.open.pop_if(|open| open.whole.end < span.end || open.whole == span).is_some() {}
    }

    /// A variable in a function, or a prototype there, is of no interest to others.
    fn is_local(&self, one: &Defined) -> bool {
        let is_small = match one.kind {
            DefinitionKind::Variable | DefinitionKind::Constant => true,
            DefinitionKind::Function => one.body.is_none() && matches!(self.language, Language::C | Language::Cpp),
            _ => false,
        };
        is_small && self.open.last().is_some_and(|open| open.is_function)
    }

    /// Whether it is a macro of Rust with `#[macro_export]`.
    fn is_exported_macro(&self, one: &Defined, marks: &Marks<'_>) -> bool {
        let is_macro = self.language == Language::Rust && one.kind == DefinitionKind::Macro;
        is_macro && marks.attributes_above(one.whole.start).into_iter().any(|attribute| attribute.contains("macro_export"))
    }

    fn add(&mut self, one: &Defined, above: &Above, marks: &Marks<'_>) {
        let Ok(index) = u32::try_from(self.definitions.len()) else { return };
        let name = unquote(one.name.text(self.text));
        let around = self.open.last();
        let owner = one.owner.and_then(|owner| self.types.get(type_name(owner.text(self.text))).copied());
        let parent = owner.or_else(|| around.and_then(|open| open.definition));
        let is_method = one.owner.is_some() || around.is_some_and(|open| open.has_methods);
        let kind = if one.kind == DefinitionKind::Function && is_method { DefinitionKind::Method } else { one.kind };
        let is_seen = around.is_none_or(|open| open.is_exported);
        let head = Span { start: one.whole.start, end: one.name.start }.text(self.text);
        let by_rule = self.has_rule && is_seen && is_exported(self.language, &Candidate { kind, name, head });
        let is_exported = one.is_exported || by_rule || self.is_exported_macro(one, marks);
        let cut = clip(name, self.bounds.text_chars_max);
        if is_exported {
            self.exports.push((one.name.start, Export { name: cut.to_owned(), line: one.name_line }));
        }
        let has_methods = is_class_like(kind);
        if has_methods || kind == DefinitionKind::Type {
            self.types.entry(name).or_insert(index);
        }
        // A type alias may spell out a struct, which is not a member of the alias.
        if kind != DefinitionKind::Type {
            self.open.push(Open {
                whole: one.whole,
                definition: Some(index),
                has_methods,
                is_function: matches!(kind, DefinitionKind::Function | DefinitionKind::Method),
                is_exported: is_exported && kind == DefinitionKind::Module,
            });
        }
        self.ranges.push(Range { start: above.start, end: one.whole.end, definition: Some(index) });
        let inside = one.doc_inside.map(|inside| marks.doc(std::iter::once(inside)));
        self.definitions.push(Definition {
            kind,
            name: cut.to_owned(),
            parent,
            start_line: above.start_line,
            end_line: one.end_line,
            start: above.start,
            end: one.whole.end,
            signature: signature(one, self.text, marks, self.bounds),
            doc: inside.unwrap_or_else(|| above.doc.clone()),
        });
    }
}

/// Whether a function in it is a method.
fn is_class_like(kind: DefinitionKind) -> bool {
    matches!(
        kind,
        DefinitionKind::Class | DefinitionKind::Struct | DefinitionKind::Enum | DefinitionKind::Interface | DefinitionKind::Trait
    )
}

/// The name of a type without its path and arguments: `B` of `&a::B<T>` and of `*B[T]`.
fn type_name(written: &str) -> &str {
    let plain = written.split(['<', '[', '(', '{', '+']).next().unwrap_or(written);
    let last = plain.rsplit([':', '.', ' ', '&', '*']).find(|part| !part.is_empty());
    last.unwrap_or(plain).trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_is_known_by_its_own_name() {
        for written in ["B", "&a::B<T>", "*B[K, V]", "a.B", "&'a mut B", "dyn a::B + Send"] {
            assert_eq!(type_name(written), "B", "{written}");
        }
        assert_eq!(type_name(""), "");
    }
}

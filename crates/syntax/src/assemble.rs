//! The outline, made of what the query found: order, parents, docs, signatures, and what lies in what. Every step is a sort or one pass.

use std::collections::{HashMap, HashSet};

use crate::collect::{Defined, Found, Scope, Used};
use crate::docs::{Above, Marks};
use crate::exports::{Candidate, is_exported};
use crate::text::{Span, clip, fold};
use crate::{Bounds, Definition, DefinitionKind, Export, Language, Outline, Reference};

/// Makes the outline.
pub(crate) fn assemble(language: Language, mut found: Found, text: &str, bounds: &Bounds, errors: u32) -> Outline {
    let mut is_cut = found.is_cut;
    let marks = Marks::new(text, std::mem::take(&mut found.marks), std::mem::take(&mut found.wrappers), bounds.text_chars_max);
    let mut builder = Builder {
        language,
        text,
        bounds,
        definitions: Vec::new(),
        exports: std::mem::take(&mut found.exports),
        types: HashMap::new(),
        open: Vec::new(),
    };
    let mut defined = unique(std::mem::take(&mut found.definitions));
    is_cut |= defined.len() > bounds.items_max;
    defined.truncate(bounds.items_max);
    builder.define(&defined, std::mem::take(&mut found.scopes), &marks);
    let mut definitions = builder.definitions;
    let mut exports = builder.exports;
    let references = refer(&definitions, found.references, text, bounds, &mut is_cut);

    found.imports.sort_by_key(|(start, _)| *start);
    let mut imports: Vec<_> =
        found.imports.into_iter().map(|(_, import)| import).filter(|import| !import.path.is_empty()).collect();
    exports.sort_by_key(|(start, _)| *start);
    let mut names = HashSet::new();
    let mut exports: Vec<Export> =
        exports.into_iter().map(|(_, export)| export).filter(|export| names.insert(export.name.clone())).collect();
    is_cut |= imports.len() > bounds.items_max || exports.len() > bounds.items_max;
    imports.truncate(bounds.items_max);
    exports.truncate(bounds.items_max);
    definitions.shrink_to_fit();
    Outline { definitions, references, imports, exports, package: found.package, errors, is_cut }
}

/// One definition for each name node, in the order of the text, outer before inner.
fn unique(mut defined: Vec<Defined>) -> Vec<Defined> {
    defined.sort_by_key(|one| (one.name.start, one.pattern));
    defined.dedup_by_key(|one| one.name.start);
    defined.sort_by_key(|one| (one.whole.start, std::cmp::Reverse(one.whole.end), one.name.start));
    defined
}

/// A range that is open at the current place of the text.
struct Open {
    end: u32,
    start: u32,
    /// The definition; `None` for a scope whose type is not in the file.
    definition: Option<u32>,
    /// Whether functions directly in it are methods.
    has_methods: bool,
    /// Whether names in it can be seen from other files.
    is_exported: bool,
}

struct Builder<'a> {
    language: Language,
    text: &'a str,
    bounds: &'a Bounds,
    definitions: Vec<Definition>,
    exports: Vec<(u32, Export)>,
    /// Types of the file by name, so that methods outside of them find them.
    types: HashMap<&'a str, u32>,
    open: Vec<Open>,
}

impl<'a> Builder<'a> {
    fn define(&mut self, defined: &[Defined], mut scopes: Vec<Scope>, marks: &Marks<'_>) {
        scopes.sort_by_key(|scope| scope.whole.start);
        let mut scopes = scopes.into_iter().peekable();
        let mut last: Option<(u32, Above)> = None;
        for one in defined {
            while let Some(scope) = scopes.next_if(|scope| scope.whole.start <= one.whole.start) {
                self.close(scope.whole);
                let definition = self.types.get(scope.owner.text(self.text)).copied();
                let Span { start, end } = scope.whole;
                self.open.push(Open { start, end, definition, has_methods: true, is_exported: false });
            }
            self.close(one.whole);
            let above = match &last {
                // Several names of one statement share what is above it.
                Some((start, above)) if *start == one.whole.start => above.clone(),
                _ => marks.above(one.whole.start, one.start_line),
            };
            last = Some((one.whole.start, above.clone()));
            self.add(one, above, marks);
        }
    }

    /// Leaves the ranges that do not contain `span`.
    fn close(&mut self, span: Span) {
        while self.open.pop_if(|open| open.end < span.end || (open.end, open.start) == (span.end, span.start)).is_some() {}
    }

    fn add(&mut self, one: &Defined, above: Above, marks: &Marks<'_>) {
        let Ok(index) = u32::try_from(self.definitions.len()) else { return };
        let name = one.name.text(self.text);
        let around = self.open.last();
        let owner = one.owner.and_then(|owner| self.types.get(owner.text(self.text)).copied());
        let parent = owner.or_else(|| around.and_then(|open| open.definition));
        let is_top = around.is_none_or(|open| open.is_exported);
        let kind = match one.kind {
            DefinitionKind::Function if one.owner.is_some() || around.is_some_and(|open| open.has_methods) => {
                DefinitionKind::Method
            }
            kind => kind,
        };
        let signature = self.signature(one);
        let head = Span { start: one.whole.start, end: one.name.start.max(one.whole.start) }.text(self.text);
        let is_exported = one.is_exported || (is_top && is_exported(self.language, &Candidate { kind, name, head }));
        if is_exported {
            let name = clip(name, self.bounds.text_chars_max).to_owned();
            self.exports.push((one.name.start, Export { name, line: one.start_line }));
        }
        let has_methods = is_class_like(kind);
        if has_methods || kind == DefinitionKind::Type {
            self.types.entry(name).or_insert(index);
        }
        self.open.push(Open {
            start: one.whole.start,
            end: one.whole.end,
            definition: Some(index),
            has_methods,
            is_exported: is_exported && kind == DefinitionKind::Module,
        });
        let doc = one.doc_inside.map_or(above.doc, |inside| marks.doc(std::iter::once(inside)));
        self.definitions.push(Definition {
            kind,
            name: clip(name, self.bounds.text_chars_max).to_owned(),
            parent,
            start_line: above.start_line,
            end_line: one.end_line,
            start: above.start,
            end: one.whole.end,
            signature,
            doc,
        });
    }

    /// The head of a definition: up to its body, else its first line.
    fn signature(&self, one: &Defined) -> String {
        let raw = match one.body.filter(|body| *body > one.whole.start) {
            Some(body) => Span { start: one.whole.start, end: body }.text(self.text),
            None => one.whole.text(self.text).lines().next().unwrap_or_default(),
        };
        let mut folded = fold(raw, self.bounds.text_chars_max);
        let kept = folded.trim_end_matches([' ', '{', ':', ';', '=', ',']).trim_end_matches("=>").trim_end().len();
        folded.truncate(kept);
        folded
    }
}

/// Whether a function in it is a method.
fn is_class_like(kind: DefinitionKind) -> bool {
    matches!(
        kind,
        DefinitionKind::Class | DefinitionKind::Struct | DefinitionKind::Enum | DefinitionKind::Interface | DefinitionKind::Trait
    )
}

/// References in the order of the text, each with the innermost definition around it.
fn refer(definitions: &[Definition], mut used: Vec<Used>, text: &str, bounds: &Bounds, is_cut: &mut bool) -> Vec<Reference> {
    used.sort_by_key(|one| (one.name.start, one.pattern));
    used.dedup_by_key(|one| one.name.start);
    *is_cut |= used.len() > bounds.items_max;
    used.truncate(bounds.items_max);
    let mut references = Vec::with_capacity(used.len());
    let mut open: Vec<(u32, u32)> = Vec::new();
    let mut coming = (0_u32..).zip(definitions).peekable();
    for one in used {
        while let Some((index, definition)) = coming.next_if(|(_, definition)| definition.start <= one.name.start) {
            while open.pop_if(|(_, end)| *end <= definition.start).is_some() {}
            open.push((index, definition.end));
        }
        while open.pop_if(|(_, end)| *end <= one.name.start).is_some() {}
        let cut = |span: Span| clip(span.text(text).trim(), bounds.text_chars_max).to_owned();
        references.push(Reference {
            kind: one.kind,
            name: cut(one.name),
            qualifier: one.qualifier.map(|span| fold(span.text(text), bounds.text_chars_max)),
            from: open.last().map(|(index, _)| *index),
            line: one.line,
        });
    }
    references
}

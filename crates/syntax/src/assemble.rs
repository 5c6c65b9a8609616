//! The outline, made of what the query found: order, docs, and what lies in what. Every step is a sort or one pass.

use std::collections::HashSet;

use crate::collect::{Defined, Found, Used};
use crate::define::Builder;
use crate::docs::Marks;
use crate::nesting::{Nesting, Range};
use crate::text::{Span, clip, fold};
use crate::{Bounds, Definition, DefinitionKind, Export, Import, ImportKind, Language, Outline, Reference, languages};

/// A path of more modules than this is cut.
const MODULES_MAX: usize = 32;

/// Makes the outline.
pub(crate) fn assemble(language: Language, found: Found, text: &str, bounds: &Bounds, errors: u32) -> Outline {
    let mut is_cut = found.is_cut;
    let marks = Marks::new(text, found.marks, found.wrappers, bounds.text_chars_max);
    // In Python `__all__` says it all: it is the only thing that the query notes.
    let has_list = language == Language::Python && !found.exports.is_empty();
    let mut builder = Builder::new(language, text, bounds, !has_list);
    let mut defined = unique(found.definitions);
    limit(&mut defined, bounds, &mut is_cut);
    builder.define(&defined, found.scopes, &marks);
    let built = builder.finish();

    let references = references(built.ranges.clone(), found.references, text, bounds, &mut is_cut);
    let mut imports = imports(language, &built.definitions, built.ranges, found.imports, &marks);
    limit(&mut imports, bounds, &mut is_cut);
    let mut exports = found.exports;
    exports.extend(built.exports);
    let mut exports = named_once(exports);
    limit(&mut exports, bounds, &mut is_cut);
    Outline { definitions: built.definitions, references, imports, exports, package: found.package, errors, is_cut }
}

fn limit<T>(list: &mut Vec<T>, bounds: &Bounds, is_cut: &mut bool) {
    *is_cut |= list.len() > bounds.items_max;
    list.truncate(bounds.items_max);
}

/// One definition for each name node, in the order of the text, outer before inner.
fn unique(mut defined: Vec<Defined>) -> Vec<Defined> {
    // Of two matches of the same pattern, the one with more parts tells more.
    defined.sort_by_key(|one| (one.name.start, one.pattern, one.body.is_none(), one.owner.is_none()));
    defined.dedup_by_key(|one| one.name.start);
    defined.sort_by_key(|one| (one.whole.start, std::cmp::Reverse(one.whole.end), one.name.start));
    defined
}

/// References in the order of the text, each with the innermost definition around it.
fn references(ranges: Vec<Range>, mut used: Vec<Used>, text: &str, bounds: &Bounds, is_cut: &mut bool) -> Vec<Reference> {
    used.sort_by_key(|one| (one.name.start, one.pattern, one.qualifier.is_none()));
    used.dedup_by_key(|one| one.name.start);
    limit(&mut used, bounds, is_cut);
    let mut nesting = Nesting::new(ranges);
    used.into_iter()
        .map(|one| Reference {
            kind: one.kind,
            name: clip(one.name.text(text).trim(), bounds.text_chars_max).to_owned(),
            qualifier: one.qualifier.map(|span| qualifier(span, one.name, text, bounds)),
            from: nesting.innermost(one.name.start),
            line: one.line,
        })
        .collect()
}

/// What stands before a name. A span that is around the name ends where the name starts, without the separator.
fn qualifier(span: Span, name: Span, text: &str, bounds: &Bounds) -> String {
    if span.end <= name.start {
        return fold(span.text(text), bounds.text_chars_max);
    }
    let before = Span { start: span.start, end: name.start }.text(text);
    fold(before.trim_end().trim_end_matches(['.', ':', '>', '-', '?', '!']), bounds.text_chars_max)
}

/// Imports in the order of the text. `mod x;` of Rust also has the inline modules around it, and the file of its attribute.
fn imports(
    language: Language,
    definitions: &[Definition],
    ranges: Vec<Range>,
    mut found: Vec<(u32, Import)>,
    marks: &Marks<'_>,
) -> Vec<Import> {
    found.sort_by_key(|(start, _)| *start);
    found.retain(|(_, import)| !import.path.is_empty());
    if language == Language::Rust {
        let mut nesting = Nesting::new(ranges);
        for (start, import) in found.iter_mut().filter(|(_, import)| import.kind == ImportKind::Module) {
            for outer in modules_around(definitions, nesting.innermost(*start)) {
                import.path = format!("{outer}::{}", import.path);
            }
            let attributes = marks.attributes_above(*start);
            import.location = attributes.into_iter().find_map(languages::rust::path_attribute).map(str::to_owned);
        }
    }
    found.into_iter().map(|(_, import)| import).collect()
}

/// The names of the modules around a definition, the innermost first.
fn modules_around(definitions: &[Definition], innermost: Option<u32>) -> Vec<&str> {
    let mut names = Vec::new();
    let mut next = innermost;
    for _ in 0..MODULES_MAX {
        let Some(definition) = next.and_then(|index| definitions.get(index as usize)) else { break };
        if definition.kind == DefinitionKind::Module {
            names.push(definition.name.as_str());
        }
        next = definition.parent;
    }
    names
}

/// Exports in the order of the text, each name once.
fn named_once(mut exports: Vec<(u32, Export)>) -> Vec<Export> {
    exports.sort_by_key(|(start, _)| *start);
    let mut names = HashSet::new();
    exports.into_iter().map(|(_, export)| export).filter(|export| names.insert(export.name.clone())).collect()
}

/// The head of a definition on one line: up to its body, else its first line.
pub(crate) fn signature(one: &Defined, text: &str, marks: &Marks<'_>, bounds: &Bounds) -> String {
    let start = marks.after_attributes(one.whole.start);
    let end = one.whole.end;
    let body = one.body.filter(|body| *body > start);
    let raw = match body {
        Some(body) => Span { start, end: body }.text(text),
        None => Span { start, end }.text(text).lines().next().unwrap_or_default(),
    };
    let mut folded = fold(raw, bounds.text_chars_max);
    let kept = folded.trim_end_matches([' ', '{', ':', ';', '=', ',']).trim_end_matches("=>").trim_end().len();
    folded.truncate(kept);
    // `typedef struct { … } name;`
    if body.is_some_and(|body| body < one.name.start) {
        folded.push(' ');
        folded.push_str(clip(one.name.text(text), bounds.text_chars_max));
    }
    folded
}

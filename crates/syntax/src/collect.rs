//! One pass of the query over the tree. It notes where things are; `assemble` makes the outline of it. The number of things that are
//! noted is limited before they are stored.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::time::Instant;

use streaming_iterator::StreamingIterator;
use tree_sitter::{Node, QueryCursor, QueryCursorOptions, QueryMatch};

use crate::captures::Role;
use crate::parse::{Parsed, Unparsed};
use crate::query::Compiled;
use crate::text::{Span, clip, line, unquote};
use crate::{Bounds, DefinitionKind, Export, Import, ImportKind, Imported, Language, ReferenceKind, languages};

/// More partial matches than this at one time are dropped: only a text made for it has so many.
const PARTIAL_MATCHES_MAX: u32 = 512;

/// Everything that the query found, in no order.
#[derive(Default)]
pub(crate) struct Found {
    pub(crate) definitions: Vec<Defined>,
    pub(crate) scopes: Vec<Scope>,
    pub(crate) marks: Vec<Mark>,
    /// The start of a wrapped node, and the start of its wrapper.
    pub(crate) wrappers: HashMap<u32, u32>,
    pub(crate) references: Vec<Used>,
    /// Imports with the byte where they start.
    pub(crate) imports: Vec<(u32, Import)>,
    /// Exports with the byte where they start.
    pub(crate) exports: Vec<(u32, Export)>,
    pub(crate) package: Option<String>,
    pub(crate) is_cut: bool,
    /// Where the import of a statement is in `imports`, by the statement's node.
    statements: HashMap<usize, usize>,
}

/// A definition and where its parts are.
pub(crate) struct Defined {
    pub(crate) kind: DefinitionKind,
    pub(crate) whole: Span,
    pub(crate) name: Span,
    /// Where the body starts.
    pub(crate) body: Option<u32>,
    pub(crate) doc_inside: Option<Span>,
    pub(crate) owner: Option<Span>,
    pub(crate) start_line: u32,
    pub(crate) name_line: u32,
    pub(crate) end_line: u32,
    pub(crate) pattern: usize,
    pub(crate) is_exported: bool,
}

/// A block whose functions are methods of a type.
pub(crate) struct Scope {
    pub(crate) whole: Span,
    pub(crate) owner: Span,
}

/// A comment or an attribute.
pub(crate) struct Mark {
    pub(crate) span: Span,
    pub(crate) start_line: u32,
    pub(crate) is_doc: bool,
}

/// A use of a name.
pub(crate) struct Used {
    pub(crate) kind: ReferenceKind,
    pub(crate) name: Span,
    pub(crate) qualifier: Option<Span>,
    pub(crate) line: u32,
    pub(crate) pattern: usize,
}

/// Runs the query.
pub(crate) fn collect(
    language: Language,
    compiled: &Compiled,
    parsed: &Parsed,
    text: &str,
    bounds: &Bounds,
) -> Result<Found, Unparsed> {
    let mut found = Found::default();
    let mut is_late = false;
    let mut cursor = QueryCursor::new();
    cursor.set_match_limit(PARTIAL_MATCHES_MAX);
    {
        let mut progress = |_: &_| {
            is_late = Instant::now() >= parsed.deadline;
            if is_late { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let options = QueryCursorOptions::new().progress_callback(&mut progress);
        let mut matches = cursor.matches_with_options(&compiled.query, parsed.tree.root_node(), text.as_bytes(), options);
        while let Some(matched) = matches.next() {
            Match::read(compiled, matched).note(language, text, bounds, &mut found);
        }
    }
    if is_late {
        return Err(Unparsed::TookTooLong);
    }
    found.is_cut |= cursor.did_exceed_match_limit();
    Ok(found)
}

/// The captures of one match.
#[derive(Default)]
struct Match<'tree> {
    pattern: usize,
    is_exported: bool,
    definition: Option<(DefinitionKind, Node<'tree>)>,
    name: Option<Node<'tree>>,
    body: Option<Node<'tree>>,
    owner: Option<Node<'tree>>,
    scope: Option<Node<'tree>>,
    doc_inside: Option<Node<'tree>>,
    mark: Option<(bool, Node<'tree>)>,
    wrapper: Option<Node<'tree>>,
    wrapped: Option<Node<'tree>>,
    reference: Option<(ReferenceKind, Node<'tree>)>,
    qualifier: Option<Node<'tree>>,
    import: Option<(ImportKind, Node<'tree>)>,
    import_path: Option<Node<'tree>>,
    import_location: Option<Node<'tree>>,
    import_walk: Option<Node<'tree>>,
    /// Names of an import, and the alias of each.
    import_names: Vec<(Option<Node<'tree>>, Option<Node<'tree>>)>,
    export: Option<(Role, Node<'tree>)>,
    package: Option<Node<'tree>>,
}

impl<'tree> Match<'tree> {
    fn read(compiled: &Compiled, matched: &QueryMatch<'_, 'tree>) -> Self {
        let pattern = matched.pattern_index;
        let mut read = Self { pattern, is_exported: compiled.is_exported(pattern), ..Self::default() };
        for capture in matched.captures() {
            let node = capture.node;
            match compiled.role(capture.index) {
                Role::Definition(kind) => read.definition = Some((kind, node)),
                Role::Name => read.name = Some(node),
                Role::Body => read.body = Some(node),
                Role::Owner => read.owner = Some(node),
                Role::Scope => read.scope = Some(node),
                Role::Doc => read.mark = Some((true, node)),
                Role::Attribute => read.mark = Some((false, node)),
                Role::DocInside => read.doc_inside = Some(node),
                Role::Wrapper => read.wrapper = Some(node),
                Role::Wrapped => read.wrapped = Some(node),
                Role::Reference(kind) => read.reference = Some((kind, node)),
                Role::Qualifier => read.qualifier = Some(node),
                Role::Import(kind) => read.import = Some((kind, node)),
                Role::ImportPath => read.import_path = Some(node),
                Role::ImportLocation => read.import_location = Some(node),
                Role::ImportWalk => read.import_walk = Some(node),
                Role::ImportName => read.import_names.push((Some(node), None)),
                Role::ImportAlias => match read.import_names.last_mut() {
                    Some((_, alias @ None)) => *alias = Some(node),
                    _ => read.import_names.push((None, Some(node))),
                },
                role @ (Role::ExportName | Role::ExportDefault | Role::ExportAll) => read.export = Some((role, node)),
                Role::Package => read.package = Some(node),
                Role::Private => {}
            }
        }
        read
    }

    fn note(self, language: Language, text: &str, bounds: &Bounds, found: &mut Found) {
        if let Some((is_doc, node)) = self.mark {
            // Comments and attributes have no limit of their own: a text has fewer of them than bytes.
            found.marks.push(Mark { span: Span::of(node), start_line: line(node), is_doc });
        }
        if let (Some(wrapper), Some(wrapped)) = (self.wrapper, self.wrapped) {
            found.wrappers.insert(Span::of(wrapped).start, Span::of(wrapper).start);
        }
        if let (Some(scope), Some(owner)) = (self.scope, self.owner) {
            found.scopes.push(Scope { whole: Span::of(scope), owner: Span::of(owner) });
        }
        if let Some((kind, node)) = self.reference {
            let used = Used {
                kind,
                name: Span::of(node),
                qualifier: self.qualifier.map(Span::of),
                line: line(node),
                pattern: self.pattern,
            };
            push(&mut found.references, used, bounds, &mut found.is_cut);
        }
        if let Some((role, node)) = self.export {
            let name = match role {
                Role::ExportDefault => "default",
                Role::ExportAll => "*",
                _ => unquote(Span::of(node).text(text)),
            };
            found.export(Span::of(node).start, name, line(node), bounds);
        }
        if let (Some(node), None) = (self.package, &found.package) {
            found.package = Some(clip(unquote(Span::of(node).text(text)), bounds.text_chars_max).to_owned());
        }
        if let Some(node) = self.import_walk {
            languages::walk(language, node, text, bounds, found);
        }
        self.note_import(text, bounds, found);
        self.note_definition(bounds, found);
    }

    fn note_definition(self, bounds: &Bounds, found: &mut Found) {
        let (Some((kind, node)), Some(name)) = (self.definition, self.name) else { return };
        let end_row = if node.end_position().column == 0 && node.end_byte() > node.start_byte() {
            node.end_position().row.max(node.start_position().row + 1)
        } else {
            node.end_position().row + 1
        };
        let defined = Defined {
            kind,
            whole: Span::of(node),
            name: Span::of(name),
            body: self.body.map(|body| Span::of(body).start),
            doc_inside: self.doc_inside.map(Span::of),
            owner: self.owner.map(Span::of),
            start_line: line(node),
            name_line: line(name),
            end_line: u32::try_from(end_row).unwrap_or(u32::MAX),
            pattern: self.pattern,
            is_exported: self.is_exported,
        };
        push(&mut found.definitions, defined, bounds, &mut found.is_cut);
    }

    /// Matches of the same statement become one import: each match may add a name.
    fn note_import(&self, text: &str, bounds: &Bounds, found: &mut Found) {
        let Some((kind, node)) = self.import else { return };
        let cut = |node: Node<'_>| clip(unquote(Span::of(node).text(text)), bounds.text_chars_max).to_owned();
        let place = match found.statements.get(&node.id()) {
            Some(place) => *place,
            None => {
                let import = Import { kind, path: String::new(), names: Vec::new(), location: None, line: line(node) };
                if !found.import(Span::of(node).start, import, bounds) {
                    return;
                }
                found.statements.insert(node.id(), found.imports.len() - 1);
                found.imports.len() - 1
            }
        };
        let Some((_, import)) = found.imports.get_mut(place) else { return };
        if kind != ImportKind::Plain {
            import.kind = kind;
        }
        if let (Some(path), true) = (self.import_path, import.path.is_empty()) {
            import.path = cut(path);
        }
        if let Some(location) = self.import_location {
            import.location = Some(cut(location));
        }
        for (name, alias) in &self.import_names {
            // An alias without a name is another name of the module itself.
            let imported = Imported { name: name.map_or_else(|| "*".to_owned(), cut), alias: alias.map(cut) };
            if import.names.len() < bounds.items_max && !import.names.contains(&imported) {
                import.names.push(imported);
            }
        }
    }
}

impl Found {
    /// Notes an import; false if there are too many.
    pub(crate) fn import(&mut self, start: u32, import: Import, bounds: &Bounds) -> bool {
        push(&mut self.imports, (start, import), bounds, &mut self.is_cut)
    }

    /// Notes an exported name.
    pub(crate) fn export(&mut self, start: u32, name: &str, line: u32, bounds: &Bounds) {
        let name = clip(name, bounds.text_chars_max).to_owned();
        push(&mut self.exports, (start, Export { name, line }), bounds, &mut self.is_cut);
    }
}

/// Twice the limit is collected, because two patterns may find the same thing.
fn push<T>(list: &mut Vec<T>, item: T, bounds: &Bounds, is_cut: &mut bool) -> bool {
    let has_room = list.len() < bounds.items_max.saturating_mul(2);
    if has_room {
        list.push(item);
    } else {
        *is_cut = true;
    }
    has_room
}

//! Generates a repository whose files import and call each other, the same in every run: Python, TypeScript, Rust and Go.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context, Result};

use crate::graph::Random;
use crate::words::Words;

/// The languages, with their share of every twenty files.
const KINDS: [(Kind, usize); 4] = [(Kind::Python, 7), (Kind::TypeScript, 6), (Kind::Rust, 4), (Kind::Go, 3)];
const SHARES: usize = 20;
const MODULES_PER_PACKAGE: usize = 20;
/// The lines of a file, before they are rounded to whole functions.
const LINES_MIN: usize = 40;
const LINES_MAX: usize = 190;
/// The lines of a function, about, and of what comes before the first one.
const FUNCTION_LINES: usize = 14;
const HEAD_LINES: usize = 16;
const IMPORTS_MAX: usize = 5;

const VERBS: [&str; 16] = [
    "load", "save", "check", "merge", "price", "ship", "cancel", "refund", "index", "export", "parse", "render", "retry", "lock",
    "notify", "archive",
];
const NOUNS: [&str; 15] = [
    "invoice", "order", "customer", "stock", "basket", "report", "session", "payment", "ticket", "account", "address", "voucher",
    "supplier", "delivery", "ledger",
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Python,
    TypeScript,
    Rust,
    Go,
}

/// A file to generate: the number of its functions is known before its text, so that others can call them.
#[derive(Clone, Copy, Debug)]
struct Module {
    kind: Kind,
    number: usize,
    functions: usize,
}

/// A generated repository.
pub(crate) struct Repository {
    modules: Vec<Module>,
    /// The paths of the modules, in their order.
    pub(crate) paths: Vec<String>,
    /// The number of all lines, and of all files: some are needed to name the others.
    pub(crate) lines: usize,
    pub(crate) files: usize,
}

/// A new text of a file that imports one more file.
pub(crate) struct OneMoreImport {
    pub(crate) path: String,
    pub(crate) text: String,
    pub(crate) imported: String,
}

impl Repository {
    /// Writes a repository of so many modules into a folder.
    pub(crate) fn write(folder: &Path, files: usize) -> Result<Self> {
        let (mut random, mut words) = (Words::new(53), Words::new(59));
        let modules = modules(files, &mut random);
        let mut skewed = Random::new(61);
        let mut texts: BTreeMap<String, String> = BTreeMap::new();
        for kind in KINDS.map(|(kind, _)| kind) {
            let same: Vec<Module> = modules.iter().copied().filter(|module| module.kind == kind).collect();
            for module in &same {
                let imports = module.imports(&same, &mut random, &mut skewed);
                texts.insert(module.path(), module.text(&imports, &mut words));
            }
            add_manifests(kind, &same, &mut texts);
        }
        for (path, text) in &texts {
            let path = folder.join(path);
            std::fs::create_dir_all(path.parent().context("a folder")?)?;
            std::fs::write(path, text)?;
        }
        let lines = texts.values().map(|text| text.lines().count()).sum();
        Ok(Self { paths: modules.iter().map(Module::path).collect(), modules, lines, files: texts.len() })
    }

    /// Change number `change`: a Python file imports a file that it did not import.
    pub(crate) fn one_more_import(&self, folder: &Path, change: usize) -> Result<OneMoreImport> {
        let python: Vec<Module> = self.modules.iter().copied().filter(|module| module.kind == Kind::Python).collect();
        let from = python.get(change * 3 % python.len().max(1)).context("a Python file")?;
        let text = std::fs::read_to_string(folder.join(from.path()))?;
        let is_new = |to: &&Module| to.number != from.number && !text.contains(&to.name());
        let to =
            python.iter().cycle().skip(change * 11).take(python.len()).find(is_new).context("a file that is not imported")?;
        let line = from.import_lines(&[(*to, 0)]);
        Ok(OneMoreImport { path: from.path(), text: format!("{line}{text}"), imported: to.path() })
    }

    /// Question number `number`. Every second one is about the words of a comment, the others about a name.
    pub(crate) fn question(number: usize) -> String {
        if number.is_multiple_of(2) {
            return Words::question(number);
        }
        format!("where do we {} the {} number {number}", word(&VERBS, number), word(&NOUNS, number / 3))
    }
}

fn word(words: &[&'static str], place: usize) -> &'static str {
    words.get(place % words.len().max(1)).copied().unwrap_or_default()
}

fn modules(files: usize, random: &mut Words) -> Vec<Module> {
    let mut counts: [usize; KINDS.len()] = [0; KINDS.len()];
    let mut made = Vec::with_capacity(files);
    for file in 0..files {
        // Shares are spread: the seven Python files of twenty do not come first.
        let mut share = file * 7 % SHARES;
        for ((kind, shares), count) in KINDS.iter().zip(&mut counts) {
            if share < *shares {
                let lines = LINES_MIN + random.below(LINES_MAX - LINES_MIN);
                made.push(Module {
                    kind: *kind,
                    number: *count,
                    functions: (lines.saturating_sub(HEAD_LINES) / FUNCTION_LINES).max(2),
                });
                *count += 1;
                break;
            }
            share -= shares;
        }
    }
    made
}

/// The files that a language needs to find the others.
fn add_manifests(kind: Kind, modules: &[Module], texts: &mut BTreeMap<String, String>) {
    let packages: BTreeSet<String> = modules.iter().map(Module::package).collect();
    let manifest = match kind {
        Kind::Python => {
            texts.extend(packages.iter().map(|package| (format!("py/shop/{package}/__init__.py"), String::new())));
            texts.insert("py/shop/__init__.py".to_owned(), String::new());
            ("py/pyproject.toml", "[project]\nname = \"shop\"\nversion = \"1.0.0\"\n")
        }
        Kind::TypeScript => ("web/package.json", "{\"name\": \"web\", \"version\": \"1.0.0\"}\n"),
        Kind::Rust => {
            let list =
                |names: &mut dyn Iterator<Item = String>| names.map(|name| format!("pub mod {name};\n")).collect::<String>();
            for package in &packages {
                let mut inside = modules.iter().filter(|module| module.package() == *package).map(Module::name);
                texts.insert(format!("rust/src/{package}/mod.rs"), list(&mut inside));
            }
            texts.insert("rust/src/lib.rs".to_owned(), list(&mut packages.iter().cloned()));
            ("rust/Cargo.toml", "[package]\nname = \"shop\"\nversion = \"1.0.0\"\nedition = \"2024\"\n")
        }
        Kind::Go => ("go/go.mod", "module example.com/shop\n\ngo 1.24\n"),
    };
    texts.insert(manifest.0.to_owned(), manifest.1.to_owned());
}

impl Module {
    fn name(&self) -> String {
        format!("module_{:05}", self.number)
    }

    fn package(&self) -> String {
        format!("package_{:03}", self.number / MODULES_PER_PACKAGE)
    }

    fn path(&self) -> String {
        let (package, name) = (self.package(), self.name());
        match self.kind {
            Kind::Python => format!("py/shop/{package}/{name}.py"),
            Kind::TypeScript => format!("web/src/{package}/{name}.ts"),
            Kind::Rust => format!("rust/src/{package}/{name}.rs"),
            Kind::Go => format!("go/{package}/{name}.go"),
        }
    }

    fn noun(&self, function: usize) -> &'static str {
        word(&NOUNS, self.number * 5 + function)
    }

    /// The name of a function. No two of a language have the same.
    fn function(&self, function: usize) -> String {
        let (verb, noun) = (word(&VERBS, self.number * 7 + function * 3), self.noun(function));
        match self.kind {
            Kind::Python | Kind::Rust => format!("{verb}_{noun}_{}", self.number),
            Kind::TypeScript => format!("{verb}{}{}", capital(noun), self.number),
            Kind::Go => format!("{}{}{}", capital(verb), capital(noun), self.number),
        }
    }

    fn class(&self) -> String {
        format!("{}Store{}", capital(self.noun(0)), self.number)
    }

    /// Other modules and the number of the function that is imported from each. Few modules are imported often.
    fn imports(&self, all: &[Module], random: &mut Words, skewed: &mut Random) -> Vec<(Module, usize)> {
        let mut chosen: BTreeMap<usize, usize> = BTreeMap::new();
        for _ in 0..2 + random.below(IMPORTS_MAX - 1) {
            let other = skewed.end(all.len()) as usize;
            if let Some(module) = all.get(other).filter(|module| module.number != self.number) {
                chosen.insert(other, random.below(module.functions));
            }
        }
        chosen.into_iter().filter_map(|(other, function)| Some((*all.get(other)?, function))).collect()
    }

    fn import_lines(&self, imports: &[(Module, usize)]) -> String {
        let line = |(module, function): &(Module, usize)| {
            let (package, name, function) = (module.package(), module.name(), module.function(*function));
            match self.kind {
                Kind::Python => format!("from shop.{package}.{name} import {function}\n"),
                Kind::TypeScript => format!("import {{ {function}, {} }} from \"../{package}/{name}\";\n", module.class()),
                Kind::Rust => format!("use crate::{package}::{name}::{function};\n"),
                Kind::Go if package == self.package() => String::new(),
                Kind::Go => format!("import \"example.com/shop/{package}\"\n"),
            }
        };
        let lines: BTreeSet<String> = imports.iter().map(line).collect();
        lines.into_iter().collect()
    }

    /// How another module's function is called here.
    fn call(&self, (module, function): (Module, usize)) -> String {
        let name = module.function(function);
        if self.kind == Kind::Go && module.package() != self.package() { format!("{}.{name}", module.package()) } else { name }
    }

    fn text(&self, imports: &[(Module, usize)], words: &mut Words) -> String {
        let (head, class, function) = templates(self.kind);
        let base = imports.first().map_or_else(|| "Object".to_owned(), |(module, _)| module.class());
        let fill = |template: &str, place: usize, words: &mut Words| {
            let other = imports.get(place % imports.len().max(1)).map_or_else(|| self.function(0), |import| self.call(*import));
            let (name, own) = (self.function(place), self.function(place.saturating_sub(1)));
            let number = (self.number + place).to_string();
            let filled = template.replace("{doc}", &words.note(self.number * 16 + place)).replace("{package}", &self.package());
            let filled = filled.replace("{class}", &self.class()).replace("{base}", &base).replace("{name}", &name);
            filled.replace("{own}", &own).replace("{other}", &other).replace("{noun}", self.noun(place)).replace("{n}", &number)
        };
        let mut text = fill(head, 0, words);
        text.push_str(&self.import_lines(imports));
        text.push_str(&fill(class, 0, words));
        for place in 0..self.functions {
            text.push_str(&fill(function, place, words));
        }
        text
    }
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// The head of a file, its class and its functions.
fn templates(kind: Kind) -> (&'static str, &'static str, &'static str) {
    match kind {
        Kind::Python => (
            "\"\"\"{doc}\"\"\"\n\nimport json\n",
            include_str!("code_repository/class.py.txt"),
            include_str!("code_repository/function.py.txt"),
        ),
        Kind::TypeScript => {
            ("// {doc}\n\n", include_str!("code_repository/class.ts.txt"), include_str!("code_repository/function.ts.txt"))
        }
        Kind::Rust => {
            ("//! {doc}\n\n", include_str!("code_repository/class.rs.txt"), include_str!("code_repository/function.rs.txt"))
        }
        Kind::Go => (
            "// {doc}\npackage {package}\n\n",
            include_str!("code_repository/class.go.txt"),
            include_str!("code_repository/function.go.txt"),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repository_is_the_same_in_every_run_and_has_no_syntax_errors() {
        let bounds = syntax::Bounds { bytes_max: 1 << 20, parse_ms_max: 10_000, items_max: 10_000, text_chars_max: 400 };
        let [one, other] = [0; 2].map(|_| {
            let folder = tempfile::tempdir().unwrap();
            let made = Repository::write(folder.path(), 200).unwrap();
            let text = |path: &String| std::fs::read_to_string(folder.path().join(path)).unwrap();
            (made.paths.iter().map(text).collect::<Vec<_>>(), made.paths)
        });
        assert_eq!(one, other);
        for (text, path) in one.0.iter().zip(&one.1) {
            let language = syntax::Language::of(path, text).unwrap();
            let outline = syntax::outline(language, text, &bounds).unwrap();
            assert_eq!(syntax::added_errors(language, None, text, &bounds), [], "{path}\n{text}");
            assert!(!outline.imports.is_empty() || language == syntax::Language::Go, "{path}");
            assert!(outline.definitions.len() > 3 && outline.references.len() > 3, "{path}");
            assert!((30..=240).contains(&text.lines().count()), "{path}: {}", text.lines().count());
        }
    }

    #[test]
    fn a_change_imports_a_file_that_was_not_imported() {
        let folder = tempfile::tempdir().unwrap();
        let made = Repository::write(folder.path(), 100).unwrap();
        let change = made.one_more_import(folder.path(), 2).unwrap();
        let name = change.imported.rsplit('/').next().unwrap().trim_end_matches(".py").to_owned();
        assert!(change.text.contains(&name) && made.paths.contains(&change.path) && change.path != change.imported);
        assert!(!std::fs::read_to_string(folder.path().join(&change.path)).unwrap().contains(&name));
    }
}

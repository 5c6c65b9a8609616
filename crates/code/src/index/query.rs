//! Questions about one file: its symbols, its dependencies, its circles and what a change of it affects.

use std::collections::{BTreeSet, HashMap};

use base::{Error, Kind, Result, near};
use graph::{Direction, Graph, Node};

use super::answers::{Analysis, Analyzed, Dependencies, Edge, FarFile, Overview, SymbolInfo};
use super::file::IndexedFile;
use super::graph::{At, Relationship, Tie, exported};
use super::imports::{IMPLICIT, To};
use super::names::Known;
use super::snapshot::Snapshot;
use super::table::FileNumber;
use super::walk::{Algorithm, Limits, Reached, WalkCounters, walk};
use crate::resolve::Resolution;

/// Deeper walks are cut: no project has longer chains that mean something.
pub(crate) const DEPTH_MAX: u32 = 64;
/// Files in one part of an answer.
const FILES_MAX: usize = 2_000;
/// Edges in an answer.
const EDGES_MAX: usize = 5_000;
/// Names that are compared with a wrong one.
const COMPARED_MAX: usize = 20_000;
/// Files in an overview.
const CENTRAL_MAX: usize = 20;

impl Snapshot {
    /// The symbols of a file in the order of the text. Nothing if there is no such file.
    pub fn symbols(&self, path: &str) -> Option<Vec<SymbolInfo>> {
        let (_, file) = self.at(path)?;
        let places = 0..u32::try_from(file.lean.symbols.len()).unwrap_or(u32::MAX);
        let known = self.names.read();
        let exported = exported(file, &known);
        Some(places.filter_map(|place| self.symbol_info(file, place, &exported, &known)).collect())
    }

    /// The symbol with an id: `path#Class.method`.
    pub fn symbol(&self, id: &str) -> Option<(String, SymbolInfo)> {
        let (file, place) = self.symbol_at(id)?;
        let (file, known) = (self.file(file)?, self.names.read());
        Some((file.path.to_string(), self.symbol_info(file, place, &exported(file, &known), &known)?))
    }

    fn symbol_info(&self, file: &IndexedFile, place: u32, exported: &[u32], known: &Known) -> Option<SymbolInfo> {
        let symbol = file.lean.symbol(place)?;
        Some(SymbolInfo {
            name: self.symbol_name(file, place, known),
            kind: symbol.kind,
            start_line: symbol.start_line,
            end_line: symbol.end_line,
            is_exported: exported.binary_search(&place).is_ok(),
        })
    }

    /// The symbol that an id names. A path may have a `#` in it.
    pub(crate) fn symbol_at(&self, id: &str) -> Option<(FileNumber, u32)> {
        let known = self.names.read();
        let cuts = id.match_indices('#').map(|(place, _)| id.split_at(place));
        cuts.filter_map(|(path, name)| Some((self.at(path)?, name.get(1..)?)))
            .find_map(|((number, file), name)| Some((number, self.symbol_called(file, name, &known)?)))
    }

    /// What a file imports and exports, and what imports it.
    pub fn dependencies(&self, path: &str) -> Result<Dependencies> {
        let (number, file) = self.known_file(path, "path")?;
        let graph = self.graph();
        let imported_by = graph.file_place(number).map(|place| self.neighbours(place, Direction::In)).unwrap_or_default();
        let imported_by: BTreeSet<String> = imported_by.into_iter().map(|edge| edge.from).collect();
        Ok(Dependencies {
            imports: self.direct_imports(number, file, true),
            exports: self.export_names(file),
            imported_by: imported_by.into_iter().collect(),
        })
    }

    /// Analyses the dependencies of a file, up to `max_depth` edges away.
    pub fn analyze(
        &self,
        path: &str,
        analysis: Analysis,
        max_depth: u32,
        include_external: bool,
        algorithm: Algorithm,
    ) -> Result<Analyzed> {
        let (number, file) = self.known_file(path, "path")?;
        let (graph, depth) = (self.graph(), max_depth.min(DEPTH_MAX));
        let Some(start) = graph.file_place(number) else { return Err(self.unknown(path, "path")) };
        let is = |one: Analysis| analysis == one || analysis == Analysis::Full;
        let mut answer = Analyzed { engine: algorithm.engine(), ..Analyzed::default() };
        let files = graph.file_count();
        let import =
            |tie: &Tie| tie.relationship == Relationship::Imports && (include_external || tie.resolution != Resolution::External);
        let mut edges = Vec::new();
        if is(Analysis::Imports) || is(Analysis::Circular) {
            let limits = Limits { direction: Direction::Out, depth, nodes_max: FILES_MAX };
            let reached = walk(&graph.files, &[start], &limits, algorithm, import);
            if is(Analysis::Imports) {
                answer.imports = self.far(&reached);
                edges.extend(self.crossed(&reached, Direction::Out, depth, &import));
                edges.extend(self.direct_imports(number, file, include_external));
            }
            if is(Analysis::Circular) {
                answer.circular = self.circles(&reached, files);
            }
            add(&mut answer, &reached);
        }
        if is(Analysis::Exports) {
            answer.exports = self.export_names(file);
            let known = self.names.read();
            edges.extend(exported(file, &known).into_iter().map(|place| Edge {
                from: path.to_owned(),
                to: self.symbol_id(file, place, &known),
                relationship: Relationship::Exports,
                resolution: Resolution::Exact,
            }));
        }
        if is(Analysis::Impact) {
            let limits = Limits { direction: Direction::In, depth, nodes_max: FILES_MAX };
            let reached = walk(&graph.files, &[start], &limits, algorithm, |_| true);
            answer.impact = self.far(&reached);
            edges.extend(self.crossed(&reached, Direction::In, depth, &|_| true));
            add(&mut answer, &reached);
        }
        Edge::sort(&mut edges);
        answer.is_cut |= edges.len() > EDGES_MAX;
        edges.truncate(EDGES_MAX);
        answer.edges = edges;
        Ok(answer)
    }

    /// The imports of a file as edges, one for each target.
    fn direct_imports(&self, number: FileNumber, file: &IndexedFile, include_external: bool) -> Vec<Edge> {
        let known = self.names.read();
        let mut found: HashMap<String, Resolution> = HashMap::new();
        for import in self.imports.get(number as usize).map(AsRef::as_ref).unwrap_or_default() {
            let written = file.lean.imports.get(import.import as usize);
            // Paths in calls are no imports.
            if written.is_none() && import.import != IMPLICIT {
                continue;
            }
            let to = match import.to {
                To::File(to) => self.file(to).map(|file| file.path.to_string()),
                To::External(package) => include_external.then(|| known.text(package).to_owned()),
                To::Nowhere => written.map(|written| known.text(written.path).to_owned()),
            };
            if let Some(to) = to {
                let resolution = found.entry(to).or_insert(import.resolution);
                if import.resolution == Resolution::Exact {
                    *resolution = Resolution::Exact;
                }
            }
        }
        let edge = |(to, resolution)| Edge { from: file.path.to_string(), to, relationship: Relationship::Imports, resolution };
        let mut edges: Vec<Edge> = found.into_iter().map(edge).collect();
        Edge::sort(&mut edges);
        edges
    }

    fn export_names(&self, file: &IndexedFile) -> Vec<String> {
        let known = self.names.read();
        file.lean.exports.iter().map(|(name, _)| known.text(*name).to_owned()).collect()
    }

    /// The import edges of a node in the graph of files.
    fn neighbours(&self, place: Node, direction: Direction) -> Vec<Edge> {
        let graph = &self.graph().files;
        let edges = graph.edges_of(place, direction).filter_map(|(edge, _)| self.file_edge(graph, edge));
        edges.filter(|edge| edge.relationship == Relationship::Imports).collect()
    }

    fn file_edge(&self, graph: &Graph<Tie>, edge: u32) -> Option<Edge> {
        let edge = graph.edge(edge)?;
        Some(Edge {
            from: self.place_id(edge.source)?,
            to: self.place_id(edge.target)?,
            relationship: edge.payload.relationship,
            resolution: edge.payload.resolution,
        })
    }

    fn place_id(&self, node: Node) -> Option<String> {
        match self.graph().at_place(node)? {
            At::File(number) | At::Symbol(number, _) => Some(self.file(number)?.path.to_string()),
            At::External(package) => Some(self.names.read().text(package).to_owned()),
        }
    }

    fn far(&self, reached: &Reached) -> Vec<FarFile> {
        let far = reached.nodes.iter().filter(|(_, distance)| *distance > 0);
        far.filter_map(|(node, distance)| Some(FarFile { path: self.place_id(*node)?, distance: *distance })).collect()
    }

    /// The edges that a walk over files crossed.
    fn crossed(&self, reached: &Reached, direction: Direction, depth: u32, allow: &impl Fn(&Tie) -> bool) -> Vec<Edge> {
        let graph = &self.graph().files;
        let mut edges = Vec::new();
        for (node, _) in reached.nodes.iter().filter(|(_, at)| *at < depth) {
            for (edge, other) in graph.edges_of(*node, direction) {
                let is_allowed = graph.edge(edge).is_some_and(|edge| allow(edge.payload));
                if is_allowed && reached.depths.contains_key(&other) {
                    edges.extend(self.file_edge(graph, edge));
                }
            }
            if edges.len() > EDGES_MAX {
                break;
            }
        }
        edges
    }

    /// The circles of imports that reached files are in, the nearest first.
    fn circles(&self, reached: &Reached, files: u32) -> Vec<Vec<String>> {
        let components = &self.graph().cycles;
        let mut seen = BTreeSet::new();
        let of = reached.nodes.iter().filter(|(node, _)| *node < files).filter_map(|(node, _)| components.of(*node));
        let circles = of.filter(|component| seen.insert(*component)).map(|component| components.members(component));
        let circles = circles.filter(|members| members.len() > 1);
        circles.map(|members| members.iter().filter_map(|member| self.place_id(*member)).collect()).collect()
    }

    /// The file of a path, or an error that names similar ones.
    pub(crate) fn known_file(&self, path: &str, parameter: &str) -> Result<(FileNumber, &IndexedFile)> {
        self.at(path).ok_or_else(|| {
            let unknown = self.unknown(path, parameter);
            let similar = unknown.data().get("similar").cloned().unwrap_or_default();
            Error::new(Kind::NotFound, unknown.message().to_owned()).with("missing", "file").with("similar", similar)
        })
    }

    /// The error for something that is not in the index.
    pub(crate) fn unknown(&self, id: &str, parameter: &str) -> Error {
        let known = self.names.read();
        let mut similar: Vec<String> = Vec::new();
        if let Some((number, name)) = id.rsplit_once('#').and_then(|(path, name)| Some((self.at(path)?.0, name)))
            && let Some(file) = self.file(number)
        {
            let places = 0..u32::try_from(file.lean.symbols.len().min(COMPARED_MAX / 10)).unwrap_or_default();
            let names: Vec<String> = places.map(|place| self.symbol_name(file, place, &known)).collect();
            let nearest = near::nearest(name, names.iter().map(String::as_str));
            let inner = names.iter().find(|known| known.rsplit('.').next() == Some(name)).map(String::as_str);
            similar.extend(nearest.or(inner).map(|name| format!("{}#{name}", file.path)));
        } else {
            let wanted = id.split('#').next().unwrap_or(id);
            let last = wanted.rsplit('/').next().unwrap_or(wanted);
            let same = self.paths.keys().filter(|path| path.rsplit('/').next() == Some(last)).take(3);
            similar.extend(same.map(ToString::to_string));
            if similar.is_empty() {
                let near = near::nearest(wanted, self.paths.keys().take(COMPARED_MAX).map(AsRef::as_ref));
                similar.extend(near.map(str::to_owned));
            }
        }
        let hint = match similar.as_slice() {
            [] => "paths are relative to the project's root, symbols are `path#name`".to_owned(),
            similar => format!("did you mean `{}`?", similar.join("`, `")),
        };
        Error::invalid(parameter, format!("there is no `{id}` in the index; {hint}")).with("similar", similar)
    }

    /// The project in a few lines.
    pub fn overview(&self) -> Overview {
        let (graph, ranks) = (self.graph(), self.ranks());
        let mut languages: HashMap<&'static str, u64> = HashMap::new();
        let mut symbols = 0;
        for file in self.files.iter().flatten() {
            symbols += u64::try_from(file.lean.symbols.len()).unwrap_or_default();
            if let Some(language) = file.language {
                *languages.entry(language.name()).or_default() += 1;
            }
        }
        let mut languages: Vec<_> = languages.into_iter().collect();
        languages.sort_unstable_by_key(|(name, files)| (std::cmp::Reverse(*files), *name));
        let mut order: Vec<Node> = (0..graph.file_count()).collect();
        let rank = |node: &Node| ranks.get(*node as usize).copied().unwrap_or_default();
        order.sort_by(|one, other| rank(other).total_cmp(&rank(one)).then(one.cmp(other)));
        let importers = |node: Node| self.neighbours(node, Direction::In).len() as u64;
        let central = order.into_iter().take(CENTRAL_MAX).filter_map(|node| Some((self.place_id(node)?, importers(node))));
        let imports = (0..graph.file_count()).flat_map(|node| graph.files.edges_of(node, Direction::Out));
        let is_import = |edge: u32| {
            let tie = graph.files.edge(edge).map(|edge| *edge.payload);
            tie.is_some_and(|tie| tie.relationship == Relationship::Imports && tie.resolution != Resolution::External)
        };
        Overview {
            files: self.paths.len() as u64,
            symbols,
            imports: imports.filter(|(edge, _)| is_import(*edge)).count() as u64,
            languages,
            central: central.filter(|(_, importers)| *importers > 0).collect(),
            circles: graph.cycles.cycles().len() as u64,
        }
    }
}

/// Adds the work of a walk to an answer.
fn add(answer: &mut Analyzed, reached: &Reached) {
    let (sum, more) = (&mut answer.counters, &reached.counters);
    *sum = WalkCounters {
        nodes: sum.nodes + more.nodes,
        edges: sum.edges + more.edges,
        queue_operations: sum.queue_operations + more.queue_operations,
        engine_us: sum.engine_us + more.engine_us,
    };
    answer.is_cut |= reached.is_cut;
}

//! `toolcrib bench graph`: walks over a knowledge graph of a million triplets, in this process, and then the graph tools over
//! HTTP (`graph_tools`).
//!
//! Degrees are skewed: most nodes have a few edges, some have thousands. The baseline is the obvious implementation: a hash table of
//! lists, searched from one end only. It answers the same queries on the same edges.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet, VecDeque};
use std::hint::black_box;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Result, ensure};
use graph::{Direction, Graph, Hop, Node, lightest_path, neighbours, shortest_path};

use crate::report::{Aim, Report};
use crate::times::Times;

/// Options of a run.
#[derive(Clone, Debug)]
pub struct GraphOptions {
    /// The `toolcrib` binary to measure.
    pub binary: PathBuf,
    /// Triplets of the largest graph.
    pub triplets: usize,
    /// Queries per result.
    pub rounds: usize,
}

const TRIPLETS_PER_NODE: usize = 5;
/// The parameters that the tools use: a point in time, a fan-out limit and a path length limit.
const AS_OF: i64 = 900;
const FAN_OUT_MAX: usize = base::limits::GRAPH_FAN_OUT_MAX;
const DEPTH_MAX: u32 = 6;
const FEW: usize = 50;
const MANY: usize = 10_000;
/// The baseline is slow, so it runs only one in this many queries.
const BASELINE_PART: usize = 10;

/// A payload of the same size as a real fact.
struct Triplet {
    _id: u64,
    _relationship: u32,
    weight: f32,
    learned: i64,
    superseded: i64,
    _valid: [i64; 2],
}

impl Triplet {
    fn is_known(&self) -> bool {
        self.learned <= AS_OF && AS_OF < self.superseded
    }
}

/// An xorshift generator, so that every run has the same graph.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// A number from zero to below one.
    fn part(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn below(&mut self, most: usize) -> u32 {
        (self.part() * most as f64) as u32
    }

    /// A random node: half of the time uniform, otherwise one of the few with many edges.
    pub(crate) fn end(&mut self, nodes: usize) -> Node {
        if self.part() < 0.5 { self.below(nodes) } else { (self.part().powi(3) * nodes as f64) as u32 }
    }

    fn triplet(&mut self, id: u64) -> Triplet {
        let learned = i64::from(self.below(950));
        let superseded = if self.part() < 0.1 { learned + 50 } else { i64::MAX };
        let weight = 0.1 + self.part() as f32;
        Triplet { _id: id, _relationship: self.below(50), weight, learned, superseded, _valid: [0, i64::MAX] }
    }
}

/// The baseline: for each node, its edges and their other ends.
#[derive(Default)]
struct PlainLists {
    lists: HashMap<Node, Vec<(u32, Node)>>,
}

impl PlainLists {
    fn known<'a>(&'a self, graph: &'a Graph<Triplet>, node: Node) -> impl Iterator<Item = (&'a Triplet, Node)> {
        let list = self.lists.get(&node).into_iter().flatten();
        let edges = list.filter_map(|(edge, other)| Some((graph.edge(*edge)?.payload, *other)));
        edges.filter(|(triplet, _)| triplet.is_known())
    }

    /// Breadth-first search: the number of nodes within `depth` edges, and the distance of `sought`.
    fn breadth(
        &self,
        graph: &Graph<Triplet>,
        start: Node,
        sought: Option<Node>,
        depth: u32,
        nodes_max: usize,
    ) -> (usize, Option<u32>) {
        let (mut met, mut queue) = (HashSet::from([start]), VecDeque::from([(start, 0)]));
        while let Some((node, hops)) = queue.pop_front() {
            if Some(node) == sought {
                return (met.len(), Some(hops));
            }
            if hops == depth || met.len() > nodes_max {
                continue;
            }
            for (_, other) in self.known(graph, node) {
                if met.insert(other) {
                    queue.push_back((other, hops + 1));
                }
            }
        }
        (met.len(), None)
    }

    /// Dijkstra's algorithm. Costs are integers (millionths), so that they can be ordered.
    fn cheapest(&self, graph: &Graph<Triplet>, start: Node, sought: Node) -> Option<u64> {
        let (mut settled, mut queue) = (HashSet::new(), BinaryHeap::from([Reverse((0, start))]));
        while let Some(Reverse((cost, node))) = queue.pop() {
            if node == sought {
                return Some(cost);
            }
            if settled.insert(node) {
                let steps = self.known(graph, node).filter(|(_, other)| !settled.contains(other));
                queue.extend(steps.map(|(triplet, other)| Reverse((cost + (1e6 / triplet.weight) as u64, other))));
            }
        }
        None
    }
}

/// Times one query for each pair of nodes.
fn timed(pairs: &[(Node, Node)], mut ask: impl FnMut(Node, Node)) -> Result<Times> {
    let mut times = Vec::with_capacity(pairs.len());
    for (from, to) in pairs {
        let began = Instant::now();
        ask(*from, *to);
        times.push(began.elapsed());
    }
    Times::of(times)
}

/// Runs every measurement.
pub async fn graph(options: &GraphOptions) -> Result<Report> {
    let (triplets, rounds) = (options.triplets, options.rounds);
    let mut report = tokio::task::spawn_blocking(move || in_process(triplets, rounds)).await??;
    crate::graph_tools::tools(&options.binary, triplets, rounds, &mut report).await?;
    Ok(report)
}

fn in_process(triplets: usize, rounds: usize) -> Result<Report> {
    let nodes = (triplets / TRIPLETS_PER_NODE).max(2);
    let mut random = Random(0x005E_ED0F_6B00);
    let (mut graph, mut plain) = (Graph::new(), PlainLists::default());
    let began = Instant::now();
    for id in 0..triplets {
        let (source, target) = (random.end(nodes), random.end(nodes));
        let triplet = random.triplet(id as u64);
        graph.add_edge(source, target, triplet);
    }
    let grown = began.elapsed().as_secs_f64() * 1e3;
    for edge in 0..u32::try_from(graph.edge_count())? {
        let Some(ends) = graph.edge(edge) else { continue };
        plain.lists.entry(ends.source).or_default().push((edge, ends.target));
        plain.lists.entry(ends.target).or_default().push((edge, ends.source));
    }
    let pairs: Vec<_> = (0..rounds).map(|_| (random.below(nodes), random.below(nodes))).collect();
    let mut report = Report::default();
    let each = |total: f64| total / triplets as f64;
    let details = format!("{grown:.0} ms in total, {:.0} bytes per edge before packing", each(graph.bytes() as f64));
    report.add("time to add an edge", each(grown * 1e3), "µs", details, Aim::AtMost(5.0, "≤ 5 µs"));
    let began = Instant::now();
    graph.compact();
    let details = format!("{nodes} nodes, {triplets} edges; packing took {:.0} ms", began.elapsed().as_secs_f64() * 1e3);
    report.add("memory per edge", each(graph.bytes() as f64), "bytes", details, Aim::AtMost(200.0, "≤ 200"));
    check(&graph, &plain, &pairs)?;
    near(&graph, &plain, &pairs, &mut report)?;
    paths(&graph, &plain, &pairs, &mut report)?;
    Ok(report)
}

/// The queries for the baseline.
fn some(pairs: &[(Node, Node)]) -> &[(Node, Node)] {
    pairs.get(..pairs.len().div_ceil(BASELINE_PART)).unwrap_or(pairs)
}

/// Checks that both give the same answers. Otherwise the results are meaningless.
fn check(graph: &Graph<Triplet>, plain: &PlainLists, pairs: &[(Node, Node)]) -> Result<()> {
    for (from, to) in some(pairs) {
        let path = shortest_path(graph, &[*from], &[*to], DEPTH_MAX, Direction::Both, Triplet::is_known);
        let expected = plain.breadth(graph, *from, Some(*to), DEPTH_MAX, usize::MAX).1;
        let found = path.map(|path| path.len() as u32);
        ensure!(found == expected, "expected {expected:?} edges from {from} to {to}, got {found:?}");
    }
    Ok(())
}

/// Adds a result for our time, and one for the ratio of the baseline's time to ours.
fn compare(report: &mut Report, [name, ratio_name]: [&'static str; 2], ours: &Times, aim: Aim, theirs: &Times, ratio_aim: Aim) {
    report.add(name, ours.p50, "ms", format!("P50; P99 {:.2} ms", ours.p99), aim);
    let details = format!("plain lists: P50 {:.2} ms, P99 {:.2} ms", theirs.p50, theirs.p99);
    report.add(ratio_name, theirs.p50 / ours.p50, "×", details, ratio_aim);
}

fn near(graph: &Graph<Triplet>, plain: &PlainLists, pairs: &[(Node, Node)], report: &mut Report) -> Result<()> {
    let hop = |nodes_max| Hop { direction: Direction::Both, depth: 3, fan_out_max: FAN_OUT_MAX, nodes_max };
    let ask = |nodes_max| {
        timed(pairs, |from, _| {
            black_box(neighbours(graph, &[from], &hop(nodes_max), Triplet::is_known, |triplet| triplet.weight));
        })
    };
    let few = ask(FEW)?;
    report.add("3 hops, 50 nodes", few.p50, "ms", format!("P50; P99 {:.2} ms", few.p99), Aim::AtMost(2.0, "≤ 2 ms"));
    let many = ask(MANY)?;
    let theirs = timed(some(pairs), |from, _| {
        black_box(plain.breadth(graph, from, None, 3, MANY));
    })?;
    // The baseline returns the first nodes it finds, without edges. Our search returns the heaviest.
    let names = ["3 hops, 10,000 nodes", "3 hops, speedup over lists"];
    compare(report, names, &many, Aim::AtMost(2.0, "≤ 2 ms"), &theirs, Aim::AtLeast(0.5, "≥ 0.5 ×"));
    Ok(())
}

fn paths(graph: &Graph<Triplet>, plain: &PlainLists, pairs: &[(Node, Node)], report: &mut Report) -> Result<()> {
    let ours = timed(pairs, |from, to| {
        black_box(shortest_path(graph, &[from], &[to], DEPTH_MAX, Direction::Both, Triplet::is_known));
    })?;
    let theirs = timed(some(pairs), |from, to| {
        black_box(plain.breadth(graph, from, Some(to), DEPTH_MAX, usize::MAX));
    })?;
    let names = ["shortest path", "shortest path, speedup over lists"];
    compare(report, names, &ours, Aim::AtMost(5.0, "≤ 5 ms"), &theirs, Aim::AtLeast(2.0, "≥ 2 ×"));

    let cost = |triplet: &Triplet| 1.0 / f64::from(triplet.weight);
    let ours = timed(pairs, |from, to| {
        black_box(lightest_path(graph, &[from], &[to], DEPTH_MAX, Direction::Both, Triplet::is_known, cost));
    })?;
    // The baseline has no limit on the path length, which is an easier problem.
    let theirs = timed(some(pairs), |from, to| {
        black_box(plain.cheapest(graph, from, to));
    })?;
    let names = ["lightest path", "lightest path, speedup over lists"];
    compare(report, names, &ours, Aim::AtMost(10.0, "≤ 10 ms"), &theirs, Aim::AtLeast(2.0, "≥ 2 ×"));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_run_gives_all_results() {
        let report = in_process(2_000, 20).unwrap();
        let names: Vec<_> = report.figures.iter().map(|figure| figure.name).collect();
        assert_eq!(names.len(), 9, "{names:?}");
        assert!(report.figures.iter().all(|figure| figure.value.is_finite() && figure.value > 0.0), "{report}");
    }
}

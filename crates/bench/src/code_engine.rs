//! Walks over a large graph without a server: five hops, and the two searches for distances.

use std::hint::black_box;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use graph::{Direction, Graph, Hop, Node, Within, dijkstra, fre, neighbours};

use crate::graph::Random;
use crate::report::{Aim, Report};
use crate::times::Times;
use crate::words::Words;

const EDGES_PER_NODE: usize = 5;
const DEPTH: u32 = 5;
/// The nodes that one walk of `graph_search` reaches.
const NODES_MAX: usize = 10_000;
/// Searches without limits visit the whole graph.
const WHOLE_SEARCHES: usize = 3;

/// Runs every measurement.
pub(crate) fn measure(edges: usize, rounds: usize) -> Result<Report> {
    let nodes = (edges / EDGES_PER_NODE).max(2);
    let (mut random, mut words) = (Random::new(67), Words::new(71));
    let mut graph = Graph::new();
    for _ in 0..edges {
        let (source, target) = (random.end(nodes), random.end(nodes));
        graph.add_edge(source, target, 1.0 + words.below(1_000) as f64 / 100.0);
    }
    graph.compact();
    let starts: Vec<Node> = (0..rounds).map(|_| random.end(nodes)).collect();
    let mut report = Report::default();
    walks(&graph, &starts, &mut report)?;
    distances(&graph, &starts, &mut report)?;
    Ok(report)
}

fn timed(starts: &[Node], mut ask: impl FnMut(Node)) -> Result<Times> {
    let mut times = Vec::with_capacity(starts.len());
    for start in starts {
        let began = Instant::now();
        ask(*start);
        times.push(began.elapsed());
    }
    Times::of(times)
}

/// The walk by levels, and the same nodes by Dijkstra's algorithm with edges that all count one, as `graph_search` offers it.
fn walks(graph: &Graph<f64>, starts: &[Node], report: &mut Report) -> Result<()> {
    let hop = Hop { direction: Direction::Out, depth: DEPTH, fan_out_max: usize::MAX, nodes_max: NODES_MAX };
    let within = Within { direction: Direction::Out, distance_max: Some(f64::from(DEPTH)), nodes_max: NODES_MAX };
    let mut reached = Vec::new();
    let levels = timed(starts, |start| reached.push(neighbours(graph, &[start], &hop, |_| true, |_| 1.0).nodes.len()))?;
    let equal = timed(starts, |start| drop(black_box(dijkstra(graph, &[(start, 0.0)], &within, |_| true, |_| 1.0))))?;
    reached.sort_unstable();
    let median = reached.get(reached.len() / 2).copied().unwrap_or_default();
    let details = format!(
        "P50; P99 {:.2} ms; {} edges, {median} nodes at the median; by Dijkstra's algorithm {:.2} ms",
        levels.p99,
        graph.edge_count(),
        equal.p50
    );
    report.add("5 hops", levels.p50, "ms", details, Aim::AtMost(1.0, "≤ 1 ms"));
    Ok(())
}

/// Counts the queue operations of both searches on the same weighted graph, and checks that they agree.
fn distances(graph: &Graph<f64>, starts: &[Node], report: &mut Report) -> Result<()> {
    let within = Within::all(Direction::Out);
    let (mut ratios, mut details) = (Vec::new(), String::new());
    for start in starts.iter().take(WHOLE_SEARCHES) {
        let began = Instant::now();
        let theirs = dijkstra(graph, &[(*start, 0.0)], &within, |_| true, |weight| *weight);
        let theirs_ms = began.elapsed().as_secs_f64() * 1e3;
        let began = Instant::now();
        let ours = fre(graph, &[(*start, 0.0)], &within, |_| true, |weight| *weight);
        let ours_ms = began.elapsed().as_secs_f64() * 1e3;
        ensure!(ours.sorted() == theirs.sorted(), "the searches from {start} disagree");
        let [ours, theirs] = [ours.counters, theirs.counters].map(|counters| counters.queue_operations());
        ratios.push(ours as f64 / theirs.max(1) as f64);
        details = format!("{ours} by fre in {ours_ms:.0} ms, {theirs} by dijkstra in {theirs_ms:.0} ms; distances are equal");
    }
    ratios.sort_by(f64::total_cmp);
    let ratio = ratios.get(ratios.len() / 2).copied().context("at least one search")?;
    report.add("queue operations, fre to dijkstra", ratio, "×", details, Aim::AtMost(1.0, "≤ 1 ×"));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_run_gives_all_results() {
        let report = measure(5_000, 5).unwrap();
        assert_eq!(report.figures.len(), 2, "{report}");
        assert!(report.figures.iter().all(|figure| figure.value.is_finite() && figure.value > 0.0), "{report}");
    }
}

//! Prints the work and the time of both searches for distances on random graphs:
//! `cargo run --release -p graph --example fre_operations`.

use std::time::{Duration, Instant};

use graph::{Counters, Direction, Distances, Graph, Node, Within, dijkstra, fre};

/// Edges per node.
const DEGREE: u32 = 3;
const RUNS: usize = 5;

/// A small xorshift generator.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33
    }

    fn node(&mut self, nodes: Node) -> Node {
        Node::try_from(self.next() % u64::from(nodes)).unwrap_or(0)
    }
}

fn random_graph(edges: u32, is_unit: bool) -> Graph<f64> {
    let (mut random, nodes) = (Random(0x9E37_79B9_7F4A_7C15), (edges / DEGREE).max(1));
    let mut graph = Graph::new();
    for edge in 0..edges {
        let weight = if is_unit { 1.0 } else { random.next() as f64 / 65_536.0 };
        graph.add_edge(edge % nodes, random.node(nodes), weight);
    }
    graph.compact();
    graph
}

/// The middle of several times, and the last answer.
fn measured(search: impl Fn() -> Distances) -> (Duration, Distances) {
    let mut times = Vec::new();
    loop {
        let start = Instant::now();
        let answer = search();
        times.push(start.elapsed());
        if times.len() == RUNS {
            times.sort_unstable();
            return (times.get(RUNS / 2).copied().unwrap_or_default(), answer);
        }
    }
}

fn print(name: &str, time: Duration, counters: &Counters) {
    println!("  {name:<9}{:>9.2} ms {:>9} queue operations", time.as_secs_f64() * 1e3, counters.queue_operations());
    println!("           {counters:?}");
}

fn main() {
    for edges in [10_000, 100_000, 1_000_000] {
        for (name, is_unit) in [("real weights", false), ("equal weights", true)] {
            let graph = random_graph(edges, is_unit);
            let within = Within::all(Direction::Out);
            let (time, one) = measured(|| dijkstra(&graph, &[(0, 0.0)], &within, |_| true, |weight| *weight));
            let (fre_time, other) = measured(|| fre(&graph, &[(0, 0.0)], &within, |_| true, |weight| *weight));
            println!("{edges} edges, {} nodes, {} reached, {name}", graph.node_count(), one.found().len());
            print("dijkstra", time, &one.counters);
            print("fre", fre_time, &other.counters);
            println!("  answers {}", if one.sorted() == other.sorted() { "are equal" } else { "DIFFER" });
        }
    }
}

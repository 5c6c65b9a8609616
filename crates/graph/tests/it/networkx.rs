//! networkx finds the same distances, paths and components in a dozen random graphs.

use std::io::Write;
use std::path::Path;
use std::process::Stdio;

use graph::{
    Direction, Distances, Graph, Hop, Node, Within, components, dijkstra, fre, lightest_path, neighbours, shortest_path,
};
use serde_json::{Value, json};
use testkit::python::PythonPackages;

use crate::model::{Payload, cost, is_there, weight};

const GRAPHS: u64 = 12;
const PAIRS: usize = 40;
const DEPTH: u32 = 4;

/// A small xorshift generator.
struct Random(u64);

impl Random {
    fn below(&mut self, most: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        u32::try_from(self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33).unwrap() % most
    }
}

struct Question {
    graph: Graph<Payload>,
    nodes: Node,
    edges: Vec<(Node, Node, f32)>,
    start: Node,
    pairs: Vec<(Node, Node)>,
}

/// From sparse graphs with many components to dense ones, with loops, parallel edges and hubs.
fn question(number: u64) -> Question {
    let mut random = Random(number.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let nodes = 40 + random.below(160);
    let density = 1 + u32::try_from(number).unwrap() / 3;
    let mut graph = Graph::new();
    for _ in 0..nodes {
        graph.add_node();
    }
    let mut edges = Vec::new();
    for _ in 0..nodes * density {
        let reach = if random.below(3) == 0 { 5 } else { nodes };
        // Weights that JSON represents exactly.
        let edge = (random.below(nodes), random.below(reach), (1 + random.below(32)) as f32 / 16.0);
        graph.add_edge(edge.0, edge.1, Payload { weight: edge.2, there: true });
        edges.push(edge);
    }
    // Edges that networkx does not get.
    for _ in 0..nodes {
        graph.add_edge(random.below(nodes), random.below(nodes), Payload { weight: 2.0, there: false });
    }
    let pairs = (0..PAIRS).map(|_| (random.below(nodes), random.below(nodes))).collect();
    let start = random.below(nodes);
    Question { graph, nodes, edges, start, pairs }
}

/// Sends all graphs to the Python script at once.
fn ask_python(asked: &Value) -> Value {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python");
    let packages = PythonPackages::install(&tests.join("networkx.txt"));
    let mut python = packages.program("python");
    let mut child = python.arg(tests.join("answers.py")).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let asked = asked.to_string();
    let writer = std::thread::spawn(move || stdin.write_all(asked.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    assert!(output.status.success(), "answers.py failed");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn compare_walks(question: &Question, direction: Direction, said: &Value) -> usize {
    let hop = Hop { direction, depth: DEPTH, fan_out_max: usize::MAX, nodes_max: usize::MAX };
    let mut reached = neighbours(&question.graph, &[question.start], &hop, is_there, weight).nodes;
    reached.sort_unstable();
    assert_eq!(json!(reached), said["distances"]);
    let mut found = 0;
    for ((from, to), said) in question.pairs.iter().zip(said["paths"].as_array().unwrap()) {
        let shortest = shortest_path(&question.graph, &[*from], &[*to], question.nodes, direction, is_there);
        let lightest = lightest_path(&question.graph, &[*from], &[*to], question.nodes, direction, is_there, cost);
        assert_eq!(shortest.as_ref().map(|path| path.len() as u64), said["length"].as_u64(), "from {from} to {to}");
        assert_eq!(lightest.is_some(), !said.is_null());
        if let Some((_, total)) = lightest {
            assert!((total - said["cost"].as_f64().unwrap()).abs() < 1e-9, "from {from} to {to}: {total} instead of {said}");
            found += 1;
        }
    }
    found
}

/// Compares the components, and the distances of both searches: weights are sums of sixteenths, so they are exact.
fn compare_engines(question: &Question, said: &Value) {
    let found = components(&question.graph, is_there);
    let mut members: Vec<_> = (0..found.count()).map(|component| found.members(component)).collect();
    members.sort_unstable();
    assert_eq!(json!(members), said["components"]);
    let (sources, within) = ([(question.start, 0.0)], Within::all(Direction::Out));
    let by = |payload: &Payload| f64::from(weight(payload));
    let costs = |found: &Distances| {
        let mut costs: Vec<_> = found.found().iter().map(|found| (found.node, found.distance)).collect();
        costs.sort_unstable_by_key(|(node, _)| *node);
        costs
    };
    // The start's cost is the integer 0 in Python, so numbers are compared, not texts.
    let said = said["costs"].as_array().unwrap().iter();
    let said: Vec<_> = said.map(|pair| (Node::try_from(pair[0].as_u64().unwrap()).unwrap(), pair[1].as_f64().unwrap())).collect();
    assert_eq!(costs(&fre(&question.graph, &sources, &within, is_there, by)), said);
    assert_eq!(costs(&dijkstra(&question.graph, &sources, &within, is_there, by)), said);
}

#[test]
fn networkx_finds_the_same() {
    let questions: Vec<_> = (0..GRAPHS).map(question).collect();
    let asked = questions.iter().map(|question| {
        let Question { nodes, edges, start, pairs, .. } = question;
        json!({"nodes": nodes, "edges": edges, "start": start, "depth": DEPTH, "pairs": pairs})
    });
    let said = ask_python(&Value::Array(asked.collect()));
    let (mut found, mut asked) = ([0, 0], 0);
    for (question, said) in questions.iter().zip(said.as_array().unwrap()) {
        found[0] += compare_walks(question, Direction::Out, &said["directed"]);
        found[1] += compare_walks(question, Direction::Both, &said["undirected"]);
        compare_engines(question, said);
        asked += question.pairs.len();
    }
    assert!(found.iter().all(|found| (asked / 4..asked).contains(found)), "some pairs have a path, some have none: {found:?}");
}

//! `bench` on a small scale. What it measures depends on the machine, so only the names and the shape of the results are compared.

use crate::support::Terminal;

#[tokio::test(flavor = "multi_thread")]
async fn bench_code_measures_a_generated_repository() {
    let folder = tempfile::tempdir().unwrap();
    let said = Terminal::without_data(folder.path()).run("bench code --files 20 --rounds 2 --json").await;
    // It exits with 1 if a target is missed.
    assert!(matches!(said.code, Some(0 | 1)), "{said:?}");
    let report: serde_json::Value = serde_json::from_str(&said.out).unwrap_or_else(|error| panic!("{error}: {said:?}"));
    let figures = report["figures"].as_array().unwrap();
    let names: Vec<&str> = figures.iter().map(|figure| figure["name"].as_str().unwrap()).collect();
    for name in [
        "first index",
        "second start until complete",
        "memory per file",
        "read_code against a no-op",
        "graph_search against a no-op",
        "changed file in a walk",
        "write_code beyond three syncs",
        "hybrid_search at rest, P50",
        "a no-op while code is embedded",
        "5 hops",
        "queue operations, fre to dijkstra",
    ] {
        assert!(names.contains(&name), "{name} is missing: {names:?}");
    }
    assert!(figures.iter().all(|figure| figure["value"].is_f64()), "{report}");
}

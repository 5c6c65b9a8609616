//! Measures the processor time of embedding, next to a plain f32 pass of the same shape in the same run.
//!
//! `cargo run --release --package search --example embed_speed`

#![expect(clippy::indexing_slicing, clippy::disallowed_macros, reason = "a measurement, not the product")]

mod yardstick;

use std::hint::black_box;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};
use search::embed::{Cached, Embedder, MiniLm};
use yardstick::Yardstick;

const ROUNDS: usize = 60;

fn main() {
    let before = resident();
    let start = Instant::now();
    let Ok(model) = MiniLm::bundled() else {
        eprintln!("the bundled model is not readable");
        return;
    };
    let loaded = start.elapsed();
    black_box(model.vector("start"));
    println!("load {loaded:?}, first embedding after {:?}", start.elapsed());
    println!("resident: {before} kB at start, {} kB after the first embedding", resident());

    let yardstick = Yardstick::new();
    println!("{:>8} {:>12} {:>12} {:>12} {:>8}", "pieces", "p50", "p95", "f32 p50", "ratio");
    for pieces in [9, 32, 70, 138, 256] {
        let text = "index ".repeat(pieces - 2);
        assert_eq!(model.pieces(&text), pieces);
        // Alternating, so that a busy machine slows down both.
        let (mut ours, mut plain) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            ours.push(timed(|| model.vector(&text)));
            plain.push(timed(|| yardstick.run(pieces)));
        }
        ours.sort();
        plain.sort();
        let (p50, p95) = (ours[ROUNDS / 2], ours[ROUNDS * 95 / 100]);
        let ratio = plain[ROUNDS / 2].as_secs_f64() / p50.as_secs_f64();
        println!("{pieces:>8} {p50:>12.2?} {p95:>12.2?} {:>12.2?} {ratio:>7.1}x", plain[ROUNDS / 2]);
    }

    let text = "index ".repeat(62);
    let texts = vec![text.as_str(); 32];
    let batch = timed(|| model.embed_texts(&texts));
    println!("batch of 32 texts with 64 pieces: {:.2?} a text", batch / 32);
    let long = "all work and no play ".repeat(5_000);
    println!("a text of {} kB: {:.2?}", long.len() / 1_000, timed(|| model.vector(&long)));

    let cached = Cached::new(model, 1_000);
    let query = "where are expired tokens removed";
    let _ = cached.embed_query(query);
    let hits = timed(|| (0..10_000).for_each(|_| drop(black_box(cached.embed_query(black_box(query))))));
    println!("cache hit: {:?}", hits / 10_000);
    println!("resident at the end, yardstick included: {} kB", resident());
}

/// The processor time of the work on this thread. Other processes do not count.
fn timed<T>(work: impl FnOnce() -> T) -> Duration {
    let now = || Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default();
    let start = now();
    black_box(work());
    now() - start
}

/// Resident memory in kB, if the system reports it.
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

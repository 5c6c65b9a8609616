//! How fast and how large the indexes are, each beside a plain scan of the same data in the same run.
//!
//! `cargo run --release -p search --example index_speed -- [vectors|graph|keyword] [items]`

#![expect(clippy::expect_used, reason = "a measurement that cannot be made ends the run")]

use std::collections::HashMap;
use std::time::Instant;

use search::keyword::KeywordIndex;
use search::vectors::{Query, VectorIndex};

const DIMENSION: usize = 384;
const QUERIES: usize = 200;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let only = arguments.first().map(String::as_str);
    let sizes: Vec<usize> = match arguments.get(1).and_then(|size| size.parse().ok()) {
        Some(size) => vec![size],
        None => vec![10_000, 100_000],
    };
    for size in sizes {
        if only != Some("keyword") {
            vectors(size, only == Some("graph"));
        }
        if only.is_none_or(|only| only == "keyword") {
            keyword(size);
        }
    }
}

/// The same numbers in every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 16
    }

    fn below(&mut self, limit: usize) -> usize {
        self.next() as usize % limit.max(1)
    }

    fn vector(&mut self) -> Vec<f32> {
        (0..DIMENSION).map(|_| (0..4).map(|_| (self.next() % 2_001) as f32 / 1_000.0 - 1.0).sum::<f32>()).collect()
    }

    /// A unit vector near one of the centres.
    fn near(&mut self, centres: &[Vec<f32>]) -> Vec<f32> {
        let place = self.below(centres.len());
        let noise = self.vector();
        let vector: Vec<f32> =
            centres.iter().skip(place).take(1).flatten().zip(noise).map(|(centre, noise)| centre + 0.7 * noise).collect();
        let length = simd::dot_f32(&vector, &vector).sqrt();
        vector.into_iter().map(|component| component / length).collect()
    }

    /// A word of a vocabulary in which few words are common and most are rare.
    fn word(&mut self) -> String {
        let uniform = (self.next() % 1_000_000) as f64 / 1_000_000.0;
        let rank = (30_000_f64.powf(uniform)) as usize;
        let letters = |mut number: usize| {
            let mut word = String::new();
            for _ in 0..4 {
                word.push_str(
                    ["ka", "lo", "mi", "ter", "su", "ran", "ve", "po", "nix", "du", "gra", "fe", "hol"]
                        .get(number % 13)
                        .unwrap_or(&""),
                );
                number /= 13;
            }
            word
        };
        match self.below(6) {
            0 => format!("{}{}", letters(rank), letters(rank * 7).replacen('k', "K", 1).replacen('l', "L", 1)),
            _ => letters(rank),
        }
    }
}

/// Processor time of this process so far, in steps of ten milliseconds: on a busy machine it says more than a clock.
fn processor_ms() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace().skip(11).take(2);
    fields.filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() * 10.0
}

/// Times each call, and prints the middle and the worst of a hundred, and the mean of the processor's time.
fn timed<T>(name: &str, count: usize, mut call: impl FnMut(usize) -> T) -> Vec<T> {
    let (mut times, mut answers) = (Vec::new(), Vec::new());
    let before = processor_ms();
    for number in 0..count {
        let start = Instant::now();
        answers.push(call(number));
        times.push(start.elapsed().as_secs_f64() * 1_000.0);
    }
    times.sort_by(f64::total_cmp);
    let at = |share: f64| times.get(((times.len() - 1) as f64 * share) as usize).copied().unwrap_or_default();
    let mean = (processor_ms() - before) / count as f64;
    println!("  {name:<44} p50 {:>8.3} ms   p99 {:>8.3} ms   processor {mean:>8.3} ms", at(0.5), at(0.99));
    answers
}

fn once<T>(name: &str, call: impl FnOnce() -> T) -> T {
    let (start, before) = (Instant::now(), processor_ms());
    let answer = call();
    println!("  {name:<44} {:>12.1} ms   processor {:.0} ms", start.elapsed().as_secs_f64() * 1_000.0, processor_ms() - before);
    answer
}

fn megabytes(bytes: usize) -> f64 {
    bytes as f64 / 1e6
}

fn vectors(size: usize, with_graph: bool) {
    println!("\n{size} vectors of {DIMENSION}");
    let mut random = Random(0x9E37_79B9);
    let centres: Vec<_> = (0..(size / 200).max(1)).map(|_| random.vector()).collect();
    let rows: Vec<_> = (0..size).map(|_| random.near(&centres)).collect();
    let queries: Vec<_> = (0..QUERIES).map(|_| random.near(&centres)).collect();
    let mut index = VectorIndex::new(DIMENSION);
    once("build", || {
        for (id, row) in (0..).zip(&rows) {
            index.upsert(id, row).expect("a good vector");
        }
    });
    println!("  memory {:.1} MB; as f32 {:.1} MB", megabytes(index.bytes()), megabytes(size * DIMENSION * 4));
    let exact = timed("yardstick: f32 scan", QUERIES.min(60), |number| {
        let Some(query) = queries.get(number) else { return Vec::new() };
        let mut scores: Vec<(f32, u64)> = (0..).zip(&rows).map(|(id, row)| (simd::dot_f32(query, row), id)).collect();
        scores.select_nth_unstable_by(9, |left, right| right.0.total_cmp(&left.0));
        scores.truncate(10);
        scores.into_iter().map(|(_, id)| id).collect()
    });
    searches(&index, &queries, &exact);
    if with_graph {
        let mut graph = VectorIndex::with_graph_from(DIMENSION, size);
        for (id, row) in (0..).zip(&rows) {
            graph.upsert(id, row).expect("a good vector");
        }
        once("link a graph", || graph.link(size));
        println!("  memory {:.1} MB", megabytes(graph.bytes()));
        searches(&graph, &queries, &exact);
    }
    timed("upsert", QUERIES, |number| queries.get(number).map(|query| index.upsert(number as u64, query)));
}

fn searches(index: &VectorIndex, queries: &[Vec<f32>], exact: &[Vec<u64>]) {
    let search = |number: usize, limit, filter: Option<&dyn Fn(u64) -> bool>| {
        let query = queries.get(number).and_then(|query| Query::new(query).ok());
        query.map(|query| index.search(&query, limit, filter)).unwrap_or_default()
    };
    let found = timed("search, 10 best", QUERIES, |number| search(number, 10, None));
    let hits = found.iter().zip(exact).map(|(found, exact)| found.iter().filter(|hit| exact.contains(&hit.id)).count());
    println!("  recall@10 {:.4}", hits.sum::<usize>() as f64 / (10 * exact.len()) as f64);
    timed("search, 100 best", QUERIES, |number| search(number, 100, None));
    timed("search, 10 best, every second passes", QUERIES, |number| search(number, 10, Some(&|id| id % 2 == 1)));
    timed("search, 10 best, every 100th passes", QUERIES, |number| search(number, 10, Some(&|id| id % 100 == 7)));
}

fn keyword(size: usize) {
    println!("\n{size} texts");
    let mut random = Random(0x51_7CC1);
    let texts: Vec<String> = (0..size).map(|_| (0..60 + random.below(40)).map(|_| random.word() + " ").collect()).collect();
    let folder = tempfile::tempdir().expect("a folder");
    let (index, _) = KeywordIndex::open(folder.path()).expect("an index");
    once("index, flushing every 4096", || {
        for (id, text) in (0..).zip(&texts) {
            index.upsert(id, text, id).expect("room");
            if index.wants_flush() {
                index.flush().expect("a commit");
            }
        }
        index.flush().expect("a commit");
    });
    drop(index);
    let (index, recovery) = once("open, checksums included", || KeywordIndex::open(folder.path())).expect("an index");
    assert_eq!(recovery.position, size as u64 - 1);
    let files =
        std::fs::read_dir(folder.path()).expect("a folder").filter_map(|file| Some(file.ok()?.metadata().ok()?.len() as usize));
    println!("  on disk {:.1} MB; text {:.1} MB", megabytes(files.sum()), megabytes(texts.iter().map(String::len).sum()));
    let plain = plain_index(&texts);
    for terms in [1, 3, 8] {
        let questions: Vec<String> = (0..QUERIES)
            .map(|_| {
                let words: Vec<&str> = texts.get(random.below(size)).map(|text| text.split(' ').collect()).unwrap_or_default();
                (0..terms).filter_map(|_| words.get(random.below(words.len() - 1)).copied()).collect::<Vec<_>>().join(" ")
            })
            .collect();
        let ask = |number: usize| questions.get(number).map(String::as_str).unwrap_or_default();
        timed(&format!("{terms} terms, 10 best"), QUERIES, |number| index.search(ask(number), 10, None).expect("an answer"));
        timed(&format!("{terms} terms, 100 best"), QUERIES, |number| index.search(ask(number), 100, None).expect("an answer"));
        if terms == 8 {
            timed("8 terms, 10 best, every 100th passes", QUERIES, |number| {
                index.search(ask(number), 10, Some(&|id| id % 100 == 7)).expect("an answer")
            });
            timed("yardstick: 8 terms, every text looked at", 10, |number| scan(&plain, ask(number)));
            for (id, text) in (size as u64..).zip(texts.iter().take(4_000)) {
                index.upsert(id, text, id).expect("room");
            }
            timed("8 terms, 10 best, 4000 not committed", QUERIES, |number| {
                index.search(ask(number), 10, None).expect("an answer")
            });
            once("flush of 4000", || index.flush()).expect("a commit");
            index.upsert(1, "one more", 1).expect("room");
            once("flush of 1", || index.flush()).expect("a commit");
        }
    }
    let long: String = (0..7_000).map(|_| random.word() + " ").collect();
    timed(&format!("a question of {} kB, 10 best", long.len() / 1_000), 20, |_| {
        index.search(&long, 10, None).expect("an answer")
    });
    timed("upsert", QUERIES, |number| index.upsert(3, texts.get(number).map(String::as_str).unwrap_or_default(), 1));
}

/// Each text as a bag of words, for the scan that has no index.
fn plain_index(texts: &[String]) -> Vec<HashMap<&str, u32>> {
    texts
        .iter()
        .map(|text| {
            let mut bag = HashMap::new();
            for word in text.split_whitespace() {
                *bag.entry(word).or_insert(0) += 1;
            }
            bag
        })
        .collect()
}

fn scan(bags: &[HashMap<&str, u32>], question: &str) -> Vec<(f32, usize)> {
    let words: Vec<&str> = question.split_whitespace().collect();
    let frequencies: Vec<f32> =
        words.iter().map(|word| bags.iter().filter(|bag| bag.contains_key(word)).count() as f32).collect();
    let score = |bag: &HashMap<&str, u32>| -> f32 {
        let found = words.iter().zip(&frequencies).filter_map(|(word, frequency)| Some((*bag.get(word)? as f32, frequency)));
        found.map(|(count, frequency)| (1.0 + bags.len() as f32 / frequency).ln() * count / (count + 1.2)).sum()
    };
    let mut scores: Vec<(f32, usize)> = bags.iter().enumerate().map(|(id, bag)| (score(bag), id)).collect();
    scores.select_nth_unstable_by(9, |left, right| right.0.total_cmp(&left.0));
    scores.truncate(10);
    scores
}

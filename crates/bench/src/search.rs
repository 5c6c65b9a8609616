//! `toolcrib bench search`: measures the parts of the search engine in this process, and compares each with a naive implementation.

use std::collections::{HashMap, HashSet};
use std::hint::black_box;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use search::embed::{Cached, Embedder, MiniLm};
use search::keyword::KeywordIndex;
use search::vectors::{Query, VectorIndex};

use crate::report::{Aim, Report};
use crate::times::Times;
use crate::words::Words;

/// Options of a run.
#[derive(Clone, Copy, Debug)]
pub struct SearchOptions {
    /// Queries per result.
    pub questions: usize,
    /// Items in the large indexes.
    pub items: usize,
}

const DIMENSION: usize = 384;
/// The baselines are slow, so they run only one in this many queries.
const BASELINE_PART: usize = 10;

/// Runs every measurement.
pub fn search(options: &SearchOptions) -> Result<Report> {
    let mut report = Report::default();
    embedding(options, &mut report)?;
    for (items, name, aim) in [
        (options.items / 10, "search a tenth of the vectors, P50", Aim::AtMost(0.4, "≤ 0.4 ms")),
        (options.items, "search all vectors, P50", Aim::AtMost(3.0, "≤ 3 ms")),
    ] {
        vectors(items, options.questions, name, aim, &mut report)?;
    }
    keywords(options, &mut report)?;
    Ok(report)
}

fn timed<T>(count: usize, mut call: impl FnMut(usize) -> T) -> Result<(Times, Vec<T>)> {
    let (mut times, mut answers) = (Vec::<Duration>::with_capacity(count), Vec::with_capacity(count));
    for number in 0..count {
        let began = Instant::now();
        answers.push(black_box(call(number)));
        times.push(began.elapsed());
    }
    Ok((Times::of(times)?, answers))
}

fn embedding(options: &SearchOptions, report: &mut Report) -> Result<()> {
    let questions: Vec<String> = (0..options.questions).map(Words::question).collect();
    let embedder = Cached::new(MiniLm::bundled()?, options.questions);
    let ask = |number: usize| questions.get(number).map(|question| embedder.embed_query(question));
    let (fresh, _) = timed(questions.len(), ask)?;
    let (again, _) = timed(questions.len(), ask)?;
    let details = format!("{:.2} ms at P99, one core", fresh.p99);
    report.add("embed a query, P50", fresh.p50, "ms", details, Aim::AtMost(5.0, "≤ 5 ms"));
    let details = format!("{:.0} times as fast as without the cache", fresh.p50 / again.p50.max(1e-9));
    report.add("embed a cached query, P50", again.p50 * 1e3, "µs", details, Aim::AtMost(1.0, "≤ 1 µs"));
    Ok(())
}

/// Compares with an exact scan of the same vectors.
fn vectors(items: usize, questions: usize, name: &'static str, aim: Aim, report: &mut Report) -> Result<()> {
    let mut words = Words::new(13);
    let centres: Vec<_> = (0..(items / 200).max(1)).map(|_| words.vector(DIMENSION)).collect();
    let rows: Vec<_> = (0..items).map(|_| words.near(&centres)).collect();
    let queries: Vec<_> = (0..questions).map(|_| words.near(&centres)).collect();
    let mut index = VectorIndex::new(DIMENSION);
    for (id, row) in (0..).zip(&rows) {
        index.upsert(id, row)?;
    }
    let exact = |number: usize| -> HashSet<u64> {
        let Some(query) = queries.get(number) else { return HashSet::new() };
        let dot = |row: &Vec<f32>| row.iter().zip(query).map(|(left, right)| left * right).sum::<f32>();
        let mut scores: Vec<(f32, u64)> = (0..).zip(&rows).map(|(id, row)| (dot(row), id)).collect();
        scores.sort_unstable_by(|left, right| right.0.total_cmp(&left.0));
        scores.into_iter().take(10).map(|(_, id)| id).collect()
    };
    let (scan, truth) = timed((questions / BASELINE_PART).max(1), exact)?;
    let (ours, found) = timed(questions, |number| {
        let query = queries.get(number).and_then(|query| Query::new(query).ok());
        query.map(|query| index.search(&query, 10, None)).unwrap_or_default()
    })?;
    let hits: usize =
        found.iter().zip(&truth).map(|(found, truth)| found.iter().filter(|hit| truth.contains(&hit.id)).count()).sum();
    let recall = hits as f64 / truth.iter().map(HashSet::len).sum::<usize>().max(1) as f64;
    let details = format!("{items} vectors; {:.2} ms at P99; {:.1} times as fast as a plain scan", ours.p99, scan.p50 / ours.p50);
    report.add(name, ours.p50, "ms", details, aim);
    report.add("recall@10", recall, "", format!("{items} vectors"), Aim::AtLeast(0.999, "≥ 0.999"));
    Ok(())
}

/// Compares with a scan of every text.
fn keywords(options: &SearchOptions, report: &mut Report) -> Result<()> {
    let mut words = Words::new(17);
    let texts: Vec<String> = (0..options.items).map(|number| format!("{} {}", words.note(number), words.note(number))).collect();
    let folder = tempfile::tempdir()?;
    let (index, _) = KeywordIndex::open(folder.path())?;
    for (id, text) in (0..).zip(&texts) {
        index.upsert(id, text, id)?;
        if index.wants_flush() {
            index.flush()?;
        }
    }
    index.flush()?;
    let questions: Vec<String> = (0..options.questions)
        .map(|_| {
            let text: Vec<&str> = texts.get(words.below(texts.len())).map(|text| text.split(' ').collect()).unwrap_or_default();
            (0..8).filter_map(|_| text.get(words.below(text.len())).copied()).collect::<Vec<_>>().join(" ")
        })
        .collect();
    let ask = |number: usize| questions.get(number).map(String::as_str).unwrap_or_default();
    let bags: Vec<HashMap<&str, u32>> = texts.iter().map(|text| bag(text)).collect();
    let (scan, _) = timed((options.questions / BASELINE_PART).max(1), |number| every_text(&bags, ask(number)))?;
    let (ours, found) = timed(options.questions, |number| index.search(ask(number), 10, None))?;
    ensure!(found.iter().all(|found| found.as_ref().is_ok_and(|found| !found.is_empty())), "a query found nothing");
    let details = format!(
        "{} texts; {:.2} ms at P99; {:.0} times as fast as scanning every text",
        texts.len(),
        ours.p99,
        scan.p50 / ours.p50
    );
    report.add("search eight words, P50", ours.p50, "ms", details, Aim::AtMost(1.5, "≤ 1.5 ms"));
    Ok(())
}

fn bag(text: &str) -> HashMap<&str, u32> {
    let mut bag = HashMap::new();
    for word in text.split_whitespace() {
        *bag.entry(word).or_insert(0) += 1;
    }
    bag
}

fn every_text(bags: &[HashMap<&str, u32>], question: &str) -> Vec<(f32, usize)> {
    let words: Vec<&str> = question.split_whitespace().collect();
    let with = |word: &&str| bags.iter().filter(|bag| bag.contains_key(word)).count().max(1) as f32;
    let frequencies: Vec<f32> = words.iter().map(with).collect();
    let score = |bag: &HashMap<&str, u32>| -> f32 {
        let found = words.iter().zip(&frequencies).filter_map(|(word, frequency)| Some((*bag.get(word)? as f32, frequency)));
        found.map(|(count, frequency)| (1.0 + bags.len() as f32 / frequency).ln() * count / (count + 1.2)).sum()
    };
    let mut scores: Vec<(f32, usize)> = bags.iter().enumerate().map(|(id, bag)| (score(bag), id)).collect();
    scores.sort_unstable_by(|left, right| right.0.total_cmp(&left.0));
    scores.truncate(10);
    scores
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_run_gives_all_results() {
        let report = search(&SearchOptions { questions: 5, items: 400 }).unwrap();
        assert_eq!(report.figures.len(), 7);
        assert!(report.figures.iter().all(|figure| figure.value.is_finite()));
    }
}

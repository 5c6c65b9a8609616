//! Groups passages, so that one file does not fill the page: neighbours in a file become one hit, and a file has few hits.

use std::collections::HashMap;

use super::catalogue::Catalogue;
use super::rank::Ranked;

/// The maximum number of hits of one file.
const FILE_HITS_MAX: usize = 3;
/// Passages with at most this many lines between them are neighbours.
const GAP_LINES: u32 = 2;
/// A group does not grow beyond this many lines.
const LINES_MAX: u32 = 120;
/// A neighbour joins a group if it has at least this share of the best score in it.
const JOINS_FROM: f32 = 0.7;

/// Neighbouring passages of one file.
#[derive(Clone, Debug)]
pub(super) struct Group {
    /// The best of them.
    pub(super) best: Ranked,
    pub(super) start_line: u32,
    pub(super) end_line: u32,
}

/// Groups ranked passages. The order is that of the best passage of each group.
pub(super) fn group(catalogue: &Catalogue, ranked: &[Ranked]) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    let mut of_file: HashMap<u32, Vec<usize>> = HashMap::new();
    for one in ranked {
        let Some(entry) = catalogue.entry(one.id) else { continue };
        let (start, end) = (entry.start_line, entry.end_line);
        let places = of_file.entry(one.file).or_default();
        let is_covered = |group: &Group| group.start_line <= start && end <= group.end_line;
        if places.iter().filter_map(|place| groups.get(*place)).any(is_covered) {
            continue;
        }
        let joined = places.iter().copied().find(|place| groups.get(*place).is_some_and(|group| joins(group, one, start, end)));
        if let Some(group) = joined.and_then(|place| groups.get_mut(place)) {
            (group.start_line, group.end_line) = (group.start_line.min(start), group.end_line.max(end));
        } else if places.len() < FILE_HITS_MAX {
            places.push(groups.len());
            groups.push(Group { best: one.clone(), start_line: start, end_line: end });
        }
    }
    groups
}

fn joins(group: &Group, one: &Ranked, start: u32, end: u32) -> bool {
    let overlaps = start <= group.end_line && group.start_line <= end;
    let is_near = start <= group.end_line.saturating_add(GAP_LINES + 1) && group.start_line <= end.saturating_add(GAP_LINES + 1);
    let lines = (group.end_line.max(end) - group.start_line.min(start)).saturating_add(1);
    let is_as_good = one.signals.sum() >= JOINS_FROM * group.best.signals.sum();
    lines <= LINES_MAX && (overlaps || is_near && is_as_good)
}

#[cfg(test)]
mod tests {
    use super::super::catalogue::Entry;
    use super::super::rank::Signals;
    use super::*;

    /// Passages as (file, first line, last line, score), best first.
    fn grouped(passages: &[(u32, u32, u32, f32)]) -> Vec<(u32, u32, u32)> {
        let mut catalogue = Catalogue::default();
        let mut files: HashMap<u32, Vec<(u64, Entry)>> = HashMap::new();
        let mut ranked = Vec::new();
        for (id, (file, start_line, end_line, keyword)) in (0..).zip(passages.iter().copied()) {
            files.entry(file).or_default().push((id, Entry { file, start_line, end_line, symbol: None, names: Box::default() }));
            ranked.push(Ranked { id, file, signals: Signals { keyword, ..Signals::default() }, cosine: None });
        }
        for (file, entries) in files {
            catalogue.put(file, "x", entries);
        }
        group(&catalogue, &ranked).iter().map(|group| (group.best.file, group.start_line, group.end_line)).collect()
    }

    #[test]
    fn neighbours_become_one_hit() {
        assert_eq!(grouped(&[(1, 10, 20, 5.0), (2, 1, 5, 4.9), (1, 22, 30, 4.8)]), [(1, 10, 30), (2, 1, 5)]);
        assert_eq!(grouped(&[(1, 10, 20, 5.0), (1, 24, 30, 4.8)]), [(1, 10, 20), (1, 24, 30)], "too far away");
        assert_eq!(grouped(&[(1, 10, 20, 5.0), (1, 21, 30, 1.0)]), [(1, 10, 20), (1, 21, 30)], "too bad");
        assert_eq!(grouped(&[(1, 10, 20, 5.0), (1, 15, 30, 1.0)]), [(1, 10, 30)], "they overlap");
        assert_eq!(grouped(&[(1, 10, 20, 5.0), (1, 12, 18, 4.0)]), [(1, 10, 20)], "it lies inside");
        assert_eq!(grouped(&[(1, 1, 100, 5.0), (1, 101, 200, 5.0)]).len(), 2, "the two are too long together");
    }

    #[test]
    fn a_file_has_few_hits() {
        let many: Vec<_> = (0..50).map(|number| (1, number * 100 + 1, number * 100 + 9, 9.0)).chain([(2, 1, 2, 1.0)]).collect();
        assert_eq!(grouped(&many), [(1, 1, 9), (1, 101, 109), (1, 201, 209), (2, 1, 2)]);
        assert_eq!(grouped(&[(1, 0, u32::MAX, 1.0), (1, u32::MAX, u32::MAX, 1.0)]).len(), 1);
    }
}

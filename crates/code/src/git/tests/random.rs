//! Random histories with a fixed seed, compared with git.

use std::collections::BTreeMap;

use super::*;

/// A small generator of numbers, always the same for a seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % sides
    }
}

const FOLDERS: [&str; 5] = ["", "src/", "src/deep/", "docs/", "ü/"];

/// The files of one branch. Every line is unique, so that there is one best way to compare two versions.
struct Files {
    texts: BTreeMap<String, Vec<String>>,
    counter: usize,
}

impl Files {
    fn fresh(&mut self) -> String {
        self.counter += 1;
        format!("line number {} says {:x}", self.counter, self.counter * 2_654_435_761 % 1_000_003)
    }

    fn path(&mut self, dice: &mut Dice) -> String {
        self.counter += 1;
        format!("{}f{}.txt", FOLDERS[dice.roll(FOLDERS.len())], self.counter)
    }

    fn any(&self, dice: &mut Dice) -> Option<String> {
        let index = (!self.texts.is_empty()).then(|| dice.roll(self.texts.len()))?;
        self.texts.keys().nth(index).cloned()
    }

    fn edit(&mut self, path: &str, dice: &mut Dice) {
        let mut text = self.texts.remove(path).unwrap();
        for _ in 0..=dice.roll(4) {
            let at = dice.roll(text.len().max(1)).min(text.len().saturating_sub(1));
            match dice.roll(3) {
                0 => text.insert(at, self.fresh()),
                1 if text.len() > 8 => drop(text.remove(at)),
                _ if !text.is_empty() => text[at] = self.fresh(),
                _ => {}
            }
        }
        self.texts.insert(path.to_owned(), text);
    }

    fn step(&mut self, dice: &mut Dice) {
        match (dice.roll(10), self.any(dice)) {
            (0..=1, _) | (_, None) => {
                let path = self.path(dice);
                let text = (0..10 + dice.roll(30)).map(|_| self.fresh()).collect();
                self.texts.insert(path, text);
            }
            (2, Some(path)) if self.texts.len() > 6 => drop(self.texts.remove(&path)),
            (3, Some(path)) => {
                let to = self.path(dice);
                let text = self.texts.remove(&path).unwrap();
                self.texts.insert(to, text);
            }
            (4, Some(path)) => {
                let name = path.rsplit('/').next().unwrap().to_owned();
                let to = format!("{}{name}", FOLDERS[dice.roll(FOLDERS.len())]);
                let text = self.texts.remove(&path).unwrap();
                self.texts.insert(to.clone(), text);
                self.edit(&to, dice);
            }
            (5, Some(path)) => {
                let to = self.path(dice);
                let text = self.texts.remove(&path).unwrap();
                self.texts.insert(to.clone(), text);
                self.edit(&to, dice);
            }
            (_, Some(path)) => self.edit(&path, dice),
        }
    }

    fn write(&self, fixture: &Fixture) {
        let tracked = fixture.git(&["-c", "core.quotePath=false", "ls-files"]);
        // The folder `side` belongs to other branches.
        for path in tracked.lines().filter(|path| !self.texts.contains_key(*path) && !path.starts_with("side/")) {
            fixture.remove(path);
        }
        for (path, text) in &self.texts {
            fixture.write(path, text.iter().map(|line| format!("{line}\n")).collect::<String>());
        }
    }
}

fn random_history(seed: u64, commits: usize) -> Fixture {
    let fixture = Fixture::new();
    let mut dice = Dice(seed);
    let mut files = Files { texts: BTreeMap::new(), counter: 0 };
    let mut stream = Vec::new();
    for number in 0..commits {
        for _ in 0..=dice.roll(3) {
            files.step(&mut dice);
        }
        fixture.import_heading(&mut stream, &format!("Commit {number}"));
        stream.extend_from_slice(b"deleteall\n");
        for (path, text) in &files.texts {
            import_file(&mut stream, path, &(text.join("\n") + "\n"));
        }
    }
    fixture.import(&stream);
    fixture
}

#[test]
fn a_random_log_equals_that_of_git() {
    let fixture = random_history(1, 200);
    let repository = fixture.open();
    let commits = whole_log(&repository, 37);
    let theirs = git_shown(&fixture, &[]);
    assert_eq!(shown(&commits), theirs);
    assert_eq!(numbers(&commits), git_numbers(&fixture));
    let renames = theirs.iter().filter(|line| line.starts_with("R\t")).count();
    assert!(renames > 40, "only {renames} renames");
}

#[test]
fn random_histories_of_files_equal_those_of_git() {
    let fixture = random_history(2, 200);
    let repository = fixture.open();
    let mut followed = 0;
    for path in fixture.git(&["-c", "core.quotePath=false", "ls-files"]).lines() {
        let theirs = git_shown(&fixture, &["--follow", "--", path]);
        assert_eq!(shown(&whole_history(&repository, path, 7)), theirs, "{path}");
        if let Some(cursor) = repository.history(path, None, &Bounds { commits: 1, ..Bounds::default() }).unwrap().next {
            // Another process goes on too.
            let rest = fixture.open().history(path, Some(&cursor), &Bounds::default()).unwrap();
            let skipped = theirs.iter().skip(1).position(|line| line.starts_with("commit")).unwrap_or(theirs.len() - 1);
            assert_eq!(shown(&rest.commits), theirs[1 + skipped..], "{path}");
        }
        assert_eq!(our_blame(&repository, path), git_blame(&fixture, path), "{path}");
        followed += usize::from(theirs.iter().any(|line| line.starts_with("R\t")));
    }
    assert!(followed > 5, "only {followed} files have a former name");
}

#[test]
fn random_branches_equal_those_of_git() {
    let fixture = Fixture::new();
    let mut dice = Dice(3);
    let mut main = Files { texts: BTreeMap::new(), counter: 0 };
    for round in 0..14 {
        for number in 0..4 {
            (0..3).for_each(|_| main.step(&mut dice));
            main.write(&fixture);
            fixture.commit(&format!("Main {round} {number}"));
        }
        // Main leaves the files of the side alone, so that merges have no conflicts.
        fixture.git(&["checkout", "-q", "-b", &format!("side{round}")]);
        for number in 0..3 {
            let path = format!("side/{}.txt", dice.roll(4));
            let text = std::fs::read_to_string(fixture.tree.join(&path)).unwrap_or_default();
            fixture.write(&path, text + &format!("side {round} {number} {}\n", main.fresh()));
            fixture.commit(&format!("Side {round} {number}"));
        }
        fixture.git(&["checkout", "-q", "main"]);
        (0..2).for_each(|_| main.step(&mut dice));
        main.write(&fixture);
        fixture.commit(&format!("Main {round} meanwhile"));
        fixture.merge(&format!("side{round}"));
    }
    let repository = fixture.open();
    assert_eq!(shown(&whole_log(&repository, 11)), git_shown(&fixture, &[]));
    for path in fixture.git(&["-c", "core.quotePath=false", "ls-files"]).lines() {
        assert_eq!(our_blame(&repository, path), git_blame(&fixture, path), "{path}");
    }
}

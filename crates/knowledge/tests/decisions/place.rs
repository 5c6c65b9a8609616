//! A separate project for each test.

use std::sync::Arc;

use base::{PageRequest, ProjectId};
use knowledge::{
    Author, Decision, Decisions, HistoryFilter, Indexes, IndexesConfig, KnowledgeChange, KnowledgeGraph, KnowledgeHistory,
    Memory, NewDecision, Recall, Recalled, WorkType,
};
use search::embed::{Cached, MiniLm};
use store::Change;
use testkit::{Engine, TestStore};

pub(crate) struct Place {
    pub(crate) store: TestStore,
    pub(crate) rows: Change,
    pub(crate) project: ProjectId,
    pub(crate) decisions: Decisions<Change>,
    pub(crate) memory: Memory<Change>,
    pub(crate) graph: KnowledgeGraph<Change>,
    pub(crate) indexes: Indexes,
}

impl Place {
    pub(crate) async fn open(engine: Engine) -> Self {
        let store = TestStore::open(engine).await;
        let (rows, project) = (store.new_org(), ProjectId::new(store.clock.now()));
        let embedder = Arc::new(Cached::new(MiniLm::bundled().unwrap(), 1_000));
        Self {
            decisions: Decisions::new(rows.clone(), project, store.clock.clone()).reading_facts(true),
            memory: Memory::new(rows.clone(), project, store.clock.clone()),
            graph: KnowledgeGraph::new(rows.clone(), project, store.clock.clone()),
            indexes: Indexes::new(IndexesConfig::new(embedder, store.clock.clone())),
            store,
            rows,
            project,
        }
    }

    /// Moves the clock, and records a decision.
    pub(crate) async fn decide(&self, who: &str, decision: &str) -> Decision {
        self.store.clock.advance_ms(1_000);
        self.decisions.record(&author(who), new(decision)).await.unwrap()
    }

    pub(crate) async fn recall(&self, who: &str, query: &str) -> Recalled {
        let recall = Recall { query: query.to_owned(), work: WorkType::Other, ranking: knowledge::Ranking::default() };
        self.memory.recall(&self.indexes, &author(who), recall).await.unwrap()
    }

    pub(crate) fn history(&self) -> KnowledgeHistory<Change> {
        KnowledgeHistory::new(self.rows.clone(), self.project, self.store.clock.clone())
    }

    /// Every change of a thing, read in pages of two. `None` if the project does not know it.
    pub(crate) async fn changes(&self, id: &str, filter: &HistoryFilter) -> Option<Vec<KnowledgeChange>> {
        let (history, mut page, mut all) = (self.history(), page(2), Vec::new());
        loop {
            let found = history.history_of(id, filter, &page).await.unwrap()?;
            assert!(found.items.len() <= 2);
            all.extend(found.items);
            match found.next {
                Some(next) => page.after = Some(next),
                None => return Some(all),
            }
        }
    }
}

pub(crate) fn author(who: &str) -> Author {
    Author { agent: who.to_owned(), session: format!("ses_{who}") }
}

pub(crate) fn new(decision: &str) -> NewDecision {
    NewDecision { decision: decision.to_owned(), reasoning: "it is simple".to_owned(), ..NewDecision::default() }
}

pub(crate) fn page(rows: u32) -> PageRequest {
    PageRequest { rows, after: None }
}

/// The words of changes, with their types.
pub(crate) fn told(changes: &[KnowledgeChange]) -> Vec<(&'static str, String)> {
    let word = |change: &KnowledgeChange| change.id.split(':').nth(1).unwrap().to_owned();
    changes.iter().map(|change| (change.change_type.word(), word(change))).collect()
}

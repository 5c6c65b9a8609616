//! Query results kept in memory, for pages that many agents read and that rarely change.
//!
//! This works only where every write goes through this process, so only on SQLite. Any write to an org drops all of its
//! results. That is coarse, but writers need to do nothing. Notes do not count as writes.

use std::any::Any;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use base::{OrgId, Result, limits};
use quick_cache::sync::Cache;

use crate::param::Param;
use crate::store::Lane;

/// A query and its org.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Question {
    org: OrgId,
    sql: &'static str,
    params: String,
}

impl Question {
    pub(crate) fn new(org: &OrgId, sql: &'static str, params: &[Param<'_>]) -> Self {
        Self { org: *org, sql, params: format!("{params:?}") }
    }
}

#[derive(Clone)]
struct Answer {
    as_of: u64,
    rows: Arc<dyn Any + Send + Sync>,
}

/// The results, and the number of writes since.
pub(crate) struct Kept {
    answers: Cache<Question, Answer>,
    written: Arc<Written>,
}

impl Kept {
    pub(crate) fn new(written: Arc<Written>) -> Self {
        Self { answers: Cache::new(limits::KEPT_ANSWERS_MAX), written }
    }

    /// The kept result, or else the result of `read`.
    pub(crate) fn answer<T: Send + Sync + 'static>(
        &self,
        question: Question,
        read: impl FnOnce() -> Result<Vec<T>>,
    ) -> Result<Arc<Vec<T>>> {
        // The count is read before the rows: a write in between makes this result stale.
        let as_of = self.written.to(&question.org);
        let kept = self.answers.get(&question).filter(|answer| answer.as_of == as_of);
        if let Some(Ok(rows)) = kept.map(|answer| answer.rows.downcast()) {
            return Ok(rows);
        }
        let rows = Arc::new(read()?);
        self.answers.insert(question, Answer { as_of, rows: rows.clone() });
        Ok(rows)
    }

    /// Makes every result stale.
    pub(crate) fn forget(&self) {
        self.written.add(Lane::Instance);
    }
}

/// How often each org was written to. Some orgs share a counter, which only makes a few results stale too early.
pub(crate) struct Written {
    by_org: [AtomicU64; COUNTS],
    by_instance: AtomicU64,
    hasher: RandomState,
}

const COUNTS: usize = 1024;

impl Written {
    pub(crate) fn new() -> Arc<Self> {
        let by_org = [const { AtomicU64::new(0) }; COUNTS];
        Arc::new(Self { by_org, by_instance: AtomicU64::new(0), hasher: RandomState::new() })
    }

    /// A number that changes with every write that may affect rows of `org`.
    fn to(&self, org: &OrgId) -> u64 {
        self.count(org).load(Ordering::Acquire).wrapping_add(self.by_instance.load(Ordering::Acquire))
    }

    /// Counts a write. Must be called before it is acknowledged.
    pub(crate) fn add(&self, lane: Lane) {
        match lane {
            // An instance-wide write may have affected any org.
            Lane::Instance => self.by_instance.fetch_add(1, Ordering::AcqRel),
            Lane::Org(org) => self.count(&org).fetch_add(1, Ordering::AcqRel),
            Lane::Probe => 0,
        };
    }

    fn count(&self, org: &OrgId) -> &AtomicU64 {
        let place = self.hasher.hash_one(org) % COUNTS as u64;
        usize::try_from(place).ok().and_then(|place| self.by_org.get(place)).unwrap_or(&self.by_instance)
    }
}

#[cfg(test)]
mod tests {
    use base::Timestamp;

    use super::*;
    use crate::params;

    /// The answer if a read would give `number`.
    fn asked(kept: &Kept, org: OrgId, rows: u32, number: u32) -> u32 {
        let question = Question::new(&org, "SELECT 1", &params![rows]);
        kept.answer(question, || Ok(vec![number])).unwrap()[0]
    }

    #[test]
    fn a_result_is_kept_until_a_write_to_its_org_or_the_instance() {
        let (written, org) = (Written::new(), OrgId::new(Timestamp::from_ms(0)));
        let kept = Kept::new(written.clone());
        assert_eq!([asked(&kept, org, 20, 1), asked(&kept, org, 20, 2)], [1, 1]);
        for (number, lane) in [(3, Lane::Org(org)), (4, Lane::Instance)] {
            written.add(lane);
            assert_eq!([asked(&kept, org, 20, number), asked(&kept, org, 20, 9)], [number, number]);
        }
        let other = std::iter::repeat_with(|| OrgId::new(Timestamp::from_ms(1)))
            .find(|other| !std::ptr::eq(written.count(other), written.count(&org)));
        written.add(Lane::Org(other.unwrap()));
        written.add(Lane::Probe);
        assert_eq!(asked(&kept, org, 20, 5), 4);
    }

    #[test]
    fn results_are_kept_per_org_and_length() {
        let [one, other] = [0, 1].map(|_| OrgId::new(Timestamp::from_ms(0)));
        let kept = Kept::new(Written::new());
        assert_eq!([asked(&kept, one, 20, 1), asked(&kept, other, 20, 2), asked(&kept, one, 10, 3)], [1, 2, 3]);
        assert_eq!([asked(&kept, one, 20, 4), asked(&kept, other, 20, 4), asked(&kept, one, 10, 4)], [1, 2, 3]);
    }

    #[test]
    fn a_write_during_a_read_makes_its_result_stale() {
        let (written, org) = (Written::new(), OrgId::new(Timestamp::from_ms(0)));
        let kept = Kept::new(written.clone());
        let question = Question::new(&org, "SELECT 1", &params![20_u32]);
        let read = kept.answer(question, || {
            written.add(Lane::Org(org));
            Ok(vec![1])
        });
        assert_eq!(read.unwrap()[0], 1);
        assert_eq!(asked(&kept, org, 20, 2), 2);
    }

    #[test]
    fn a_failed_read_is_not_kept() {
        let (kept, org) = (Kept::new(Written::new()), OrgId::new(Timestamp::from_ms(0)));
        let question = Question::new(&org, "SELECT 1", &params![20_u32]);
        kept.answer::<u32>(question, || Err(base::Error::internal("no"))).unwrap_err();
        assert_eq!(asked(&kept, org, 20, 1), 1);
    }
}

//! Answers kept in memory: pages that whole fleets ask for and that few ever change.
//!
//! Only where every write passes through this process, which is to say on SQLite. An answer stands until something of its org is
//! written, whatever that is: coarse, but nothing has to be remembered by whoever writes. Notes are no effects and leave it.

use std::any::Any;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use base::{OrgId, Result, limits};
use quick_cache::sync::Cache;

use crate::param::Param;
use crate::store::Lane;

/// What was asked of which org.
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

/// The answers, and how much was written since.
pub(crate) struct Kept {
    answers: Cache<Question, Answer>,
    written: Arc<Written>,
}

impl Kept {
    pub(crate) fn new(written: Arc<Written>) -> Self {
        Self { answers: Cache::new(limits::KEPT_ANSWERS_MAX), written }
    }

    /// The answer as it was kept, or what `read` answers now.
    pub(crate) fn answer<T: Send + Sync + 'static>(
        &self,
        question: Question,
        read: impl FnOnce() -> Result<Vec<T>>,
    ) -> Result<Arc<Vec<T>>> {
        // Counted before the rows are read: what is written meanwhile makes this answer old, seen or not.
        let as_of = self.written.to(&question.org);
        let kept = self.answers.get(&question).filter(|answer| answer.as_of == as_of);
        if let Some(Ok(rows)) = kept.map(|answer| answer.rows.downcast()) {
            return Ok(rows);
        }
        let rows = Arc::new(read()?);
        self.answers.insert(question, Answer { as_of, rows: rows.clone() });
        Ok(rows)
    }

    /// Makes every answer old.
    pub(crate) fn forget(&self) {
        self.written.add(Lane::Instance);
    }
}

/// How often each org was written to. Some share a count, which only makes answers old that need not be.
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

    /// A number that differs after every write that may have touched rows of `org`.
    fn to(&self, org: &OrgId) -> u64 {
        self.count(org).load(Ordering::Acquire).wrapping_add(self.by_instance.load(Ordering::Acquire))
    }

    /// Something was written. Called before that is acknowledged.
    pub(crate) fn add(&self, lane: Lane) {
        match lane {
            // What belongs to no org may have touched any.
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

    /// What is answered when `number` is what a read would give.
    fn asked(kept: &Kept, org: OrgId, rows: u32, number: u32) -> u32 {
        let question = Question::new(&org, "SELECT 1", &params![rows]);
        kept.answer(question, || Ok(vec![number])).unwrap()[0]
    }

    #[test]
    fn an_answer_stands_until_its_org_or_the_instance_is_written_to() {
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
    fn every_org_and_every_length_has_an_answer_of_its_own() {
        let [one, other] = [0, 1].map(|_| OrgId::new(Timestamp::from_ms(0)));
        let kept = Kept::new(Written::new());
        assert_eq!([asked(&kept, one, 20, 1), asked(&kept, other, 20, 2), asked(&kept, one, 10, 3)], [1, 2, 3]);
        assert_eq!([asked(&kept, one, 20, 4), asked(&kept, other, 20, 4), asked(&kept, one, 10, 4)], [1, 2, 3]);
    }

    #[test]
    fn what_is_written_while_rows_are_read_makes_their_answer_old() {
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

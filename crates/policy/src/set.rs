//! The statements of one mode, and which of them apply to a call.
//!
//! Statements are grouped by the entity that the principal in their head must be or be in. So ten thousand rules for ten
//! thousand agents cost a call as much as one rule. The statements for a group and a target are cached.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use cedar_policy::{Entities, EntityUid};
use quick_cache::Weighter;
use quick_cache::sync::Cache;

use crate::compiled::Varies;
use crate::model::{Model, Target};
use crate::reads::Reads;
use crate::statement::Statement;
use crate::who::{self, PrincipalEntity};

/// The maximum weight of the cached slices: 1 each, plus 1 for every [`SLICE_WEIGHT_STATEMENTS`]. That is at most 40 MB, and
/// even one shard of the cache can hold the largest slice.
const SLICE_CACHE_WEIGHT_MAX: usize = 20_000;
/// The number of statements that add 1 to the weight of a slice.
const SLICE_WEIGHT_STATEMENTS: usize = 256;
/// The number of principals whose entities are cached. Building them takes longer than most decisions, and each takes a few
/// kilobytes.
const ENTITIES_CACHE_MAX: usize = 1_000;

/// Statements that decide together.
pub(crate) struct Set {
    statements: Vec<Statement>,
    /// Statements for no particular entity.
    general: Vec<usize>,
    /// Statements by the entity that a principal must be or be in.
    anchored: HashMap<EntityUid, Drawer>,
    /// Every tool, skill, peer and action in a condition.
    named: Vec<EntityUid>,
    slices: Cache<SliceKey, Arc<Slice>, SliceWeight>,
    entities: Cache<EntitiesKey, Arc<Entities>>,
}

/// The statements for one entity. The number stands for its name.
struct Drawer {
    number: usize,
    statements: Vec<usize>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct SliceKey {
    /// The drawer's number; 0 is the general one.
    drawer: usize,
    target: usize,
    listing: bool,
}

/// The statements of a drawer that match a target.
#[derive(Default)]
pub(crate) struct Slice {
    /// In ascending order.
    numbers: Vec<usize>,
    /// What all their conditions read.
    reads: Reads,
}

#[derive(Clone)]
struct SliceWeight;

impl Weighter<SliceKey, Arc<Slice>> for SliceWeight {
    fn weight(&self, _key: &SliceKey, slice: &Arc<Slice>) -> u64 {
        1 + (slice.numbers.len() / SLICE_WEIGHT_STATEMENTS) as u64
    }
}

/// The principal, and the target if more than the principal is read.
#[derive(Clone, PartialEq, Eq, Hash)]
struct EntitiesKey {
    who: PrincipalEntity,
    target: Option<usize>,
}

impl Set {
    pub(crate) fn new(model: &Model, statements: Vec<Statement>) -> Self {
        let mut general = Vec::new();
        let mut anchored: HashMap<EntityUid, Drawer> = HashMap::new();
        let mut named = BTreeSet::new();
        for (number, statement) in statements.iter().enumerate() {
            match statement.scope.anchor() {
                None => general.push(number),
                Some(anchor) => {
                    let next = anchored.len() + 1;
                    let drawer = anchored.entry(anchor.clone()).or_insert(Drawer { number: next, statements: Vec::new() });
                    drawer.statements.push(number);
                }
            }
            named.extend(statement.call.reads.named.iter());
        }
        let named = named.into_iter().filter_map(|(kind, id)| model.named(kind, id)).collect();
        Self {
            general,
            anchored,
            named,
            slices: Cache::with_weighter(SLICE_CACHE_WEIGHT_MAX, SLICE_CACHE_WEIGHT_MAX as u64, SliceWeight),
            entities: Cache::new(ENTITIES_CACHE_MAX),
            statements,
        }
    }

    /// What a listing by these statements depends on.
    pub(crate) fn listing_varies(&self) -> Varies {
        self.statements.iter().fold(Varies::default(), |varies, statement| {
            let reads = &statement.condition(true).reads;
            Varies {
                by_principal: varies.by_principal || reads.principal || reads.door || !statement.scope.is_about_everyone(),
                by_time: varies.by_time || reads.now,
            }
        })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.statements.is_empty()
    }

    /// The statements that may match this principal and target, by drawer.
    pub(crate) fn slices(
        &self,
        model: &Model,
        who: &PrincipalEntity,
        target: (usize, &Target),
        listing: bool,
    ) -> Vec<Arc<Slice>> {
        let mut slices = Vec::with_capacity(2);
        let mut add = |drawer: usize, statements: &[usize]| {
            let key = SliceKey { drawer, target: target.0, listing };
            let slice = self.slices.get(&key).unwrap_or_else(|| {
                let slice = Arc::new(self.slice(model, statements, target.1, listing));
                self.slices.insert(key, Arc::clone(&slice));
                slice
            });
            if !slice.numbers.is_empty() {
                slices.push(slice);
            }
        };
        add(0, &self.general);
        if !self.anchored.is_empty() {
            for uid in std::iter::once(who.uid()).chain(who.ancestors()) {
                if let Some(drawer) = self.anchored.get(uid) {
                    add(drawer.number, &drawer.statements);
                }
            }
        }
        slices
    }

    fn slice(&self, model: &Model, numbers: &[usize], target: &Target, listing: bool) -> Slice {
        let mut slice = Slice::default();
        for number in numbers {
            if let Some(statement) = self.statements.get(*number).filter(|statement| statement.scope.may_cover(target, model)) {
                slice.numbers.push(*number);
                slice.reads.merge(&statement.condition(listing).reads);
            }
        }
        slice
    }

    /// The statements of slices, in document order.
    pub(crate) fn statements(&self, slices: &[Arc<Slice>]) -> Vec<&Statement> {
        let mut numbers: Vec<usize> = slices.iter().flat_map(|slice| slice.numbers.iter().copied()).collect();
        numbers.sort_unstable();
        numbers.iter().filter_map(|number| self.statements.get(*number)).collect()
    }

    /// The entities that these conditions need.
    pub(crate) fn entities(
        &self,
        model: &Model,
        who: &PrincipalEntity,
        target: (usize, &Target),
        reads: &Reads,
    ) -> Result<Arc<Entities>, String> {
        let beyond_principal = reads.resource || reads.action || !reads.named.is_empty();
        if !beyond_principal && !reads.principal {
            return Ok(Arc::new(Entities::empty()));
        }
        let key = EntitiesKey { who: who.clone(), target: beyond_principal.then_some(target.0) };
        if let Some(entities) = self.entities.get(&key) {
            return Ok(entities);
        }
        let entities = Arc::new(who::entities(model, who, beyond_principal.then_some(target.1), &self.named)?);
        self.entities.insert(key, Arc::clone(&entities));
        Ok(entities)
    }
}

/// What the conditions in all these slices read.
pub(crate) fn reads(slices: &[Arc<Slice>]) -> Cow<'_, Reads> {
    match slices {
        [] => Cow::Owned(Reads::default()),
        [slice] => Cow::Borrowed(&slice.reads),
        [first, others @ ..] => {
            let mut reads = first.reads.clone();
            others.iter().for_each(|slice| reads.merge(&slice.reads));
            Cow::Owned(reads)
        }
    }
}

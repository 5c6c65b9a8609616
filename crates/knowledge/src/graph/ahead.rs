//! What the facts of one call need to know about the rows, read ahead in a few statements. Reading it name by name would take
//! several statements per fact.

use std::collections::{HashMap, HashSet};

use base::{ProjectId, Result};
use store::{AsParam, OrgTx, Param, params};

use super::model::{CheckedTriplet, Entity};
use super::resolve::chosen;
use super::{name, sql};

/// A number that no row has, and a form that no name has.
const NOTHING: (i64, &str) = (-1, "");

/// The entities that may be meant, and whether any entity is merged.
pub(super) struct Ahead {
    /// For each form of the names, its entities, and whether it is an alias of theirs.
    forms: HashMap<String, Vec<(i64, bool)>>,
    entities: HashMap<i64, Entity>,
    /// Whether any entity of the project is merged into another.
    pub(super) any_merged: bool,
}

impl Ahead {
    /// Reads what is known about the sources and targets.
    pub(super) fn read(tx: &mut OrgTx<'_, '_>, project: &ProjectId, new: &[CheckedTriplet]) -> Result<Self> {
        let names: HashSet<&str> = new.iter().flat_map(|new| [new.source.name.as_str(), new.target.name.as_str()]).collect();
        let mut wanted: Vec<String> = names.into_iter().flat_map(name::forms).collect();
        wanted.sort_unstable();
        wanted.dedup();
        let mut forms: HashMap<String, Vec<(i64, bool)>> = HashMap::with_capacity(wanted.len());
        for some in wanted.chunks(sql::NUMBERS_AT_ONCE) {
            let filled = some.iter().map(String::as_str).chain(std::iter::repeat(NOTHING.1)).take(sql::NUMBERS_AT_ONCE);
            let asked: Vec<Param<'_>> = std::iter::once(project.as_param()).chain(filled.map(Param::Text)).collect();
            let row = |row: &store::Row<'_>| Ok((row.get::<String>("folded")?, (row.get("entity")?, row.get("alias")?)));
            for (form, entity) in tx.query(sql::CALLED_MANY, &asked, row)? {
                forms.entry(form).or_default().push(entity);
            }
        }
        let numbers: HashSet<i64> = forms.values().flatten().map(|(entity, _)| *entity).collect();
        let numbers: Vec<i64> = numbers.into_iter().collect();
        let mut entities = HashMap::with_capacity(numbers.len());
        for some in numbers.chunks(sql::NUMBERS_AT_ONCE) {
            let filled = some.iter().chain(std::iter::repeat(&NOTHING.0)).take(sql::NUMBERS_AT_ONCE);
            let asked: Vec<Param<'_>> = std::iter::once(project.as_param()).chain(filled.map(AsParam::as_param)).collect();
            for entity in tx.query(sql::ENTITIES, &asked, Entity::from_row)? {
                entities.insert(entity.number, entity);
            }
        }
        let any_merged = tx.first(sql::ANY_MERGED, &params![project], |_| Ok(()))?.is_some();
        Ok(Self { forms, entities, any_merged })
    }

    /// The entities of a name that was read ahead. `None` if one is merged, so that the rows must be asked.
    pub(super) fn called(&self, called: &str) -> Option<Vec<Entity>> {
        let mut found: Vec<(i64, bool)> =
            name::forms(called).iter().filter_map(|form| self.forms.get(form)).flatten().copied().collect();
        found.sort_unstable_by_key(|(entity, alias)| (*alias, *entity));
        let mut entities: Vec<Entity> = Vec::with_capacity(1);
        for number in chosen(found) {
            let entity = self.entities.get(&number).filter(|entity| entity.merged_into.is_none())?;
            if entities.iter().all(|other| other.number != number) {
                entities.push(entity.clone());
            }
        }
        Some(entities)
    }

    /// Adds a new entity under its name, or replaces one that changed.
    pub(super) fn put(&mut self, entity: &Entity) {
        if self.entities.insert(entity.number, entity.clone()).is_none() {
            for form in name::forms(&entity.name) {
                self.forms.entry(form).or_default().push((entity.number, false));
            }
        }
    }
}

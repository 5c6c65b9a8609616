//! Finds the entity of a name inside a transaction: by exact and folded names first, then by aliases. An unknown name creates
//! an entity.
//!
//! A merge keeps every row: the merged entity points to the other one, and readers follow the pointer. Undoing the merge
//! removes the pointer.

use std::collections::{HashMap, HashSet};

use base::limits::ENTITY_MEMBERS_MAX;
use base::{EntityId, Error, ProjectId, Result, Timestamp};
use store::{OrgTx, params};

use super::ahead::Ahead;
use super::model::{CheckedEntity, CheckedTriplet, Entity, WEIGHT_FIRST};
use super::{name, sql};
use crate::embedding::TextKind;
use crate::{changes, sql as shared};
use base::Author;

/// The maximum number of merges to follow for one name. More than that means damage.
const MERGES_MAX: usize = ENTITY_MEMBERS_MAX;

/// Finds and creates the entities of one call.
pub(super) struct Resolver<'a> {
    project: ProjectId,
    author: &'a Author,
    now: Timestamp,
    pub(super) numbers: changes::Counter,
    /// What was read ahead, until an alias changes names or merges.
    ahead: Option<Ahead>,
    /// The entities that were created.
    created: HashSet<i64>,
    known: HashMap<(String, String), Entity>,
}

impl<'a> Resolver<'a> {
    pub(super) fn new(
        tx: &mut OrgTx<'_, '_>,
        project: ProjectId,
        author: &'a Author,
        now: Timestamp,
        new: &[CheckedTriplet],
    ) -> Result<Self> {
        let (ahead, numbers) = (Some(Ahead::read(tx, &project, new)?), changes::Counter::start(tx, project)?);
        Ok(Self { project, author, now, numbers, ahead, created: HashSet::new(), known: HashMap::new() })
    }

    /// The number of entities that were created.
    pub(super) fn created(&self) -> u32 {
        u32::try_from(self.created.len()).unwrap_or(u32::MAX)
    }

    /// Finds the entity or creates it.
    pub(super) fn resolve(&mut self, tx: &mut OrgTx<'_, '_>, meant: &CheckedEntity) -> Result<Entity> {
        let key = (meant.name.clone(), meant.kind.clone());
        if meant.aliases.is_empty()
            && let Some(known) = self.known.get(&key)
        {
            return Ok(known.clone());
        }
        let called = match self.ahead.as_ref().and_then(|ahead| ahead.called(&meant.name)) {
            Some(called) => called,
            None => called(tx, &self.project, &meant.name)?,
        };
        let entity = match choose(&called, &meant.kind) {
            Some(entity) => self.completed(tx, entity, meant)?,
            None => self.made(tx, meant)?,
        };
        // An alias may have merged entities that this call found under another name.
        if !meant.aliases.is_empty() {
            self.known.clear();
        }
        self.known.insert(key, entity.clone());
        Ok(entity)
    }

    /// Whether no fact of an earlier call can be about the entity.
    pub(super) fn is_new(&self, entity: &Entity) -> bool {
        // A new entity has the facts of those that an alias merged into it.
        self.ahead.is_some() && self.created.contains(&entity.number)
    }

    /// An entity and all entities merged into it.
    pub(super) fn members(&self, tx: &mut OrgTx<'_, '_>, entity: i64) -> Result<Vec<i64>> {
        match &self.ahead {
            Some(ahead) if !ahead.any_merged => Ok(vec![entity]),
            _ => members(tx, &self.project, entity),
        }
    }

    /// The entity as it is now, if an alias may have merged it since it was found.
    pub(super) fn current(&self, tx: &mut OrgTx<'_, '_>, entity: Entity) -> Result<Entity> {
        if self.ahead.is_some() { Ok(entity) } else { representative(tx, &self.project, entity.number) }
    }

    fn made(&mut self, tx: &mut OrgTx<'_, '_>, meant: &CheckedEntity) -> Result<Entity> {
        let number = self.numbers.next();
        let id = EntityId::new(self.now);
        let text = text_of(&meant.name, &meant.kind, &[]);
        let (agent, session) = (&self.author.agent, &self.author.session);
        tx.execute(
            sql::INSERT_ENTITY,
            &params![self.project, number, id, meant.name, meant.kind, text, WEIGHT_FIRST, agent, session, self.now],
        )?;
        call_it(tx, &self.project, number, &meant.name, false)?;
        tx.execute(shared::ENQUEUE, &params![self.project, number, TextKind::Graph, number])?;
        self.created.insert(number);
        let entity = Entity {
            id,
            number,
            name: meant.name.clone(),
            kind: meant.kind.clone(),
            weight: WEIGHT_FIRST,
            merged_into: None,
            created_at: self.now,
            kept_apart: false,
        };
        if let Some(ahead) = &mut self.ahead {
            ahead.put(&entity);
        }
        self.completed(tx, entity, meant)
    }

    /// Adds new information about an entity: its type if it has none, and aliases.
    fn completed(&mut self, tx: &mut OrgTx<'_, '_>, mut entity: Entity, meant: &CheckedEntity) -> Result<Entity> {
        let mut changed = entity.kind.is_empty() && !meant.kind.is_empty();
        if changed {
            entity.kind.clone_from(&meant.kind);
        }
        if !meant.aliases.is_empty() {
            self.ahead = None;
        }
        for alias in &meant.aliases {
            for other in called_by_name(tx, &self.project, alias)? {
                let alike = other.kind.is_empty() || entity.kind.is_empty() || other.kind == entity.kind;
                if other.number != entity.number && alike && !other.kept_apart {
                    let by = (self.author.agent.as_str(), self.author.session.as_str());
                    merge(tx, &self.project, &other, &entity, by, self.now, self.numbers.next())?;
                }
            }
            changed |= call_it(tx, &self.project, entity.number, alias, true)?;
        }
        if changed {
            let row = |row: &store::Row<'_>| row.get::<String>("name");
            let names = tx.query(sql::NAMES_OF, &params![self.project, entity.number], row)?;
            let change = self.numbers.next();
            let text = text_of(&entity.name, &entity.kind, &names);
            tx.execute(sql::REWORD_ENTITY, &params![self.project, entity.number, entity.kind, text, change])?;
            tx.execute(shared::ENQUEUE, &params![self.project, entity.number, TextKind::Graph, change])?;
            if let Some(ahead) = &mut self.ahead {
                ahead.put(&entity);
            }
        }
        Ok(entity)
    }
}

/// The text by which search finds an entity.
fn text_of(name: &str, kind: &str, names: &[String]) -> String {
    let aliases = names.iter().map(String::as_str).filter(|alias| *alias != name);
    [name, kind].into_iter().chain(aliases).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(", ")
}

/// Of the entities with this name, the one with the given type. Without a type, the name must be unique.
fn choose(called: &[Entity], kind: &str) -> Option<Entity> {
    let untyped = || called.iter().find(|entity| entity.kind.is_empty());
    let found = match (kind.is_empty(), called) {
        (true, [only]) => Some(only),
        (true, _) => untyped(),
        (false, _) => called.iter().find(|entity| entity.kind == kind).or_else(untyped),
    };
    found.cloned()
}

/// Stores a name in all its forms, and returns whether any was new.
fn call_it(tx: &mut OrgTx<'_, '_>, project: &ProjectId, entity: i64, called: &str, alias: bool) -> Result<bool> {
    let mut is_new = false;
    for form in name::forms(called) {
        is_new |= tx.execute(sql::INSERT_NAME, &params![project, form, entity, called, alias])? > 0;
    }
    Ok(is_new)
}

/// Merges an entity into another. Neither may be merged already. `by` is an agent and its session, and `change` a new number.
pub(super) fn merge(
    tx: &mut OrgTx<'_, '_>,
    project: &ProjectId,
    entity: &Entity,
    into: &Entity,
    by: (&str, &str),
    now: Timestamp,
    change: i64,
) -> Result<()> {
    let count = members(tx, project, entity.number)?.len() + members(tx, project, into.number)?.len();
    if count > ENTITY_MEMBERS_MAX {
        return Err(crate::Error::TooManyMembers { name: into.name.clone(), count }.through_store());
    }
    tx.execute(sql::MERGE, &params![project, entity.number, into.number, by.0, by.1, now, false, change])?;
    tx.execute(sql::RECORD_MERGE, &params![project, change, entity.number, into.number, by.0, by.1, now]).map(drop)
}

/// Undoes a merge. With `kept_apart`, no alias merges it again.
pub(super) fn unmerge(
    tx: &mut OrgTx<'_, '_>,
    project: &ProjectId,
    entity: i64,
    kept_apart: bool,
    by: &str,
    now: Timestamp,
) -> Result<()> {
    let (nobody, never, nothing) = (None::<String>, None::<Timestamp>, None::<i64>);
    let change = changes::next(tx, project)?;
    tx.execute(sql::RECORD_SPLIT, &params![project, entity, change, by, now])?;
    tx.execute(sql::MERGE, &params![project, entity, nothing, nobody, nobody, never, kept_apart, change]).map(drop)
}

/// The entities of a name: the ones with this name, else the ones with this alias. For a merged entity, the one it was merged
/// into.
pub(super) fn called(tx: &mut OrgTx<'_, '_>, project: &ProjectId, name: &str) -> Result<Vec<Entity>> {
    let found = names(tx, project, name)?;
    representatives(tx, project, chosen(found))
}

/// The entities with this name if there are any, else the ones with this alias.
pub(super) fn chosen(found: Vec<(i64, bool)>) -> impl Iterator<Item = i64> {
    let by_name = found.iter().any(|(_, alias)| !alias);
    found.into_iter().filter(move |(_, alias)| *alias != by_name).map(|(entity, _)| entity)
}

fn called_by_name(tx: &mut OrgTx<'_, '_>, project: &ProjectId, name: &str) -> Result<Vec<Entity>> {
    let found = names(tx, project, name)?;
    representatives(tx, project, found.into_iter().filter(|(_, alias)| !alias).map(|(entity, _)| entity))
}

fn names(tx: &mut OrgTx<'_, '_>, project: &ProjectId, name: &str) -> Result<Vec<(i64, bool)>> {
    let forms = name::forms(name);
    let (first, last) = (forms.first().cloned().unwrap_or_default(), forms.last().cloned().unwrap_or_default());
    tx.query(sql::CALLED, &params![project, first, last], |row| Ok((row.get("entity")?, row.get("alias")?)))
}

fn representatives(tx: &mut OrgTx<'_, '_>, project: &ProjectId, numbers: impl Iterator<Item = i64>) -> Result<Vec<Entity>> {
    let mut found: Vec<Entity> = Vec::new();
    for number in numbers {
        let entity = representative(tx, project, number)?;
        if found.iter().all(|other| other.number != entity.number) {
            found.push(entity);
        }
    }
    Ok(found)
}

/// The entity that an entity was merged into, or itself.
pub(super) fn representative(tx: &mut OrgTx<'_, '_>, project: &ProjectId, number: i64) -> Result<Entity> {
    let mut number = number;
    for _ in 0..=MERGES_MAX {
        let entity = tx.first(sql::ENTITY, &params![project, number], Entity::from_row)?;
        let entity = entity.ok_or_else(|| Error::internal(format_args!("no entity {number}")))?;
        match entity.merged_into {
            Some(into) => number = into,
            None => return Ok(entity),
        }
    }
    Err(Error::internal(format_args!("the merges of entity {number} form a cycle")))
}

/// An entity and all entities merged into it. Facts can refer to any of them.
pub(super) fn members(tx: &mut OrgTx<'_, '_>, project: &ProjectId, entity: i64) -> Result<Vec<i64>> {
    let mut members = vec![entity];
    let mut place = 0;
    while let Some(member) = members.get(place).copied() {
        let merged = tx.query(sql::MERGED_INTO, &params![project, member], |row| row.get::<i64>("number"))?;
        members.extend(merged);
        place += 1;
    }
    Ok(members)
}

//! Entities and triplets: as agents state them, and as rows keep them.

use base::limits::{
    ENTITY_ALIASES_MAX, ENTITY_NAME_CHARS_MAX, RELATIONSHIP_CHARS_MAX, TRIPLET_DESCRIPTION_CHARS_MAX, TRIPLETS_PER_CALL_MAX,
};
use base::{EntityId, Error, ObservationId, Result, Timestamp, TripletId};
use store::Row;

use super::name;

/// The weight of whatever nobody has judged yet.
pub(crate) const WEIGHT_FIRST: f64 = 0.5;

/// An entity as an agent names it.
#[derive(Clone, Debug, Default)]
pub struct NewEntity {
    /// Its name, in any spelling.
    pub name: String,
    /// What kind of thing it is.
    pub kind: Option<String>,
    /// What else it is called.
    pub aliases: Vec<String>,
}

/// A fact as an agent states it.
#[derive(Clone, Debug, Default)]
pub struct NewTriplet {
    /// What the fact is about.
    pub source: NewEntity,
    /// How the two are related.
    pub relationship: String,
    /// What it is related to.
    pub target: NewEntity,
    /// The fact in a sentence.
    pub description: Option<String>,
    /// The source has one such target at a time.
    pub functional: bool,
    /// When it became true.
    pub valid_from: Option<Timestamp>,
    /// When it ceased to be true.
    pub valid_to: Option<Timestamp>,
}

/// An entity.
#[derive(Clone, Debug, PartialEq)]
pub struct Entity {
    /// Its name among rows.
    pub id: EntityId,
    /// Its place among what the project knows.
    pub number: i64,
    /// As it was first written.
    pub name: String,
    /// What kind of thing it is; empty when nobody said.
    pub kind: String,
    /// How well facts about it have served, from 0 to 1.
    pub weight: f64,
    /// The entity that it turned out to be.
    pub merged_into: Option<i64>,
    /// When it was first named.
    pub created_at: Timestamp,
    /// Whether people have split it from another: no alias merges it again.
    pub kept_apart: bool,
}

/// Where a fact comes from. The server knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Provenance {
    /// The observation it was read from.
    pub observation: Option<ObservationId>,
    /// Who stated it first.
    pub agent: String,
    /// In which session.
    pub session: String,
    /// When.
    pub at: Timestamp,
}

/// A fact, with the names that its entities have today.
#[derive(Clone, Debug, PartialEq)]
pub struct Triplet {
    /// Its name.
    pub id: TripletId,
    /// Its place among what the project knows.
    pub number: i64,
    /// What it is about.
    pub source: Entity,
    /// How the two are related, in snake_case.
    pub relationship: String,
    /// What it is related to.
    pub target: Entity,
    /// The fact in a sentence; empty when nobody gave one.
    pub description: String,
    /// Whether the source has one such target at a time.
    pub functional: bool,
    /// How well it has served, from 0 to 1.
    pub weight: f64,
    /// Who stated it.
    pub provenance: Provenance,
    /// When something newer took its place, or it was retracted.
    pub superseded_at: Option<Timestamp>,
    /// When it became true.
    pub valid_from: Option<Timestamp>,
    /// When it ceased to be true.
    pub valid_to: Option<Timestamp>,
    /// Facts with the same source and relationship and another target that stand beside it.
    pub conflicts_with: Vec<TripletId>,
}

impl Triplet {
    /// The fact in words.
    pub fn sentence(&self) -> String {
        sentence(&self.source.name, &self.relationship, &self.target.name, &self.description)
    }
}

/// A fact as it is found and embedded.
pub(crate) fn sentence(source: &str, relationship: &str, target: &str, description: &str) -> String {
    let fact = format!("{source} {} {target}", name::spoken(relationship));
    if description.is_empty() { fact } else { format!("{fact}. {description}") }
}

/// A row of `triplets`, whose entities are numbers.
#[derive(Clone, Debug)]
pub(crate) struct TripletRow {
    pub(crate) number: i64,
    pub(crate) id: TripletId,
    pub(crate) source: i64,
    pub(crate) relationship: String,
    pub(crate) target: i64,
    pub(crate) description: String,
    pub(crate) functional: bool,
    pub(crate) weight: f64,
    pub(crate) provenance: Provenance,
    pub(crate) superseded_at: Option<Timestamp>,
    pub(crate) valid_from: Option<Timestamp>,
    pub(crate) valid_to: Option<Timestamp>,
}

impl TripletRow {
    /// The columns of [`super::sql::TRIPLET_COLUMNS`], in their order.
    pub(crate) fn from_row(row: &Row<'_>) -> Result<Self> {
        let observation = row.get::<Option<String>>(10)?;
        Ok(Self {
            number: row.get(0)?,
            id: TripletId::from_row(row.text(1)?),
            source: row.get(2)?,
            relationship: row.get(3)?,
            target: row.get(4)?,
            description: row.get(5)?,
            functional: row.get(6)?,
            weight: row.get(7)?,
            provenance: Provenance {
                observation: observation.map(|id| ObservationId::from_row(&id)),
                agent: row.get(8)?,
                session: row.get(9)?,
                at: row.get(11)?,
            },
            superseded_at: row.get(12)?,
            valid_from: row.get(13)?,
            valid_to: row.get(14)?,
        })
    }
}

impl Entity {
    /// The columns of [`super::sql::ENTITY_COLUMNS`], in their order.
    pub(crate) fn from_row(row: &Row<'_>) -> Result<Self> {
        Ok(Self {
            number: row.get(0)?,
            id: EntityId::from_row(row.text(1)?),
            name: row.get(2)?,
            kind: row.get(3)?,
            weight: row.get(4)?,
            merged_into: row.get(5)?,
            created_at: row.get(6)?,
            kept_apart: row.get(7)?,
        })
    }
}

/// An entity's name, checked.
#[derive(Clone, Debug)]
pub(crate) struct CheckedEntity {
    pub(crate) name: String,
    pub(crate) kind: String,
    pub(crate) aliases: Vec<String>,
}

/// A fact, checked.
#[derive(Clone, Debug)]
pub(crate) struct CheckedTriplet {
    pub(crate) source: CheckedEntity,
    pub(crate) relationship: String,
    pub(crate) target: CheckedEntity,
    pub(crate) description: String,
    pub(crate) functional: bool,
    pub(crate) valid_from: Option<Timestamp>,
    pub(crate) valid_to: Option<Timestamp>,
}

impl NewTriplet {
    /// Checks all facts of a call; a complaint names the member it is about.
    pub(crate) fn checked(new: Vec<Self>) -> Result<Vec<CheckedTriplet>> {
        if new.is_empty() || new.len() > TRIPLETS_PER_CALL_MAX {
            return Err(Error::invalid("triplets", format!("a call states 1 to {TRIPLETS_PER_CALL_MAX} triplets")));
        }
        new.into_iter().enumerate().map(|(place, triplet)| triplet.check(&format!("triplets[{place}]"))).collect()
    }

    fn check(self, place: &str) -> Result<CheckedTriplet> {
        let relationship = name::relationship(&self.relationship);
        let parameter = format!("{place}.relationship");
        if relationship.is_empty() {
            return Err(Error::invalid(&parameter, format!("`{parameter}` has no letters: say how the two are related")));
        }
        within(&relationship, RELATIONSHIP_CHARS_MAX, &parameter)?;
        let description = self.description.unwrap_or_default().trim().to_owned();
        within(&description, TRIPLET_DESCRIPTION_CHARS_MAX, &format!("{place}.description"))?;
        if let (Some(from), Some(to)) = (self.valid_from, self.valid_to)
            && from > to
        {
            let parameter = format!("{place}.validFrom");
            return Err(Error::invalid(
                &parameter,
                format!("`{parameter}` is after `validTo`: no time is left for it to be true"),
            ));
        }
        Ok(CheckedTriplet {
            source: self.source.check(&format!("{place}.source"))?,
            relationship,
            target: self.target.check(&format!("{place}.target"))?,
            description,
            functional: self.functional,
            valid_from: self.valid_from,
            valid_to: self.valid_to,
        })
    }
}

impl NewEntity {
    fn check(self, place: &str) -> Result<CheckedEntity> {
        let entity_name = checked_name(&self.name, &format!("{place}.name"))?;
        let kind = name::relationship(&self.kind.unwrap_or_default());
        within(&kind, ENTITY_NAME_CHARS_MAX, &format!("{place}.type"))?;
        let parameter = format!("{place}.aliases");
        if self.aliases.len() > ENTITY_ALIASES_MAX {
            return Err(Error::invalid(&parameter, format!("`{parameter}` has more than {ENTITY_ALIASES_MAX} names")));
        }
        let aliases: Result<Vec<String>> = self.aliases.iter().map(|alias| checked_name(alias, &parameter)).collect();
        Ok(CheckedEntity { name: entity_name, kind, aliases: aliases? })
    }
}

fn checked_name(text: &str, parameter: &str) -> Result<String> {
    let cleaned = name::cleaned(text);
    if cleaned.is_empty() || cleaned.chars().any(char::is_control) {
        return Err(Error::invalid(parameter, format!("`{parameter}` is empty, or holds control characters")));
    }
    within(&cleaned, ENTITY_NAME_CHARS_MAX, parameter)?;
    Ok(cleaned)
}

fn within(text: &str, most: usize, parameter: &str) -> Result<()> {
    match text.chars().count() {
        count if count > most => {
            Err(Error::invalid(parameter, format!("`{parameter}` has {count} characters, and at most {most} are kept")))
        }
        _ => Ok(()),
    }
}

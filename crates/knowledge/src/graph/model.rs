//! Entities and triplets, as agents state them and as rows store them.

use base::limits::{
    ENTITY_ALIASES_MAX, ENTITY_NAME_CHARS_MAX, RELATIONSHIP_CHARS_MAX, TRIPLET_DESCRIPTION_CHARS_MAX, TRIPLETS_PER_CALL_MAX,
};
use base::{EntityId, ObservationId, Result, Timestamp, TripletId};
use store::Row;

use super::name;
use crate::{EntityPart, Error, Flaw, Part};

/// The weight before any rating.
pub(crate) const WEIGHT_FIRST: f64 = 0.5;

/// An entity in a new triplet.
#[derive(Clone, Debug, Default)]
pub struct NewEntity {
    /// Its name, in any spelling.
    pub name: String,
    /// The kind of entity.
    pub kind: Option<String>,
    /// Other names.
    pub aliases: Vec<String>,
}

/// A new fact.
#[derive(Clone, Debug, Default)]
pub struct NewTriplet {
    /// The subject of the fact.
    pub source: NewEntity,
    /// How the two are related.
    pub relationship: String,
    /// The object of the fact.
    pub target: NewEntity,
    /// The fact as a sentence.
    pub description: Option<String>,
    /// The source has only one such target at a time.
    pub functional: bool,
    /// When it became true.
    pub valid_from: Option<Timestamp>,
    /// When it stopped being true.
    pub valid_to: Option<Timestamp>,
}

/// An entity.
#[derive(Clone, Debug, PartialEq)]
pub struct Entity {
    /// Its id.
    pub id: EntityId,
    /// Its number in the project.
    pub number: i64,
    /// Its name as first written.
    pub name: String,
    /// The kind of entity. Empty if unknown.
    pub kind: String,
    /// How useful facts about it were so far, from 0 to 1.
    pub weight: f64,
    /// The entity that it was merged into.
    pub merged_into: Option<i64>,
    /// When it was created.
    pub created_at: Timestamp,
    /// Whether a person split it from another one, so that no alias merges it again.
    pub kept_apart: bool,
}

/// The origin of a fact, recorded by the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Provenance {
    /// The observation that it was read from.
    pub observation: Option<ObservationId>,
    /// Who stated it first.
    pub agent: String,
    /// The session.
    pub session: String,
    /// When.
    pub at: Timestamp,
}

/// A fact, with the current names of its entities.
#[derive(Clone, Debug, PartialEq)]
pub struct Triplet {
    /// Its id.
    pub id: TripletId,
    /// Its number in the project.
    pub number: i64,
    /// Its source.
    pub source: Entity,
    /// How the two are related, in snake_case.
    pub relationship: String,
    /// Its target.
    pub target: Entity,
    /// The fact as a sentence. Empty if none was given.
    pub description: String,
    /// Whether the source has only one such target at a time.
    pub functional: bool,
    /// How useful it was so far, from 0 to 1.
    pub weight: f64,
    /// Who stated it.
    pub provenance: Provenance,
    /// When it was superseded or retracted.
    pub superseded_at: Option<Timestamp>,
    /// When it became true.
    pub valid_from: Option<Timestamp>,
    /// When it stopped being true.
    pub valid_to: Option<Timestamp>,
    /// Current facts with the same source and relationship but another target.
    pub conflicts_with: Vec<TripletId>,
}

impl Triplet {
    /// The fact as text.
    pub fn sentence(&self) -> String {
        sentence(&self.source.name, &self.relationship, &self.target.name, &self.description)
    }
}

/// The text of a fact for search and embedding.
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
    /// The columns of [`super::sql::TRIPLET_COLUMNS`], in order.
    pub(crate) fn from_row(row: &Row<'_>) -> Result<Self> {
        let observation = row.get::<Option<String>>("observation_id")?;
        Ok(Self {
            number: row.get("number")?,
            id: TripletId::from_row(row.text("id")?),
            source: row.get("source")?,
            relationship: row.get("relationship")?,
            target: row.get("target")?,
            description: row.get("description")?,
            functional: row.get("functional")?,
            weight: row.get("weight")?,
            provenance: Provenance {
                observation: observation.map(|id| ObservationId::from_row(&id)),
                agent: row.get("agent_id")?,
                session: row.get("session_id")?,
                at: row.get("learned_at")?,
            },
            superseded_at: row.get("superseded_at")?,
            valid_from: row.get("valid_from")?,
            valid_to: row.get("valid_to")?,
        })
    }
}

impl Entity {
    /// The columns of [`super::sql::ENTITY_COLUMNS`], in order.
    pub(crate) fn from_row(row: &Row<'_>) -> Result<Self> {
        Ok(Self {
            number: row.get("number")?,
            id: EntityId::from_row(row.text("id")?),
            name: row.get("name")?,
            kind: row.get("type")?,
            weight: row.get("weight")?,
            merged_into: row.get("merged_into")?,
            created_at: row.get("created_at")?,
            kept_apart: row.get("kept_apart")?,
        })
    }
}

/// A validated entity.
#[derive(Clone, Debug)]
pub(crate) struct CheckedEntity {
    pub(crate) name: String,
    pub(crate) kind: String,
    pub(crate) aliases: Vec<String>,
}

/// A validated fact.
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
    /// Validates all facts of a call.
    pub(crate) fn checked(new: Vec<Self>) -> Result<Vec<CheckedTriplet>, Error> {
        if new.is_empty() || new.len() > TRIPLETS_PER_CALL_MAX {
            return Err(Error::TripletCount);
        }
        let at = |(position, triplet): (usize, Self)| {
            triplet.check().map_err(|Flawed(part, flaw)| Error::BadTriplet { position, part, flaw })
        };
        new.into_iter().enumerate().map(at).collect()
    }

    fn check(self) -> Result<CheckedTriplet, Flawed> {
        let relationship = name::relationship(&self.relationship);
        if relationship.is_empty() {
            return Err(Flawed(Part::Relationship, Flaw::NoLetters));
        }
        within(&relationship, RELATIONSHIP_CHARS_MAX, Part::Relationship)?;
        let description = self.description.unwrap_or_default().trim().to_owned();
        within(&description, TRIPLET_DESCRIPTION_CHARS_MAX, Part::Description)?;
        if let (Some(from), Some(to)) = (self.valid_from, self.valid_to)
            && from > to
        {
            return Err(Flawed(Part::ValidFrom, Flaw::AfterEnd));
        }
        Ok(CheckedTriplet {
            source: self.source.check(Part::Source)?,
            relationship,
            target: self.target.check(Part::Target)?,
            description,
            functional: self.functional,
            valid_from: self.valid_from,
            valid_to: self.valid_to,
        })
    }
}

/// A part of a fact, and what is wrong with it.
struct Flawed(Part, Flaw);

impl NewEntity {
    fn check(self, part: impl Fn(EntityPart) -> Part) -> Result<CheckedEntity, Flawed> {
        let entity_name = checked_name(&self.name, part(EntityPart::Name))?;
        let kind = name::relationship(&self.kind.unwrap_or_default());
        within(&kind, ENTITY_NAME_CHARS_MAX, part(EntityPart::Kind))?;
        let part = part(EntityPart::Aliases);
        if self.aliases.len() > ENTITY_ALIASES_MAX {
            return Err(Flawed(part, Flaw::TooManyNames));
        }
        let aliases: Result<Vec<String>, Flawed> = self.aliases.iter().map(|alias| checked_name(alias, part)).collect();
        Ok(CheckedEntity { name: entity_name, kind, aliases: aliases? })
    }
}

fn checked_name(text: &str, part: Part) -> Result<String, Flawed> {
    let cleaned = name::cleaned(text);
    if cleaned.is_empty() || cleaned.chars().any(char::is_control) {
        return Err(Flawed(part, Flaw::NotAName));
    }
    within(&cleaned, ENTITY_NAME_CHARS_MAX, part)?;
    Ok(cleaned)
}

fn within(text: &str, most: usize, part: Part) -> Result<(), Flawed> {
    match text.chars().count() {
        chars if chars > most => Err(Flawed(part, Flaw::TooLong { chars, most })),
        _ => Ok(()),
    }
}

//! Validation of input. Checks that need rows follow inside the transaction.

use std::collections::HashSet;

use base::{BrickId, KitId, limits};

use crate::{BrickType, Error, Result, Text};

/// A brick to draft.
#[derive(Clone, Debug)]
pub struct NewBrick {
    /// Its name.
    pub name: String,
    /// Its description.
    pub description: Option<String>,
    /// The kind of answer that its rule gives.
    pub brick_type: BrickType,
    /// The rule. It may be empty in a draft.
    pub evaluation_prompt: String,
}

/// A new version of a brick.
#[derive(Clone, Debug)]
pub struct NewBrickVersion {
    /// The rule.
    pub evaluation_prompt: String,
    /// A new description of the brick, if it changes.
    pub description: Option<String>,
}

/// A kit to draft.
#[derive(Clone, Debug)]
pub struct NewKit {
    /// Its name.
    pub name: String,
    /// Its description.
    pub description: Option<String>,
    /// Notes on its first version.
    pub notes: Option<String>,
    /// Its bricks, in order.
    pub brick_ids: Vec<String>,
}

/// A new version of a kit.
#[derive(Clone, Debug)]
pub struct NewKitVersion {
    /// Its bricks, in order.
    pub brick_ids: Vec<String>,
    /// Notes on this version.
    pub notes: Option<String>,
}

impl NewBrick {
    pub(crate) fn check(&mut self) -> Result<()> {
        check_name(&self.name)?;
        check_text(Text::Description, self.description.as_deref())?;
        check_rule(&mut self.evaluation_prompt)
    }
}

impl NewBrickVersion {
    pub(crate) fn check(&mut self) -> Result<()> {
        check_text(Text::Description, self.description.as_deref())?;
        check_rule(&mut self.evaluation_prompt)
    }
}

impl NewKit {
    pub(crate) fn check(&self) -> Result<Vec<BrickId>> {
        check_name(&self.name)?;
        check_text(Text::Description, self.description.as_deref())?;
        check_text(Text::Notes, self.notes.as_deref())?;
        brick_ids(&self.brick_ids)
    }
}

impl NewKitVersion {
    pub(crate) fn check(&self) -> Result<Vec<BrickId>> {
        check_text(Text::Notes, self.notes.as_deref())?;
        brick_ids(&self.brick_ids)
    }
}

fn check_name(name: &str) -> Result<()> {
    if name.trim().is_empty() {
        return Err(Error::BlankName);
    }
    check_text(Text::Name, Some(name))
}

/// A rule of only white space is stored as an empty one, so that SQL can find it with one comparison.
fn check_rule(rule: &mut String) -> Result<()> {
    check_text(Text::EvaluationPrompt, Some(rule))?;
    if rule.trim().is_empty() {
        rule.clear();
    }
    Ok(())
}

fn check_text(text: Text, value: Option<&str>) -> Result<()> {
    let Some(value) = value else { return Ok(()) };
    if value.chars().nth(text.chars_max()).is_some() {
        return Err(Error::TooLong { text });
    }
    if value.contains('\0') {
        return Err(Error::HoldsNul { text });
    }
    Ok(())
}

/// Parses the ids of a kit's bricks: at least one, not too many, no duplicates.
fn brick_ids(texts: &[String]) -> Result<Vec<BrickId>> {
    if texts.is_empty() {
        return Err(Error::NoBricks);
    }
    if texts.len() > limits::KIT_BRICKS_MAX {
        return Err(Error::TooManyBricks);
    }
    let mut seen = HashSet::with_capacity(texts.len());
    let ids = texts.iter().enumerate().map(|(position, text)| {
        if !seen.insert(text) {
            return Err(Error::RepeatedBrick { position });
        }
        BrickId::parse(text).ok_or(Error::UnknownListedBrick { position })
    });
    ids.collect()
}

pub(crate) fn brick_id(text: &str) -> Result<BrickId> {
    BrickId::parse(text).ok_or(Error::UnknownBrick)
}

pub(crate) fn kit_id(text: &str) -> Result<KitId> {
    KitId::parse(text).ok_or(Error::UnknownKit)
}

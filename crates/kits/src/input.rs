//! What callers bring, and whether it can be taken. The rows themselves are asked later, inside the transaction.

use std::collections::HashSet;

use base::{BrickId, Error, Kind, KitId, Result, limits};

use crate::BrickType;

/// A brick to draft.
#[derive(Clone, Debug)]
pub struct NewBrick {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: Option<String>,
    /// What its rule answers with.
    pub brick_type: BrickType,
    /// The rule. A draft may still lack one.
    pub evaluation_prompt: String,
}

/// A further version of a brick.
#[derive(Clone, Debug)]
pub struct NewBrickVersion {
    /// The rule.
    pub evaluation_prompt: String,
    /// What the brick is for from now on, if that changes.
    pub description: Option<String>,
}

/// A kit to draft.
#[derive(Clone, Debug)]
pub struct NewKit {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: Option<String>,
    /// Notes on its first version.
    pub notes: Option<String>,
    /// Its bricks, in order.
    pub brick_ids: Vec<String>,
}

/// A further version of a kit.
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
        check_text("description", self.description.as_deref(), limits::DESCRIPTION_CHARS_MAX)?;
        check_rule(&mut self.evaluation_prompt)
    }
}

impl NewBrickVersion {
    pub(crate) fn check(&mut self) -> Result<()> {
        check_text("description", self.description.as_deref(), limits::DESCRIPTION_CHARS_MAX)?;
        check_rule(&mut self.evaluation_prompt)
    }
}

impl NewKit {
    pub(crate) fn check(&self) -> Result<Vec<BrickId>> {
        check_name(&self.name)?;
        check_text("description", self.description.as_deref(), limits::DESCRIPTION_CHARS_MAX)?;
        check_text("notes", self.notes.as_deref(), limits::DESCRIPTION_CHARS_MAX)?;
        brick_ids(&self.brick_ids)
    }
}

impl NewKitVersion {
    pub(crate) fn check(&self) -> Result<Vec<BrickId>> {
        check_text("notes", self.notes.as_deref(), limits::DESCRIPTION_CHARS_MAX)?;
        brick_ids(&self.brick_ids)
    }
}

fn check_name(name: &str) -> Result<()> {
    if name.trim().is_empty() {
        return Err(Error::invalid("name", "the name must not be blank"));
    }
    check_text("name", Some(name), limits::NAME_CHARS_MAX)
}

/// A rule of nothing but white space is kept as no rule, so that one comparison in SQL tells it.
fn check_rule(rule: &mut String) -> Result<()> {
    check_text("evaluation_prompt", Some(rule), limits::EVALUATION_PROMPT_CHARS_MAX)?;
    if rule.trim().is_empty() {
        rule.clear();
    }
    Ok(())
}

fn check_text(parameter: &str, text: Option<&str>, chars_max: usize) -> Result<()> {
    let Some(text) = text else { return Ok(()) };
    if text.chars().nth(chars_max).is_some() {
        return Err(Error::invalid(parameter, format!("`{parameter}` must have at most {chars_max} characters")));
    }
    if text.contains('\0') {
        return Err(Error::invalid(parameter, format!("`{parameter}` must not hold the NUL character (U+0000)")));
    }
    Ok(())
}

/// The ids of a kit's bricks: some, not too many, each once.
fn brick_ids(texts: &[String]) -> Result<Vec<BrickId>> {
    if texts.is_empty() {
        return Err(Error::invalid("brick_ids", "a kit needs at least one brick"));
    }
    if texts.len() > limits::KIT_BRICKS_MAX {
        return Err(Error::invalid("brick_ids", format!("a kit holds at most {} bricks", limits::KIT_BRICKS_MAX)));
    }
    let mut seen = HashSet::with_capacity(texts.len());
    let ids = texts.iter().enumerate().map(|(position, text)| {
        if !seen.insert(text) {
            return Err(Error::invalid(&brick_ids_at(position), "each brick may be named only once"));
        }
        BrickId::parse(text).ok_or_else(|| no_such_brick(&brick_ids_at(position)))
    });
    ids.collect()
}

pub(crate) fn brick_ids_at(position: usize) -> String {
    format!("brick_ids[{position}]")
}

const BRICK_ID: &str = "brick_id";
const KIT_ID: &str = "kit_id";

pub(crate) fn brick_id(text: &str) -> Result<BrickId> {
    BrickId::parse(text).ok_or_else(unknown_brick)
}

pub(crate) fn kit_id(text: &str) -> Result<KitId> {
    KitId::parse(text).ok_or_else(unknown_kit)
}

pub(crate) fn unknown_brick() -> Error {
    no_such_brick(BRICK_ID)
}

pub(crate) fn unknown_kit() -> Error {
    Error::invalid(KIT_ID, "there is no such kit in this workspace")
}

/// Malformed, absent and another org's are the same to the caller: the answer must not tell who exists.
pub(crate) fn no_such_brick(parameter: &str) -> Error {
    Error::invalid(parameter, "there is no such brick in this workspace")
}

/// Whether `error` says that the brick or kit a call is about does not exist: what a REST route answers with 404. A bad id
/// within a list of bricks is not meant.
pub fn is_unknown_id(error: &Error) -> bool {
    let parameter = error.data().get("parameter").and_then(|parameter| parameter.as_str());
    error.kind() == Kind::InvalidParams && parameter.is_some_and(|parameter| [BRICK_ID, KIT_ID].contains(&parameter))
}

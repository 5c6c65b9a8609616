//! `completion/complete`: what an argument might go on to be.

use std::borrow::Cow;

use base::Error;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::era::Params;
use crate::object::{self, Member};

/// Most values in one answer; the protocol allows no more.
const VALUES_MAX: usize = 100;

/// Whose argument is completed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reference<'a> {
    /// A prompt's.
    Prompt(Cow<'a, str>),
    /// A resource template's.
    ResourceTemplate(Cow<'a, str>),
}

/// What is asked.
#[derive(Clone, Debug)]
pub struct CompleteParams<'a> {
    /// Whose argument.
    pub reference: Reference<'a>,
    /// Which argument.
    pub argument: Cow<'a, str>,
    /// What was typed so far.
    pub typed: Cow<'a, str>,
}

impl<'a> CompleteParams<'a> {
    /// Reads the request.
    pub fn read(params: &Params<'a>) -> Result<Self, Error> {
        let [reference, argument] = params.members(&["ref", "argument"])?;
        let wanted = argument.required()?;
        let [argument, typed] = inner(wanted, &["name", "value"]).map_err(|()| argument.must_be("an object"))?;
        Ok(Self {
            reference: Self::reference(reference)?,
            argument: Member::new("argument.name", argument).text()?,
            typed: Member::new("argument.value", typed).text()?,
        })
    }

    fn reference(member: Member<'a>) -> Result<Reference<'a>, Error> {
        let [kind, name, uri] = inner(member.required()?, &["type", "name", "uri"]).map_err(|()| member.must_be("an object"))?;
        match &*Member::new("ref.type", kind).text()? {
            "ref/prompt" => Member::new("ref.name", name).text().map(Reference::Prompt),
            "ref/resource" => Member::new("ref.uri", uri).text().map(Reference::ResourceTemplate),
            _ => Err(Error::invalid("ref.type", "`ref.type` must be `ref/prompt` or `ref/resource`")),
        }
    }
}

fn inner<'a, const N: usize>(raw: &'a RawValue, names: &[&'static str; N]) -> Result<[Option<&'a RawValue>; N], ()> {
    object::members(raw.get(), names).map_err(|_| ())
}

/// What is answered.
#[derive(Clone, Debug, Serialize)]
pub struct CompleteResult {
    completion: CompletionValues,
}

/// The values, best first.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CompletionValues {
    values: Vec<String>,
    total: usize,
    has_more: bool,
}

impl CompleteResult {
    /// The first hundred of `values`, and how many there were.
    pub fn new(mut values: Vec<String>) -> Self {
        let total = values.len();
        values.truncate(VALUES_MAX);
        Self { completion: CompletionValues { has_more: total > values.len(), total, values } }
    }
}

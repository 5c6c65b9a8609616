//! `completion/complete`: completions of an argument.

use std::borrow::Cow;

use base::Error;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::era::Params;
use crate::object::{self, Member};

/// The maximum number of values in one answer, which the protocol fixes.
const VALUES_MAX: usize = 100;

/// The owner of the argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reference<'a> {
    /// A prompt.
    Prompt(Cow<'a, str>),
    /// A resource template.
    ResourceTemplate(Cow<'a, str>),
}

/// A completion request.
#[derive(Clone, Debug)]
pub struct CompleteParams<'a> {
    /// The owner of the argument.
    pub reference: Reference<'a>,
    /// The argument.
    pub argument: Cow<'a, str>,
    /// The text typed so far.
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

/// The answer.
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
    /// The first hundred of `values`, and the total number.
    pub fn new(mut values: Vec<String>) -> Self {
        let total = values.len();
        values.truncate(VALUES_MAX);
        Self { completion: CompletionValues { has_more: total > values.len(), total, values } }
    }
}

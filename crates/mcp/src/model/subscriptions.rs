//! `subscriptions/listen`: the changes that a modern client subscribes to.

use base::Error;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::era::Params;
use crate::model::Capabilities;
use crate::object::{self, Member};

/// The kinds of changes on a stream. Only requested kinds may be sent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Filter {
    /// The list of tools changed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub tools_list_changed: bool,
    /// The list of prompts changed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub prompts_list_changed: bool,
    /// The list of resources changed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub resources_list_changed: bool,
    /// One of these resources changed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub resource_subscriptions: Vec<String>,
}

impl Filter {
    /// The kinds that the server agrees to: only the ones it announces.
    pub fn agreed(mut self, capabilities: &Capabilities) -> Self {
        self.tools_list_changed &= capabilities.tools.is_some_and(|tools| tools.list_changed);
        self.prompts_list_changed &= capabilities.prompts.is_some_and(|prompts| prompts.list_changed);
        self.resources_list_changed &= capabilities.resources.is_some_and(|resources| resources.list_changed);
        if !capabilities.resources.is_some_and(|resources| resources.subscribe) {
            self.resource_subscriptions.clear();
        }
        self
    }
}

/// A subscription request.
#[derive(Clone, Debug)]
pub struct ListenParams {
    /// The kinds of changes.
    pub filter: Filter,
}

impl ListenParams {
    /// Reads the request. It may name at most `uris_max` resources, because a stream is kept in memory.
    pub fn read(params: &Params<'_>, uris_max: usize) -> Result<Self, Error> {
        const NAMES: [&str; 4] = ["toolsListChanged", "promptsListChanged", "resourcesListChanged", "resourceSubscriptions"];
        let [wanted] = params.members(&["notifications"])?;
        let found = object::members(wanted.required()?.get(), &NAMES).map_err(|_| wanted.must_be("an object"))?;
        let [tools, prompts, resources, uris] = found;
        Ok(Self {
            filter: Filter {
                tools_list_changed: Member::new("notifications.toolsListChanged", tools).flag()?,
                prompts_list_changed: Member::new("notifications.promptsListChanged", prompts).flag()?,
                resources_list_changed: Member::new("notifications.resourcesListChanged", resources).flag()?,
                resource_subscriptions: read_uris(Member::new("notifications.resourceSubscriptions", uris), uris_max)?,
            },
        })
    }
}

fn read_uris(member: Member<'_>, uris_max: usize) -> Result<Vec<String>, Error> {
    let uris: Vec<String> =
        serde_json::from_str(member.raw().map_or("[]", RawValue::get)).map_err(|_| member.must_be("an array of strings"))?;
    if uris.len() > uris_max { Err(member.must_be(&format!("at most {uris_max} resources"))) } else { Ok(uris) }
}

//! Notifications of the server, and the one notification of stdio clients that has an effect.

use std::borrow::Cow;

use base::Error;
use serde::Serialize;
use serde_json::Value;

use crate::message::{Id, Notification};
use crate::model::{Filter, LogLevel, Text};
use crate::object;
use crate::reply;

/// The progress of a call. Values must increase.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// The progress so far.
    pub done: f64,
    /// The total, if known.
    pub total: Option<f64>,
    /// What is being done.
    pub message: Option<Text>,
}

/// A log message of one call.
#[derive(Clone, Debug, PartialEq)]
pub struct Log {
    /// Its severity.
    pub level: LogLevel,
    /// The component.
    pub logger: Option<Text>,
    /// The message: text, or any other JSON.
    pub data: Value,
}

/// A change notification on a stream of `subscriptions/listen`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notice<'a> {
    /// The stream is open and will have these notifications. Must come first.
    Acknowledged(&'a Filter),
    /// The list of tools changed.
    ToolsChanged,
    /// The list of prompts changed.
    PromptsChanged,
    /// The list of resources changed.
    ResourcesChanged,
    /// A resource changed.
    ResourceUpdated(&'a str),
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ProgressParams<'a> {
    progress_token: &'a Id<'a>,
    progress: Number,
    #[serde(skip_serializing_if = "Option::is_none")]
    total: Option<Number>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'a str>,
}

/// Whole numbers are written without a fraction, as people and test suites expect.
struct Number(f64);

impl Serialize for Number {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match base::number::whole(self.0) {
            Some(whole) => serializer.serialize_i64(whole),
            None => serializer.serialize_f64(self.0),
        }
    }
}

impl Progress {
    /// The notification for the caller's `token`.
    pub fn write(&self, token: &Id<'_>) -> Result<Vec<u8>, Error> {
        let params = ProgressParams {
            progress_token: token,
            progress: Number(self.done),
            total: self.total.map(Number),
            message: self.message.as_deref(),
        };
        reply::notification("notifications/progress", &params)
    }
}

impl Log {
    /// The notification. Send it only to a caller that asked for this level or a lower one.
    pub fn write(&self) -> Result<Vec<u8>, Error> {
        #[derive(Serialize)]
        struct Params<'a> {
            level: LogLevel,
            #[serde(skip_serializing_if = "Option::is_none")]
            logger: Option<&'a str>,
            data: &'a Value,
        }
        let params = Params { level: self.level, logger: self.logger.as_deref(), data: &self.data };
        reply::notification("notifications/message", &params)
    }
}

impl Notice<'_> {
    /// Whether a stream with `filter` includes it.
    pub fn passes(&self, filter: &Filter) -> bool {
        match self {
            Notice::Acknowledged(_) => true,
            Notice::ToolsChanged => filter.tools_list_changed,
            Notice::PromptsChanged => filter.prompts_list_changed,
            Notice::ResourcesChanged => filter.resources_list_changed,
            Notice::ResourceUpdated(uri) => filter.resource_subscriptions.iter().any(|wanted| wanted == uri),
        }
    }

    /// The notification on the stream that the request `subscription` opened.
    pub fn write(&self, subscription: &Id<'_>) -> Result<Vec<u8>, Error> {
        #[derive(Serialize)]
        struct Params<'a> {
            #[serde(rename = "_meta")]
            meta: Meta<'a>,
            #[serde(skip_serializing_if = "Option::is_none")]
            notifications: Option<&'a Filter>,
            #[serde(skip_serializing_if = "Option::is_none")]
            uri: Option<&'a str>,
        }
        #[derive(Serialize)]
        struct Meta<'a> {
            #[serde(rename = "io.modelcontextprotocol/subscriptionId")]
            subscription: &'a Id<'a>,
        }
        let plain = Params { meta: Meta { subscription }, notifications: None, uri: None };
        match *self {
            Notice::Acknowledged(filter) => {
                reply::notification("notifications/subscriptions/acknowledged", &Params { notifications: Some(filter), ..plain })
            }
            Notice::ToolsChanged => reply::notification("notifications/tools/list_changed", &plain),
            Notice::PromptsChanged => reply::notification("notifications/prompts/list_changed", &plain),
            Notice::ResourcesChanged => reply::notification("notifications/resources/list_changed", &plain),
            Notice::ResourceUpdated(uri) => {
                reply::notification("notifications/resources/updated", &Params { uri: Some(uri), ..plain })
            }
        }
    }
}

/// `notifications/cancelled`, the only way to cancel a call on stdio. Over HTTP it is ignored: closing the connection cancels a
/// call there, and a client could name any id.
#[derive(Clone, Debug)]
pub struct Cancelled<'a> {
    /// The request to cancel.
    pub request: Id<'a>,
    /// Why.
    pub reason: Option<Cow<'a, str>>,
}

impl<'a> Cancelled<'a> {
    /// Reads a notification; `None` if it is another one or names no request.
    pub fn read(told: &Notification<'a>) -> Option<Self> {
        if told.method != "notifications/cancelled" {
            return None;
        }
        let [request, reason] = object::members(told.params?.get(), &["requestId", "reason"]).ok()?;
        Some(Self { request: Id::legal(request?)?, reason: reason.and_then(object::text) })
    }
}

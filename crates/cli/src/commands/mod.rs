//! One module per command. A command parses its arguments, calls the API or the session door, and prints the result.

pub(crate) mod agent;
pub(crate) mod audit;
pub(crate) mod backup;
pub(crate) mod bench;
pub(crate) mod brick;
pub(crate) mod code;
pub(crate) mod completions;
pub(crate) mod connect;
pub(crate) mod costs;
pub(crate) mod decision;
pub(crate) mod doctor;
pub(crate) mod eval;
pub(crate) mod graph;
pub(crate) mod index;
pub(crate) mod key;
pub(crate) mod login;
pub(crate) mod memory;
pub(crate) mod org;
pub(crate) mod policy;
pub(crate) mod project;
pub(crate) mod run;
pub(crate) mod serve;
pub(crate) mod session;
pub(crate) mod stdio;
pub(crate) mod tools;
pub(crate) mod user;
pub(crate) mod webhook;

use anyhow::Result;
use clap::{Args, ValueEnum};
use serde_json::{Map, Value};

use crate::client::encode;
use crate::workplace::Workplace;

/// Arguments of every `list` command.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct ListArgs {
    /// Maximum number of rows
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub(crate) limit: u64,
}

/// Selects the rows of an agent or a session.
#[derive(Args, Debug)]
pub(crate) struct Author {
    /// Only what this agent wrote, by id, name or label:WORD
    #[arg(long, value_name = "AGENT")]
    agent: Option<String>,
    /// Only what this session wrote, by id
    #[arg(long, value_name = "ID")]
    session: Option<String>,
}

impl Author {
    /// Whether nobody is selected, so that everything is.
    pub(crate) fn is_anyone(&self) -> bool {
        self.agent.is_none() && self.session.is_none()
    }

    /// The values of `agentId` and `sessionId` in a request.
    async fn ids(self, place: &Workplace) -> Result<(Option<String>, Option<String>)> {
        Ok((place.agent_if_named(self.agent).await?, self.session))
    }

    /// A query string with the author and the other parameters that are set. Empty if none is set.
    pub(crate) async fn query<const N: usize>(self, place: &Workplace, others: [(&str, Option<String>); N]) -> Result<String> {
        let (agent, session) = self.ids(place).await?;
        let asked = [("agentId", agent), ("sessionId", session)].into_iter().chain(others);
        let asked = asked.filter_map(|(name, value)| Some(format!("{name}={}", encode(&value?)))).collect::<Vec<_>>();
        Ok(if asked.is_empty() { String::new() } else { format!("?{}", asked.join("&")) })
    }

    /// The body of a rollback.
    pub(crate) async fn roll_back_body(self, place: &Workplace, since: Option<String>) -> Result<Value> {
        let (agent, session) = self.ids(place).await?;
        let members = [("agentId", agent), ("sessionId", session), ("since", since)];
        Ok(request_body(members.map(|(name, value)| (name, value.map(Value::from)))))
    }
}

/// A switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnOff {
    /// Yes
    On,
    /// No
    Off,
}

impl OnOff {
    pub(crate) fn is_on(self) -> bool {
        self == OnOff::On
    }
}

/// A JSON object with the members that are set.
pub(crate) fn request_body<const N: usize>(members: [(&str, Option<Value>); N]) -> Value {
    let set = members.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    Value::Object(set.collect::<Map<_, _>>())
}

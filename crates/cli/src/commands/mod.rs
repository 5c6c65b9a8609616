//! One module per command. A command parses its arguments, calls the API or the session door, and prints the result.

pub(crate) mod agent;
pub(crate) mod audit;
pub(crate) mod backup;
pub(crate) mod bench;
pub(crate) mod brick;
pub(crate) mod completions;
pub(crate) mod connect;
pub(crate) mod costs;
pub(crate) mod doctor;
pub(crate) mod eval;
pub(crate) mod graph;
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

use clap::{Args, ValueEnum};
use serde_json::{Map, Value};

/// Arguments of every `list` command.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct ListArgs {
    /// Maximum number of rows
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub(crate) limit: u64,
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

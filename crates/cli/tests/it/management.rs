//! The management API, noun by noun: the shapes and rules of section 12 of the contract.

mod agents;
mod graph;
mod held_bodies;
mod keys;
mod lineage;
mod lists;
mod nodes;
mod openers;
mod orgs;
mod projects;
mod requests;
mod sessions;
mod speakers;
mod users;
mod whoami;

use serde_json::Value;

use crate::support::Reply;

/// The names of an object's members, sorted.
fn members(value: &Value) -> Vec<&str> {
    let members = value.as_object().unwrap_or_else(|| panic!("{value} is not an object"));
    let mut names: Vec<_> = members.keys().map(String::as_str).collect();
    names.sort_unstable();
    names
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("{value} is not a string")).to_owned()
}

/// Asserts that the answer is an API error with this status and code.
#[track_caller]
fn refused(reply: &Reply, status: u16, code: &str) {
    let body = reply.expect(status);
    assert_eq!(members(&body), ["code", "error"], "{body}");
    assert_eq!(body["code"], code, "{body}");
    let words = text(&body["error"]);
    assert!(!words.is_empty() && !words.ends_with('.') && !words.contains("SELECT") && !words.contains("::"), "{words}");
}

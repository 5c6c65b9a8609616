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

use crate::support::{Reply, members, text};

/// Asserts that the answer is an API error with this status and code. A 404 can name what is missing.
#[track_caller]
fn refused(reply: &Reply, status: u16, code: &str) {
    let mut body = reply.expect(status);
    if let Some(noun) = body.as_object_mut().and_then(|body| body.remove("missing")) {
        assert!(status == 404 && !text(&noun).is_empty(), "{noun}: {body}");
    }
    assert_eq!(members(&body), ["code", "error"], "{body}");
    assert_eq!(body["code"], code, "{body}");
    let words = text(&body["error"]);
    assert!(!words.is_empty() && !words.ends_with('.') && !words.contains("SELECT") && !words.contains("::"), "{words}");
}

//! The authorization tables: every tool and every route, each way to be refused, and the one scope or role that allows it.

mod listing;
mod routes;
mod tools;

use base::Scope;

/// Every scope but one.
fn all_but(scope: &str) -> Vec<&'static str> {
    let others: Vec<_> = Scope::ALL.iter().map(|scope| scope.word()).filter(|word| *word != scope).collect();
    assert_eq!(others.len() + 1, Scope::ALL.len(), "there is no scope {scope}");
    others
}

//! Resolves `--actor`: an id, the name of an agent or key, or a user's email.

use anyhow::{Result, bail};
use base::{AgentId, KeyId, SessionId, UserId};

use crate::workplace::Workplace;

/// The instance admin's id in the audit trail.
const OPERATOR: &str = "instance-admin";

/// The lists to search, and the field that holds the name.
const NAMED: [(&str, &str); 3] = [("agents", "name"), ("keys", "name"), ("users", "email")];

/// The actor's id in the audit trail.
pub(super) async fn id_of(place: &Workplace, named: &str) -> Result<String> {
    let prefixes = [SessionId::PREFIX, AgentId::PREFIX, KeyId::PREFIX, UserId::PREFIX];
    if named == OPERATOR || prefixes.iter().any(|prefix| named.starts_with(prefix)) {
        return Ok(named.to_owned());
    }
    let mut found = Vec::new();
    for (member, label) in NAMED {
        found.extend(place.ids_called(&place.path(&format!("/{member}")), member, &[label], named).await?);
    }
    match found.as_slice() {
        [id] => Ok(id.clone()),
        [] => bail!(
            "no agent, key or user of org `{}` is named `{named}`; run `toolcrib agent list`, `toolcrib key list` or \
             `toolcrib user list`",
            place.org
        ),
        several => bail!("several actors are named `{named}`; use an id: {}", several.join(", ")),
    }
}

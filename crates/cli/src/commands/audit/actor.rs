//! Who `--actor` means: an id, or the name of an agent or a key, or a person's address.

use anyhow::{Result, bail};
use base::{AgentId, KeyId, SessionId, UserId};

use crate::workplace::Workplace;

/// What the trail calls the operator of the instance.
const OPERATOR: &str = "instance-admin";

/// Where names are looked up: the list, and the member that holds the name.
const NAMED: [(&str, &str); 3] = [("agents", "name"), ("keys", "name"), ("users", "email")];

/// The id that the trail knows the actor by.
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
            "no agent, key or person of `{}` is called `{named}`: `toolcrib agent list`, `toolcrib key list` and \
             `toolcrib user list` show them",
            place.org
        ),
        several => bail!("several actors are called `{named}`: name one by its id: {}", several.join(", ")),
    }
}

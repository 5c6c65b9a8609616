//! The first start: an org and a project, so that there is something to connect to. Later starts change nothing.

use base::{PageRequest, Result};
use guard::{Guard, NewProject, Org};

/// What every fresh instance has.
const DEFAULT: &str = "default";

/// Makes org `default` and project `default` when the instance has no org at all.
pub(crate) async fn ensure_default_org(guard: &Guard, root: Option<&std::path::Path>) -> Result<Option<Org>> {
    let any = guard.orgs().list(&PageRequest { rows: 1, after: None }).await?;
    if !any.items.is_empty() {
        return Ok(None);
    }
    // Of several nodes that start together on one database, one makes the org and the others find it.
    let org = match guard.orgs().create(DEFAULT, true).await {
        Ok(org) => org,
        Err(error) if error.kind() == base::Kind::Conflict => return Ok(None),
        Err(error) => return Err(error),
    };
    let project = NewProject {
        name: DEFAULT.to_owned(),
        root: root.map(|root| root.display().to_string()),
        memory_enabled: true,
        graph_enabled: true,
    };
    guard.operator_access(&org.id).projects().create(project).await?;
    Ok(Some(org))
}

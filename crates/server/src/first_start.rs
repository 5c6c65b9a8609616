//! The first start: an org and a project, so that there is something to connect to. Later starts change nothing.

use base::{PageRequest, Result};
use guard::{Guard, NewProject, Org};

/// What every fresh instance has.
const DEFAULT: &str = "default";

/// Makes org `default` and project `default` when the instance has no org at all, or only the org of a first start that was
/// cut short.
pub(crate) async fn ensure_default_org(guard: &Guard, root: Option<&std::path::Path>) -> Result<Option<Org>> {
    let one = PageRequest { rows: 1, after: None };
    let orgs = guard.orgs().list(&one).await?;
    let org = match orgs.items.into_iter().next() {
        // Of several nodes that start together on one database, one makes the org and the others find it.
        None => match guard.orgs().create(DEFAULT, false).await {
            Ok(org) => org,
            Err(error) if error.kind() == base::Kind::Conflict => return Ok(None),
            Err(error) => return Err(error),
        },
        Some(org) if org.slug == DEFAULT && orgs.next.is_none() => {
            let projects = guard.operator_access(&org.id).projects().list(&one).await?;
            if !projects.items.is_empty() {
                return Ok(None);
            }
            org
        }
        Some(_) => return Ok(None),
    };
    let project = NewProject {
        name: DEFAULT.to_owned(),
        root: root.map(|root| root.display().to_string()),
        memory_enabled: true,
        graph_enabled: true,
    };
    match guard.operator_access(&org.id).projects().create(project).await {
        Err(error) if error.kind() != base::Kind::Conflict => Err(error),
        _ => Ok(Some(org)),
    }
}

//! The first start creates an org and a project, so that clients have something to connect to. Later starts change nothing.

use base::{PageRequest, Result};
use guard::{Guard, NewProject, Org};

/// The name of the default org and project.
const DEFAULT: &str = "default";

/// Creates org `default` and project `default` if the instance has no org, or only the org of an interrupted first start.
pub(crate) async fn ensure_default_org(guard: &Guard, root: Option<&std::path::Path>) -> Result<Option<Org>> {
    let one = PageRequest { rows: 1, after: None };
    let orgs = guard.orgs().list(&one).await?;
    let org = match orgs.items.into_iter().next() {
        // If several nodes start at the same time on one database, one creates the org and the others find it.
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

//! Where a client command works: which server, which org, which project.

use std::path::Path;

use anyhow::{Context, Result, bail};
use base::ProjectId;
use clap::Args;
use serde_json::Value;

use crate::client::{Api, ApiError, encode};
use crate::find::ServerArgs;
use crate::output;

/// What every client command takes.
#[derive(Args, Clone, Debug)]
pub(crate) struct ClientArgs {
    /// Print the API's JSON instead of text
    #[arg(long, global = true)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) server: ServerArgs,

    /// Org, by id or slug [default: the key's; `default` with the instance admin's key]
    #[arg(long, env = "TOOLCRIB_ORG", value_name = "ORG", global = true, help_heading = "Server")]
    pub(crate) org: Option<String>,
}

/// Which project a command is about.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct ProjectArg {
    /// Project, by id or name [default: the one whose root holds the current directory, else `default`]
    #[arg(long, env = "TOOLCRIB_PROJECT", value_name = "PROJECT", global = true, help_heading = "Server")]
    pub(crate) project: Option<String>,
}

/// The default org of an instance, and the default project of an org.
const DEFAULT: &str = "default";
/// Most projects that are looked through for a name.
const PROJECTS_MAX: u64 = 10_000;

/// A server and an org on it.
#[derive(Clone, Debug)]
pub(crate) struct Workplace {
    /// The management API.
    pub(crate) api: Api,
    /// The org, by id or slug; empty where it goes without saying.
    pub(crate) org: String,
    json: bool,
}

/// A project that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Project {
    /// Its id.
    pub(crate) id: String,
    /// Its name.
    pub(crate) name: String,
    /// Whether it was chosen because the current directory lies in its root.
    pub(crate) holds_current_directory: bool,
}

impl ClientArgs {
    /// Finds the server, and the org on it.
    pub(crate) async fn workplace(&self) -> Result<Workplace> {
        let api = Api::new(self.server.find()?)?;
        Workplace::at(api, self.org.as_deref(), self.json).await
    }

    /// The same for routes that name no org: there a key's own org goes without saying, so a key that may not look it up will do.
    pub(crate) async fn key_workplace(&self) -> Result<Workplace> {
        let api = Api::new(self.server.find()?)?;
        match Workplace::at(api.clone(), self.org.as_deref(), self.json).await {
            Err(error) if is_forbidden(&error) => Ok(Workplace { api, org: String::new(), json: self.json }),
            place => place,
        }
    }
}

impl Workplace {
    /// The place on a server that was found already.
    pub(crate) async fn at(api: Api, org: Option<&str>, json: bool) -> Result<Self> {
        let org = match org {
            Some(org) => org.to_owned(),
            None if api.found().is_admin => DEFAULT.to_owned(),
            None => own_org(&api).await?,
        };
        Ok(Self { api, org, json })
    }

    /// The path of something in the org.
    pub(crate) fn path(&self, rest: &str) -> String {
        format!("/api/org/{}{rest}", encode(&self.org))
    }

    /// A path that names no org, with the org beside it where it must be said.
    pub(crate) fn query(&self, path: &str) -> String {
        if self.org.is_empty() { path.to_owned() } else { format!("{path}?org={}", encode(&self.org)) }
    }

    /// Prints an answer about one thing.
    pub(crate) fn print(&self, answer: &Value) -> Result<()> {
        if self.json { output::print_json(answer) } else { output::print(&output::facts(output::unwrapped(answer))) }
    }

    /// Prints an answer whose text for people is `text`.
    pub(crate) fn print_as(&self, answer: &Value, text: impl FnOnce() -> String) -> Result<()> {
        match (self.json, answer) {
            // The API had nothing to say (204), so neither have we.
            (true, Value::Null) => Ok(()),
            (true, answer) => output::print_json(answer),
            (false, _) => output::print(&text()),
        }
    }

    /// Prints a list.
    pub(crate) fn print_list(&self, answer: &Value, member: &str, columns: &[output::Column]) -> Result<()> {
        if self.json {
            return output::print_json(answer);
        }
        let rows = answer.get(member).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        output::print(&output::table(rows, columns, &format!("no {member}")))?;
        if answer.get("nextCursor").is_some_and(Value::is_string) {
            eprintln!("there are more: ask for them with --limit");
        }
        Ok(())
    }

    /// The project that is meant.
    pub(crate) async fn project(&self, argument: &ProjectArg) -> Result<Project> {
        // An id needs no list, which not every key may read.
        if let Some(id) = argument.project.as_deref().and_then(ProjectId::parse) {
            return Ok(Project { id: id.to_string(), name: id.to_string(), holds_current_directory: false });
        }
        let here = std::env::current_dir().and_then(|path| path.canonicalize()).ok();
        choose(&self.projects().await?, argument.project.as_deref(), here.as_deref(), &self.org)
    }

    async fn projects(&self) -> Result<Vec<Value>> {
        let answer = self.api.list(&self.path("/projects"), "projects", PROJECTS_MAX).await?;
        Ok(answer.get("projects").and_then(Value::as_array).cloned().unwrap_or_default())
    }

    /// The id of the row in the org's list `member` that `named` names, by its id or by its `label`.
    pub(crate) async fn id_of(&self, member: &str, prefix: &str, label: &str, named: &str) -> Result<String> {
        if named.starts_with(prefix) {
            return Ok(named.to_owned());
        }
        let answer = self.api.list(&self.path(&format!("/{member}")), member, PROJECTS_MAX).await?;
        let rows = answer.get(member).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        match named_row(rows, label, named) {
            Ok(Some(id)) => Ok(id.to_owned()),
            Ok(None) => bail!(
                "there is no `{named}` among the {member} of `{}`: `toolcrib {} list` shows them",
                self.org,
                member.trim_end_matches('s')
            ),
            Err(Several) => bail!("several {member} are called `{named}`: name the one you mean by its id"),
        }
    }
}

/// A name that does not tell which row is meant.
#[derive(Debug, PartialEq, Eq)]
struct Several;

/// The id of the row that is called `named`. One that lives is meant before those that were revoked: their names are free again.
fn named_row<'v>(rows: &'v [Value], label: &str, named: &str) -> Result<Option<&'v str>, Several> {
    let is_named = |row: &&Value| text(row, label).is_some_and(|label| label.eq_ignore_ascii_case(named));
    let (live, revoked): (Vec<_>, Vec<_>) = rows.iter().filter(is_named).partition(|row| text(row, "revokedAt").is_none());
    let meant = if live.is_empty() { revoked } else { live };
    match meant.as_slice() {
        [] => Ok(None),
        [row] => Ok(text(row, "id").or_else(|| text(row, "agent_id"))),
        _ => Err(Several),
    }
}

/// The org that a key belongs to.
async fn own_org(api: &Api) -> Result<String> {
    let answer = api.get("/api/orgs").await.map_err(|error| {
        if is_forbidden(&error) { error.context("cannot tell which org the key belongs to: pass --org") } else { error }
    })?;
    let orgs = answer.get("orgs").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let ids = orgs.iter().filter_map(|org| text(org, "id")).collect::<Vec<_>>();
    match ids.as_slice() {
        [only] => Ok((*only).to_owned()),
        [] => bail!("the key belongs to no org: pass --org"),
        // Only the instance admin sees several.
        _ => Ok(DEFAULT.to_owned()),
    }
}

/// Whether a key was good, and not for this.
fn is_forbidden(error: &anyhow::Error) -> bool {
    error.downcast_ref::<ApiError>().is_some_and(|refusal| refusal.status.as_u16() == 403)
}

fn text<'v>(row: &'v Value, member: &str) -> Option<&'v str> {
    row.get(member).and_then(Value::as_str)
}

/// The project called `named`, else the one with the longest root that holds `here`, else `default`.
fn choose(projects: &[Value], named: Option<&str>, here: Option<&Path>, org: &str) -> Result<Project> {
    let project = |row: &Value, holds_current_directory| {
        let id = text(row, "id").context("the server lists a project without an id")?;
        Ok(Project { id: id.to_owned(), name: text(row, "name").unwrap_or(id).to_owned(), holds_current_directory })
    };
    if let Some(named) = named {
        return match projects.iter().find(|row| text(row, "name") == Some(named)) {
            Some(row) => project(row, false),
            None => bail!("there is no project `{named}` in the org `{org}`: there are {}", names(projects)),
        };
    }
    let holds = |row: &&Value| {
        let root = text(row, "root").map(Path::new);
        root.zip(here).is_some_and(|(root, here)| here.starts_with(root))
    };
    let length = |row: &&Value| text(row, "root").map_or(0, |root| Path::new(root).components().count());
    if let Some(row) = projects.iter().filter(holds).max_by_key(length) {
        return project(row, true);
    }
    match projects.iter().find(|row| text(row, "name") == Some(DEFAULT)) {
        Some(row) => project(row, false),
        None => bail!(
            "no project of the org `{org}` has its root here and none is called `{DEFAULT}`: pass --project; there are {}",
            names(projects)
        ),
    }
}

fn names(projects: &[Value]) -> String {
    let names = projects.iter().filter_map(|row| text(row, "name")).map(|name| format!("`{name}`")).collect::<Vec<_>>();
    if names.is_empty() { "none yet (`toolcrib project add NAME` makes one)".to_owned() } else { names.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn chosen(named: Option<&str>, here: &str) -> Result<(String, bool), String> {
        let projects = [
            json!({"id": "prj_1", "name": "default"}),
            json!({"id": "prj_2", "name": "mono", "root": "/srv/mono"}),
            json!({"id": "prj_3", "name": "web", "root": "/srv/mono/web"}),
        ];
        let project = choose(&projects, named, Some(Path::new(here)), "acme").map_err(|error| error.to_string())?;
        Ok((project.id, project.holds_current_directory))
    }

    #[test]
    fn the_nearest_root_wins() {
        assert_eq!(chosen(None, "/srv/mono/web/src"), Ok(("prj_3".into(), true)));
        assert_eq!(chosen(None, "/srv/mono/api"), Ok(("prj_2".into(), true)));
        assert_eq!(chosen(None, "/srv/monorail"), Ok(("prj_1".into(), false)));
    }

    #[test]
    fn a_name_wins_over_the_place() {
        assert_eq!(chosen(Some("web"), "/srv/mono"), Ok(("prj_3".into(), false)));
        assert!(chosen(Some("nope"), "/").unwrap_err().contains("`mono`, `web`"));
    }

    #[test]
    fn a_name_means_the_row_that_lives() {
        let key = |id: &str, revoked: Option<&str>| json!({"id": id, "name": "ci", "revokedAt": revoked});
        let named = |rows: &[Value]| named_row(rows, "name", "CI").map(|id| id.map(str::to_owned));
        assert_eq!(named(&[]), Ok(None));
        assert_eq!(named(&[key("key_1", Some("t")), key("key_2", None), key("key_3", Some("t"))]), Ok(Some("key_2".into())));
        assert_eq!(named(&[key("key_1", Some("t"))]), Ok(Some("key_1".into())));
        assert_eq!(named(&[key("key_1", None), key("key_2", None)]), Err(Several));
    }

    #[test]
    fn without_a_default_a_project_must_be_named() {
        let error = choose(&[json!({"id": "prj_1", "name": "api"})], None, None, "acme").unwrap_err().to_string();
        assert!(error.contains("--project") && error.contains("`api`"), "{error}");
        assert!(choose(&[], None, None, "acme").unwrap_err().to_string().contains("toolcrib project add"));
    }
}

//! Selects the server, org and project of a client command, and looks up ids by name.

use std::path::Path;

use anyhow::{Context, Result, bail};
use base::{AgentId, ProjectId, SessionId};
use clap::Args;
use serde_json::Value;

use crate::client::{Api, ApiError, encode};
use crate::find::ServerArgs;
use crate::output;

/// Arguments of every client command.
#[derive(Args, Clone, Debug)]
pub(crate) struct ClientArgs {
    /// Print the API's JSON instead of text
    #[arg(long, global = true)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) server: ServerArgs,

    /// Org, by id or slug [default: the key's org; `default` with the instance admin's key]
    #[arg(long, env = "TOOLCRIB_ORG", value_name = "ORG", global = true, help_heading = "Server")]
    pub(crate) org: Option<String>,
}

/// Selects the project.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct ProjectArg {
    /// Project, by id or name [default: the one whose root contains the current directory, else `default`]
    #[arg(long, env = "TOOLCRIB_PROJECT", value_name = "PROJECT", global = true, help_heading = "Server")]
    pub(crate) project: Option<String>,
}

/// The name of the default org, and of an org's default project.
const DEFAULT: &str = "default";
/// How to create a project for the current directory.
pub(crate) const ADD_PROJECT: &str = "create one for this directory with `toolcrib project add NAME --root .`";
/// Maximum number of rows searched for a name.
const ROWS_MAX: u64 = 10_000;

/// A server and an org on it.
#[derive(Clone, Debug)]
pub(crate) struct Workplace {
    /// The management API.
    pub(crate) api: Api,
    /// The org, by id or slug.
    pub(crate) org: String,
    json: bool,
}

/// The selected project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Project {
    /// Its id.
    pub(crate) id: String,
    /// Its name.
    pub(crate) name: String,
    /// Whether it was selected because its root contains the current directory.
    pub(crate) holds_current_directory: bool,
}

impl ClientArgs {
    /// Finds the server and the org.
    pub(crate) async fn workplace(&self) -> Result<Workplace> {
        let api = Api::new(self.server.find()?)?;
        Workplace::at(api, self.org.as_deref(), self.json).await
    }
}

impl Workplace {
    /// Selects the org on a server.
    pub(crate) async fn at(api: Api, org: Option<&str>, json: bool) -> Result<Self> {
        let org = match org {
            Some(org) => org.to_owned(),
            None if api.found().is_admin => DEFAULT.to_owned(),
            None => own_org(&api).await?,
        };
        Ok(Self { api, org, json })
    }

    /// Whether to print the API's JSON.
    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    /// An API path below the org.
    pub(crate) fn path(&self, rest: &str) -> String {
        format!("/api/org/{}{rest}", encode(&self.org))
    }

    /// An API path with the org as a query parameter.
    pub(crate) fn query(&self, path: &str) -> String {
        format!("{path}?org={}", encode(&self.org))
    }

    /// Prints a response with one object.
    pub(crate) fn print(&self, answer: &Value) -> Result<()> {
        if self.json { output::print_json(answer) } else { output::print(&output::facts(output::unwrapped(answer))) }
    }

    /// Prints a response with a secret (`what`) that cannot be fetched again.
    pub(crate) fn print_once(&self, answer: &Value, what: &str) -> Result<()> {
        self.print(answer)?;
        output::tell(&format!("The {what} is shown only once; save it now."));
        Ok(())
    }

    /// Prints a response: its JSON with `--json`, else `text`.
    pub(crate) fn print_as(&self, answer: &Value, text: impl FnOnce() -> String) -> Result<()> {
        match (self.json, answer) {
            // The API returned no content (204).
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
            output::tell("more rows exist; raise --limit to see them");
        }
        Ok(())
    }

    /// Finds the selected project.
    pub(crate) async fn project(&self, argument: &ProjectArg) -> Result<Project> {
        // An id needs no lookup.
        if let Some(id) = argument.project.as_deref().and_then(ProjectId::parse) {
            return Ok(Project { id: id.to_string(), name: id.to_string(), holds_current_directory: false });
        }
        let here = std::env::current_dir().and_then(|path| path.canonicalize()).ok();
        choose(&self.projects().await?, argument.project.as_deref(), here.as_deref(), &self.org)
    }

    /// The projects that the credential covers, with their ids, names and roots. This needs no scope.
    pub(crate) async fn projects(&self) -> Result<Vec<Value>> {
        let answer = self.api.list(&self.query("/api/whoami"), "projects", ROWS_MAX).await?;
        Ok(answer.get("projects").and_then(Value::as_array).cloned().unwrap_or_default())
    }

    /// Looks up an id in the org's list `member`. `named` is an id, or the value of the field `label`.
    pub(crate) async fn id_of(&self, member: &str, prefix: &str, label: &str, named: &str) -> Result<String> {
        self.id_in(&self.path(&format!("/{member}")), member, prefix, &[label], named).await
    }

    /// The API path of a row in the org's list `member`. The row is looked up like an id in [`Self::id_of`].
    pub(crate) async fn path_to(&self, member: &str, prefix: &str, label: &str, named: &str) -> Result<String> {
        let id = self.id_of(member, prefix, label, named).await?;
        Ok(self.path(&format!("/{member}/{}", encode(&id))))
    }

    /// Looks up an id in the list at `path`. `named` is an id, or the value of a field in `labels`; the first field that matches any
    /// row counts.
    pub(crate) async fn id_in(&self, path: &str, member: &str, prefix: &str, labels: &[&str], named: &str) -> Result<String> {
        if named.starts_with(prefix) {
            return Ok(named.to_owned());
        }
        match self.ids_called(path, member, labels, named).await?.as_slice() {
            [id] => Ok(id.clone()),
            [] => bail!(
                "no `{named}` among the {member} of org `{}`; run `toolcrib {} list` to see them",
                self.org,
                member.trim_end_matches('s')
            ),
            several => bail!("several {member} are named `{named}`; use an id: {}", several.join(", ")),
        }
    }

    /// The ids of all rows in the list at `path` that are named `named`.
    pub(crate) async fn ids_called(&self, path: &str, member: &str, labels: &[&str], named: &str) -> Result<Vec<String>> {
        let answer = self.api.list(path, member, ROWS_MAX).await.map_err(|error| {
            let why = format!("cannot look up `{named}` among the {member}; use its id");
            if is_forbidden(&error) { error.context(why) } else { error }
        })?;
        let rows = answer.get(member).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        Ok(named_rows(rows, labels, named).into_iter().map(str::to_owned).collect())
    }

    /// Looks up an agent's id by id or name. `label:WORD` and session ids stand for unregistered agents and are returned as they
    /// are.
    pub(crate) async fn agent(&self, named: &str) -> Result<String> {
        if named.starts_with("label:") || named.starts_with(SessionId::PREFIX) {
            return Ok(named.to_owned());
        }
        self.id_of("agents", AgentId::PREFIX, "name", named).await
    }

    /// Like [`Self::agent`], for an optional name.
    pub(crate) async fn agent_if_named(&self, named: Option<String>) -> Result<Option<String>> {
        match named {
            Some(named) => self.agent(&named).await.map(Some),
            None => Ok(None),
        }
    }
}

/// The ids of the rows named `named`. Revoked rows count only if no other row has the name, because a revoked row's name can be
/// reused.
fn named_rows<'v>(rows: &'v [Value], labels: &[&str], named: &str) -> Vec<&'v str> {
    let called = |label: &str| {
        let is_named = |row: &&Value| text(row, label).is_some_and(|label| label.eq_ignore_ascii_case(named));
        rows.iter().filter(is_named).collect::<Vec<_>>()
    };
    let found = labels.iter().map(|label| called(label)).find(|found| !found.is_empty()).unwrap_or_default();
    let (live, revoked): (Vec<_>, Vec<_>) = found.into_iter().partition(|row| text(row, "revokedAt").is_none());
    let meant = if live.is_empty() { revoked } else { live };
    meant.into_iter().filter_map(|row| IDS.iter().find_map(|id| text(row, id))).collect()
}

/// The fields that can hold a row's id.
const IDS: [&str; 4] = ["id", "agent_id", "brick_id", "kit_id"];

/// The slug of the credential's org.
async fn own_org(api: &Api) -> Result<String> {
    let answer = api.get("/api/whoami?limit=1").await?;
    // Only the instance admin's key belongs to no org.
    Ok(answer.pointer("/org/slug").and_then(Value::as_str).unwrap_or(DEFAULT).to_owned())
}

/// Whether the credential is valid but not allowed to do this.
pub(crate) fn is_forbidden(error: &anyhow::Error) -> bool {
    error.downcast_ref::<ApiError>().is_some_and(|refusal| refusal.status.as_u16() == 403)
}

fn text<'v>(row: &'v Value, member: &str) -> Option<&'v str> {
    row.get(member).and_then(Value::as_str)
}

/// The project named `named`, else the one with the longest root that contains `here`, else `default`.
fn choose(projects: &[Value], named: Option<&str>, here: Option<&Path>, org: &str) -> Result<Project> {
    let project = |row: &Value, holds_current_directory| {
        let id = text(row, "id").context("the server listed a project without an id")?;
        Ok(Project { id: id.to_owned(), name: text(row, "name").unwrap_or(id).to_owned(), holds_current_directory })
    };
    if let Some(named) = named {
        return match projects.iter().find(|row| text(row, "name") == Some(named)) {
            Some(row) => project(row, false),
            None => bail!("no project `{named}` in org `{org}`; existing projects: {}", names(projects)),
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
            "no project of org `{org}` contains this directory or is named `{DEFAULT}`; pass --project; existing projects: {}",
            names(projects)
        ),
    }
}

fn names(projects: &[Value]) -> String {
    let names = projects.iter().filter_map(|row| text(row, "name")).map(|name| format!("`{name}`")).collect::<Vec<_>>();
    if names.is_empty() { "none (create one with `toolcrib project add NAME`)".to_owned() } else { names.join(", ") }
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
    fn project_with_the_longest_matching_root_is_chosen() {
        assert_eq!(chosen(None, "/srv/mono/web/src"), Ok(("prj_3".into(), true)));
        assert_eq!(chosen(None, "/srv/mono/api"), Ok(("prj_2".into(), true)));
        assert_eq!(chosen(None, "/srv/monorail"), Ok(("prj_1".into(), false)));
    }

    #[test]
    fn explicit_name_overrides_the_current_directory() {
        assert_eq!(chosen(Some("web"), "/srv/mono"), Ok(("prj_3".into(), false)));
        assert!(chosen(Some("nope"), "/").unwrap_err().contains("`mono`, `web`"));
    }

    #[test]
    fn live_rows_win_over_revoked_rows_of_the_same_name() {
        let key = |id: &str, revoked: Option<&str>| json!({"id": id, "name": "ci", "revokedAt": revoked});
        let named = |rows: &[Value]| named_rows(rows, &["name"], "CI").join(" ");
        assert_eq!(named(&[]), "");
        assert_eq!(named(&[key("key_1", Some("t")), key("key_2", None), key("key_3", Some("t"))]), "key_2");
        assert_eq!(named(&[key("key_1", Some("t"))]), "key_1");
        assert_eq!(named(&[key("key_1", None), key("key_2", None)]), "key_1 key_2");
    }

    #[test]
    fn first_label_that_matches_is_used() {
        let brick = |id: &str, key: &str| json!({"brick_id": id, "brick_key": key, "brick_name": "Tone"});
        let rows = [brick("brk_1", "tone"), brick("brk_2", "tone_2")];
        let named = |named: &str| named_rows(&rows, &["brick_key", "brick_name"], named).join(" ");
        assert_eq!((named("tone").as_str(), named("TONE_2").as_str(), named("nope").as_str()), ("brk_1", "brk_2", ""));
        assert_eq!(named_rows(&rows, &["brick_name"], "tone"), ["brk_1", "brk_2"]);
    }

    #[test]
    fn project_is_required_without_a_default() {
        let error = choose(&[json!({"id": "prj_1", "name": "api"})], None, None, "acme").unwrap_err().to_string();
        assert!(error.contains("--project") && error.contains("`api`"), "{error}");
        assert!(choose(&[], None, None, "acme").unwrap_err().to_string().contains("toolcrib project add"));
    }
}

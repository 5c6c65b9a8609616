//! Projects of an org.

use base::{Cursor, Error, EventKind, Kind, Page, PageRequest, ProjectId, Result, Timestamp};
use store::{Row, params};

use super::orgs::checked_name;
use super::{sql, start_of};
use crate::access::Access;
use crate::audit::Event;

/// A project: a name, an optional directory of code, and switches.
#[derive(Clone, Debug)]
pub struct Project {
    /// Its id.
    pub id: ProjectId,
    /// Its name, unique in the org.
    pub name: String,
    /// Its directory of code on the server's machine.
    pub root: Option<String>,
    /// Whether memory is on.
    pub memory_enabled: bool,
    /// Whether the graph is on.
    pub graph_enabled: bool,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

/// Data of a new project. The caller has checked that the root may be served.
#[derive(Clone, Debug)]
pub struct NewProject {
    /// Its name.
    pub name: String,
    /// Its directory of code.
    pub root: Option<String>,
    /// Whether memory is on.
    pub memory_enabled: bool,
    /// Whether the graph is on.
    pub graph_enabled: bool,
}

/// A change of a project. `None` keeps the current value.
#[derive(Clone, Debug, Default)]
pub struct ProjectChange {
    /// A new name.
    pub name: Option<String>,
    /// A new root, or `None` inside to remove it.
    pub root: Option<Option<String>>,
    /// Memory on or off.
    pub memory_enabled: Option<bool>,
    /// Graph on or off.
    pub graph_enabled: Option<bool>,
}

impl Project {
    /// The audit event with the project's new state.
    fn event(&self, kind: EventKind) -> Event {
        Event::new(kind, "project", self.id)
            .with("name", self.name.as_str())
            .with("memoryEnabled", self.memory_enabled)
            .with("graphEnabled", self.graph_enabled)
            .with_some("root", self.root.as_deref())
    }

    fn from_row(row: &Row<'_>) -> Result<Self> {
        Ok(Self {
            id: ProjectId::from_row(row.text("id")?),
            name: row.get("name")?,
            root: row.get("root")?,
            memory_enabled: row.get("memory_enabled")?,
            graph_enabled: row.get("graph_enabled")?,
            created_at: row.get("created_at")?,
            updated_at: row.get("updated_at")?,
        })
    }
}

/// The projects of the caller's org, as far as the caller covers them.
pub struct Projects<'a>(&'a Access);

impl Access {
    /// The org's projects.
    pub fn projects(&self) -> Projects<'_> {
        Projects(self)
    }
}

impl Projects<'_> {
    /// Creates a project.
    pub async fn create(&self, new: NewProject) -> Result<Project> {
        if !self.0.cover.is_all() {
            return Err(Error::new(Kind::NotPermitted, "a key limited to some projects cannot create projects"));
        }
        let now = self.0.clock.now();
        let project = Project {
            id: ProjectId::new(now),
            name: checked_name(&new.name)?,
            root: new.root,
            memory_enabled: new.memory_enabled,
            graph_enabled: new.graph_enabled,
            created_at: now,
            updated_at: now,
        };
        let (row, access) = (project.clone(), self.0.clone());
        let made = self
            .0
            .write(move |tx| {
                let switches = (row.memory_enabled, row.graph_enabled);
                let params = params![row.id, row.name, row.root, switches.0, switches.1, row.created_at];
                let made = tx.execute(sql::INSERT_PROJECT, &params)?;
                if made > 0 {
                    access.record(tx, row.event(EventKind::ProjectCreated))?;
                }
                Ok(made)
            })
            .await?;
        if made == 0 { Err(name_taken(&project.name)) } else { Ok(project) }
    }

    /// One project.
    pub async fn get(&self, id: &ProjectId) -> Result<Option<Project>> {
        let project = self.0.rows.first(sql::PROJECT, &params![id], Project::from_row).await?;
        if project.is_some() {
            self.0.require_project(id)?;
        }
        Ok(project)
    }

    /// Whether agents wrote files into a project without a root.
    pub(crate) async fn has_files(&self, id: &ProjectId) -> Result<bool> {
        Ok(self.0.rows.first(sql::PROJECT_HAS_FILES, &params![id], |_| Ok(())).await?.is_some())
    }

    /// Lists the projects that the caller covers, newest first.
    pub async fn list(&self, page: &PageRequest) -> Result<Page<Project>> {
        let start = start_of(page);
        let cover = self.0.cover.to_row();
        let params = params![start.created_at, start.id, start.rows, cover];
        let rows = self.0.rows.query(sql::LIST_PROJECTS, &params, Project::from_row).await?;
        Ok(Page::from_rows(rows, page.rows, |project| Cursor { created_at: project.created_at, id: project.id.to_string() }))
    }

    /// Changes a project. The change applies from the next request of its sessions and agents.
    pub async fn change(&self, id: &ProjectId, change: ProjectChange) -> Result<Option<Project>> {
        if self.get(id).await?.is_none() {
            return Ok(None);
        }
        let name = change.name.as_deref().map(checked_name).transpose()?;
        let (id, now, access) = (*id, self.0.clock.now(), self.0.clone());
        self.0
            .write(move |tx| {
                let Some(mut project) = tx.first(sql::PROJECT, &params![id], Project::from_row)? else {
                    return Ok(None);
                };
                if let Some(name) = &name {
                    let taken = tx.first(sql::PROJECT_NAMED, &params![name], |row| Ok(row.text("id")? != id.as_str()))?;
                    if taken == Some(true) {
                        return Err(name_taken(name));
                    }
                    project.name.clone_from(name);
                }
                if let Some(root) = &change.root {
                    project.root.clone_from(root);
                }
                project.memory_enabled = change.memory_enabled.unwrap_or(project.memory_enabled);
                project.graph_enabled = change.graph_enabled.unwrap_or(project.graph_enabled);
                project.updated_at = now;
                let switches = (project.memory_enabled, project.graph_enabled);
                tx.execute(sql::UPDATE_PROJECT, &params![id, project.name, project.root, switches.0, switches.1, now])?;
                tx.bump()?;
                access.record(tx, project.event(EventKind::ProjectChanged))?;
                Ok(Some(project))
            })
            .await
    }
}

fn name_taken(name: &str) -> Error {
    Error::new(Kind::Conflict, format!("a project named `{name}` already exists"))
}

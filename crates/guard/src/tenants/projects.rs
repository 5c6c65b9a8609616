//! Projects of an org.

use base::{Cursor, Error, Kind, Page, PageRequest, ProjectId, Result, Timestamp};
use store::{Row, params};

use super::orgs::checked_name;
use super::{sql, start_of};
use crate::access::Access;
use crate::audit::Event;

/// A project: a name, perhaps a directory of code, and switches.
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
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

/// What a new project is made from. The caller has checked that the root may be served.
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

/// What changes of a project; `None` leaves it as it is.
#[derive(Clone, Debug, Default)]
pub struct ProjectChange {
    /// A new name.
    pub name: Option<String>,
    /// A new root, or none at all.
    pub root: Option<Option<String>>,
    /// Memory on or off.
    pub memory_enabled: Option<bool>,
    /// Graph on or off.
    pub graph_enabled: Option<bool>,
}

impl Project {
    /// What the record says when the project comes to be what it is now.
    fn event(&self, event_type: &'static str) -> Event {
        Event::new(event_type, "project", self.id)
            .with("name", self.name.as_str())
            .with("memoryEnabled", self.memory_enabled)
            .with("graphEnabled", self.graph_enabled)
            .with_some("root", self.root.as_deref())
    }

    fn from_row(row: &Row<'_>) -> Result<Self> {
        Ok(Self {
            id: ProjectId::from_row(row.text(0)?),
            name: row.get(1)?,
            root: row.get(2)?,
            memory_enabled: row.get(3)?,
            graph_enabled: row.get(4)?,
            created_at: row.get(5)?,
            updated_at: row.get(6)?,
        })
    }
}

/// The projects that a management call may touch.
pub struct Projects<'a>(&'a Access);

impl Access {
    /// The org's projects.
    pub fn projects(&self) -> Projects<'_> {
        Projects(self)
    }
}

impl Projects<'_> {
    /// Makes a project.
    pub async fn create(&self, new: NewProject) -> Result<Project> {
        if !self.0.cover.is_all() {
            return Err(Error::new(Kind::NotPermitted, "a key for some projects cannot make new ones"));
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
                    access.record(tx, row.event("project.created"))?;
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

    /// Those the caller covers, newest first.
    pub async fn list(&self, page: &PageRequest) -> Result<Page<Project>> {
        let start = start_of(page);
        let cover = self.0.cover.to_row();
        let params = params![start.created_at, start.id, start.rows, cover];
        let rows = self.0.rows.query(sql::LIST_PROJECTS, &params, Project::from_row).await?;
        Ok(Page::from_rows(rows, page.rows, |project| Cursor { created_at: project.created_at, id: project.id.to_string() }))
    }

    /// Changes a project. Its sessions and agents see it on their next request.
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
                    let taken = tx.first(sql::PROJECT_NAMED, &params![name], |row| Ok(row.text(0)? != id.as_str()))?;
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
                access.record(tx, project.event("project.changed"))?;
                Ok(Some(project))
            })
            .await
    }
}

fn name_taken(name: &str) -> Error {
    Error::new(Kind::Conflict, format!("there is a project called `{name}` already"))
}

//! Notifies subscribers that a list or a resource has changed.

use base::OrgId;
use mcp::model::Notice;
use tokio::sync::broadcast;

/// The number of changes that a slow subscriber can fall behind. After that it learns only that it missed some.
const QUEUE_MAX: usize = 64;

/// What changed.
#[derive(Clone, Debug)]
pub enum Change {
    /// The list of tools.
    Tools,
    /// The list of prompts.
    Prompts,
    /// The list of resources.
    Resources,
    /// One resource.
    Resource(String),
}

impl Change {
    /// The change as a protocol notification.
    pub fn notice(&self) -> Notice<'_> {
        match self {
            Change::Tools => Notice::ToolsChanged,
            Change::Prompts => Notice::PromptsChanged,
            Change::Resources => Notice::ResourcesChanged,
            Change::Resource(uri) => Notice::ResourceUpdated(uri),
        }
    }
}

/// A channel for announcing changes and listening for them.
#[derive(Clone, Debug)]
pub struct Changes(broadcast::Sender<(OrgId, Change)>);

impl Default for Changes {
    fn default() -> Self {
        Self(broadcast::Sender::new(QUEUE_MAX))
    }
}

impl Changes {
    /// Announces a change to the listeners of `org`. There may be none.
    pub fn tell(&self, org: OrgId, change: Change) {
        let _ = self.0.send((org, change));
    }

    /// Receives every change from now on, of all orgs. The listener must filter by its own org.
    pub fn listen(&self) -> broadcast::Receiver<(OrgId, Change)> {
        self.0.subscribe()
    }
}

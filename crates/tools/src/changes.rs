//! Telling subscribers that a list or a resource has changed.

use base::OrgId;
use mcp::model::Notice;
use tokio::sync::broadcast;

/// Changes that a slow subscriber may miss before it is told only that it missed some.
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
    /// The change as the protocol says it.
    pub fn notice(&self) -> Notice<'_> {
        match self {
            Change::Tools => Notice::ToolsChanged,
            Change::Prompts => Notice::PromptsChanged,
            Change::Resources => Notice::ResourcesChanged,
            Change::Resource(uri) => Notice::ResourceUpdated(uri),
        }
    }
}

/// A place to tell and to hear of changes.
#[derive(Clone, Debug)]
pub struct Changes(broadcast::Sender<(OrgId, Change)>);

impl Default for Changes {
    fn default() -> Self {
        Self(broadcast::Sender::new(QUEUE_MAX))
    }
}

impl Changes {
    /// Tells everyone who listens in `org`; nobody may.
    pub fn tell(&self, org: OrgId, change: Change) {
        let _ = self.0.send((org, change));
    }

    /// Hears what is told from now on, in every org: the listener passes on only its own.
    pub fn listen(&self) -> broadcast::Receiver<(OrgId, Change)> {
        self.0.subscribe()
    }
}

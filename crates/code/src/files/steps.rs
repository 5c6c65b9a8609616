//! The steps of a write to disk. A test makes one of them fail, or stop as if the process had been killed. A server runs without.

use std::io;
use std::sync::Arc;

/// A step that is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// The temporary file exists.
    Created,
    /// It has its content.
    Filled,
    /// It is on disk.
    Synced,
    /// The old content was compared.
    Compared,
    /// The file has its new content.
    Renamed,
}

/// What a test does at each step.
#[derive(Clone, Default)]
pub(crate) struct Steps {
    pub(crate) at: Option<Arc<dyn Fn(Step) -> io::Result<()> + Send + Sync>>,
    /// Whether a failure leaves everything as a killed process would.
    pub(crate) kills: bool,
}

impl Steps {
    pub(crate) fn done(&self, step: Step) -> io::Result<()> {
        self.at.as_ref().map_or(Ok(()), |at| at(step))
    }
}

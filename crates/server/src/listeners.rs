//! Limits the open subscription streams per caller. Each stream costs a connection and a task.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use base::limits::LISTENERS_PER_CALLER_MAX;
use base::{Actor, Principal};

type Counts = Mutex<HashMap<String, u32>>;

/// Open streams per session, or per agent with all its tokens.
#[derive(Default)]
pub(crate) struct Listeners(Arc<Counts>);

/// One stream's slot. Dropping it frees the slot.
pub(crate) struct Place {
    counts: Arc<Counts>,
    who: String,
}

impl Listeners {
    /// Takes a slot for one more stream. Returns `None` at the limit.
    pub(crate) fn enter(&self, principal: &Principal) -> Option<Place> {
        let who = match &principal.actor {
            Actor::Session { id, .. } => id.to_string(),
            Actor::Agent { id, .. } => id.to_string(),
        };
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.entry(who.clone()).or_insert(0);
        if *count >= LISTENERS_PER_CALLER_MAX {
            return None;
        }
        *count += 1;
        Some(Place { counts: Arc::clone(&self.0), who })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = counts.get_mut(&self.who) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.who);
            }
        }
    }
}

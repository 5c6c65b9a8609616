//! The session behind the bridge. When it expires, the bridge opens another one without the client noticing.

use std::sync::{Arc, Mutex as Lock, PoisonError};
use std::time::Duration;

use anyhow::Result;
use base::{Clock, Timestamp};
use serde_json::Value;
use tokio::sync::Mutex;

use super::upstream::Upstream;
use crate::client::{Api, ApiError, encode};
use crate::opening::{Opened, SessionArgs};
use crate::workplace::{Project, ProjectArg, Workplace};

/// How long the end waits for a server that is down. A client does not wait long for this process.
const END_WAIT: Duration = Duration::from_secs(3);
/// How long the end waits if it may have to start a server.
const EMBED_WAIT: Duration = Duration::from_secs(15);

/// A session that can be replaced.
pub(super) struct Session {
    upstream: Arc<Upstream>,
    org: Option<String>,
    project: Project,
    how: SessionArgs,
    now: Lock<(u64, Arc<Opened>)>,
    opening: Mutex<()>,
}

impl Session {
    /// Opens the first session.
    pub(super) async fn open(
        upstream: Arc<Upstream>,
        org: Option<String>,
        project: &ProjectArg,
        how: SessionArgs,
    ) -> Result<Arc<Self>> {
        let place = workplace(&upstream, org.as_deref()).await?;
        let project = place.project(project).await?;
        let opened = place.open_session(&project.id, &how).await?;
        tracing::info!(session = opened.id, project = project.name, url = place.api.found().url, "session opened");
        let now = Lock::new((0, Arc::new(opened)));
        Ok(Arc::new(Self { upstream, org, project, how, now, opening: Mutex::default() }))
    }

    /// The current session and its number.
    pub(super) fn current(&self) -> (u64, Arc<Opened>) {
        self.now.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Replaces session number `seen` if it has expired, or if the server no longer has it. Returns whether there is a new session. A
    /// session that was ended explicitly is not replaced.
    pub(super) async fn renew(&self, seen: u64) -> bool {
        let _turn = self.opening.lock().await;
        let (number, old) = self.current();
        if number != seen {
            return true;
        }
        let opened = async {
            let place = workplace(&self.upstream, self.org.as_deref()).await?;
            if !has_expired(&place, &old).await? {
                return Ok(None);
            }
            place.open_session(&self.project.id, &self.how).await.map(Some)
        };
        match opened.await {
            Ok(Some(opened)) => {
                tracing::info!(session = opened.id, expired = old.id, "session expired; opened a new one");
                *self.now.lock().unwrap_or_else(PoisonError::into_inner) = (seen + 1, Arc::new(opened));
                true
            }
            Ok(None) => false,
            Err(error) => {
                tracing::warn!("{:#}", error.context("session expired, and a new one cannot be opened"));
                false
            }
        }
    }

    /// Ends the session, on another server if the first one is gone. A failure is only logged, because all responses were sent.
    pub(super) async fn end(&self) {
        let seen = self.upstream.current().0;
        let patience = if self.upstream.may_embed() { EMBED_WAIT } else { END_WAIT };
        let ended = match self.end_here().await {
            Err(_) if self.upstream.renew(seen, patience).await => self.end_here().await,
            ended => ended,
        };
        if let Err(error) = ended {
            tracing::warn!("{error:#}");
        }
    }

    /// Ends the session on the current server.
    async fn end_here(&self) -> Result<()> {
        let place = workplace(&self.upstream, self.org.as_deref()).await?;
        place.end_session(&self.current().1.id, None).await
    }
}

async fn workplace(upstream: &Upstream, org: Option<&str>) -> Result<Workplace> {
    Workplace::at(Api::new(upstream.current().1)?, org, false).await
}

/// Whether a session has expired, or the server no longer has it, for example after a restore. Asks the server, or uses the local
/// clock if the key may not read sessions.
async fn has_expired(place: &Workplace, session: &Opened) -> Result<bool> {
    let error = match place.api.get(&place.path(&format!("/sessions/{}", encode(&session.id)))).await {
        Ok(answer) => return Ok(answer.pointer("/session/state").and_then(Value::as_str) == Some("expired")),
        Err(error) => error,
    };
    match error.downcast_ref::<ApiError>().map(|refusal| refusal.status.as_u16()) {
        Some(403) => {
            let expires_at = Timestamp::parse_rfc3339(&session.expires_at);
            Ok(expires_at.is_some_and(|expires_at| expires_at <= Clock::system().now()))
        }
        Some(404) => Ok(true),
        _ => Err(error),
    }
}

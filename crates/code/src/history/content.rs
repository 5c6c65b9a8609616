//! Contents of versions, rebuilt from a whole content and deltas.

use base::{Error, Result};
use store::{OrgStore, params};

use super::{ChangeType, History, Version, delta, sql};
use crate::files::{FILE_BYTES_MAX, Sha256, unpack};

/// Versions from one whole content to the next.
pub(super) const WHOLE_EVERY: i64 = 20;

impl<R: AsRef<OrgStore>> History<R> {
    /// The content of a version. `None` if it is not kept, or the file is gone.
    pub(super) async fn content_of(&self, version: &Version) -> Result<Option<Vec<u8>>> {
        let Some(steps) = version.steps else { return Ok(None) };
        let (first, last) = (version.number.saturating_sub(steps), version.number);
        let range = params![self.project, version.path, first, last];
        let chain = self.rows().query(sql::CHAIN, &range, |row| row.get::<Option<Vec<u8>>>("content")).await?;
        let digest = version.sha256_after;
        store::compute(self.rows().org(), move || rebuild(chain, digest)).await?.map(Some)
    }

    /// The file in a version. `None` if its content is not kept.
    pub(super) async fn state_of(&self, version: &Version) -> Result<Option<State>> {
        if version.exists() { Ok(self.content_of(version).await?.map(Some)) } else { Ok(Some(None)) }
    }

    /// The file before `version`, where `before` is the version before it. `None` if that is not known.
    pub(super) async fn state_before(&self, version: &Version, before: Option<&Version>) -> Result<Option<State>> {
        match before {
            Some(before) => self.state_of(before).await,
            // History begins with a change of a file that was already there.
            None if version.change != ChangeType::Create => Ok(None),
            None => Ok(Some(None)),
        }
    }
}

/// A content, or that there is no file.
pub(super) type State = Option<Vec<u8>>;

/// The content at the end of a chain.
fn rebuild(chain: Vec<Option<Vec<u8>>>, digest: Option<Sha256>) -> Result<Vec<u8>> {
    let damaged = || Error::internal("a version cannot be rebuilt");
    let mut links = chain.into_iter();
    let whole = links.next().flatten().ok_or_else(damaged)?;
    let mut content = unpack(&whole, FILE_BYTES_MAX)?;
    for link in links {
        content = delta::apply(&content, &link.ok_or_else(damaged)?)?;
    }
    if Some(Sha256::of(&content)) == digest { Ok(content) } else { Err(damaged()) }
}

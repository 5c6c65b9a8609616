//! The compiled set of each org's policies: compiled once per content and shared by all orgs that have the same.

use std::sync::Arc;

use base::{Error, OrgId, Result, limits};
use policy::{Compiled, Document, Finding, Model, StatementInfo};
use quick_cache::sync::Cache;
use sha2::{Digest, Sha256};

use super::{Policy, sql};
use crate::guard::Guard;

/// What policies may speak of, and those that were compiled.
pub(crate) struct InForce {
    model: Arc<Model>,
    compiled: Cache<[u8; 32], Arc<Compiled>>,
}

impl InForce {
    pub(crate) fn new(model: Arc<Model>) -> Self {
        Self { model, compiled: Cache::new(limits::POLICY_SET_CACHE_MAX) }
    }

    pub(crate) fn model(&self) -> &Arc<Model> {
        &self.model
    }

    /// The statements of a text, or what is wrong with it. A long one takes its time, and not on a thread that serves others.
    pub(crate) async fn check(&self, cedar: &str) -> Result<std::result::Result<Vec<StatementInfo>, Vec<Finding>>> {
        let (model, cedar) = (Arc::clone(&self.model), cedar.to_owned());
        tokio::task::spawn_blocking(move || model.check(&cedar)).await.map_err(Error::internal)
    }

    pub(crate) async fn compile(&self, documents: Vec<Document>) -> Result<Arc<Compiled>> {
        let content = content_of(&documents);
        if let Some(compiled) = self.compiled.get(&content) {
            return Ok(compiled);
        }
        let compiled = self.compile_once(documents).await?;
        self.compiled.insert(content, Arc::clone(&compiled));
        Ok(compiled)
    }

    /// A set that is not kept: for one question, or because the caller keeps it.
    pub(crate) async fn compile_once(&self, documents: Vec<Document>) -> Result<Arc<Compiled>> {
        let model = Arc::clone(&self.model);
        tokio::task::spawn_blocking(move || Arc::new(model.compile(&documents))).await.map_err(Error::internal)
    }
}

impl Guard {
    /// The policies that decide in `org` now.
    pub(crate) async fn policies_in_force(&self, org: &OrgId) -> Result<Arc<Compiled>> {
        let policies = self.rows_of(org).query(sql::IN_FORCE, &[], Policy::from_row).await?;
        self.in_force.compile(policies.into_iter().filter_map(Policy::into_document).collect()).await
    }
}

impl Policy {
    pub(crate) fn into_document(self) -> Option<Document> {
        self.cedar.map(|cedar| Document { id: self.id, version: self.version, cedar, mode: self.mode })
    }
}

/// What makes two sets the same: names, versions, modes and texts, each with its length so that none runs into the next.
fn content_of(documents: &[Document]) -> [u8; 32] {
    let mut digest = Sha256::new();
    for document in documents {
        for part in [document.id.as_str(), document.mode.word(), document.cedar.as_str()] {
            digest.update(part.len().to_be_bytes());
            digest.update(part);
        }
        digest.update(document.version.to_be_bytes());
    }
    digest.finalize().into()
}

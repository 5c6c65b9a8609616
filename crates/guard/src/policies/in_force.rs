//! The compiled set of each org's policies: compiled once per content and shared by all orgs that have the same.

use std::sync::Arc;

use base::{Error, OrgId, Result, limits};
use policy::{Compiled, Document, Finding, Model, StatementInfo};
use quick_cache::sync::{Cache, DefaultLifecycle};
use quick_cache::{DefaultHashBuilder, OptionsBuilder, Weighter};
use sha2::{Digest, Sha256};

use super::{Policy, sql};
use crate::guard::Guard;

/// What policies may speak of, and those that were compiled.
pub(crate) struct InForce {
    model: Arc<Model>,
    compiled: Cache<Content, Arc<Compiled>, ByText>,
    /// What each org's policies came to at a change number: while that stands, their texts need not be read again.
    of_orgs: Cache<OrgId, (u64, Content)>,
}

/// The digest of a set of policies.
type Content = [u8; 32];

/// A compiled set takes memory in proportion to its text.
#[derive(Clone)]
struct ByText;

/// What a set without any text takes.
const SET_WEIGHT: u64 = 1_000;

impl Weighter<Content, Arc<Compiled>> for ByText {
    fn weight(&self, _: &Content, compiled: &Arc<Compiled>) -> u64 {
        SET_WEIGHT + compiled.text_bytes() as u64
    }
}

impl InForce {
    pub(crate) fn new(model: Arc<Model>) -> Result<Self> {
        let most = limits::POLICY_SET_CACHE_BYTES_MAX;
        let mut options = OptionsBuilder::new();
        // One part, because a part keeps nothing that is larger than itself, and a set that is not kept is compiled every time.
        options.shards(1).weight_capacity(most).estimated_items_capacity((most / SET_WEIGHT / 2) as usize);
        let options = options.build().map_err(Error::internal)?;
        let compiled = Cache::with_options(options, ByText, DefaultHashBuilder::default(), DefaultLifecycle::default());
        Ok(Self { model, compiled, of_orgs: Cache::new(limits::PRINCIPAL_CACHE_MAX) })
    }

    pub(crate) fn model(&self) -> &Arc<Model> {
        &self.model
    }

    /// The statements of a text, or what is wrong with it. A long one takes its time, and not on a thread that serves others.
    pub(crate) async fn check(&self, cedar: &str) -> Result<std::result::Result<Vec<StatementInfo>, Vec<Finding>>> {
        let (model, cedar) = (Arc::clone(&self.model), cedar.to_owned());
        store::compute(move || model.check(&cedar)).await
    }

    /// The compiled set. Of several who ask for the same at once, one compiles it.
    async fn compile(&self, content: Content, documents: Vec<Document>) -> Result<Arc<Compiled>> {
        self.compiled.get_or_insert_async(&content, self.compile_once(documents)).await
    }

    /// A set that is not kept: for one question, or because the caller keeps it.
    pub(crate) async fn compile_once(&self, documents: Vec<Document>) -> Result<Arc<Compiled>> {
        let model = Arc::clone(&self.model);
        store::compute(move || Arc::new(model.compile(&documents))).await
    }
}

impl Guard {
    /// The policies that decide in `org`, whose change number was read before: they may be newer than that, never older.
    pub(crate) async fn policies_in_force(&self, org: &OrgId, change_number: u64) -> Result<Arc<Compiled>> {
        if let Some((_, content)) = self.in_force.of_orgs.get(org).filter(|(number, _)| *number == change_number)
            && let Some(compiled) = self.in_force.compiled.get(&content)
        {
            return Ok(compiled);
        }
        let policies = self.rows_of(org).query(sql::IN_FORCE, &[], Policy::from_row).await?;
        let documents: Vec<_> = policies.into_iter().filter_map(Policy::into_document).collect();
        let content = content_of(&documents);
        let compiled = self.in_force.compile(content, documents).await?;
        self.in_force.of_orgs.insert(*org, (change_number, content));
        Ok(compiled)
    }
}

impl Policy {
    pub(crate) fn into_document(self) -> Option<Document> {
        self.cedar.map(|cedar| Document { id: self.id, version: self.version, cedar, mode: self.mode })
    }
}

/// What makes two sets the same: names, versions, modes and texts, each with its length so that none runs into the next.
fn content_of(documents: &[Document]) -> Content {
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

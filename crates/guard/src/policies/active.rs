//! The compiled policies of each org. Orgs with the same policies share one compiled set.

use std::pin::Pin;
use std::sync::Arc;

use base::{Error, OrgId, Result, limits};
use policy::{Compiled, Document, Finding, Model, StatementInfo};
use quick_cache::sync::{Cache, DefaultLifecycle};
use quick_cache::{DefaultHashBuilder, OptionsBuilder, Weighter};
use sha2::{Digest, Sha256};

use super::{Policy, sql};
use crate::guard::Guard;

/// The policy models of orgs. Orgs with different tools have different models.
pub trait Vocabulary: Send + Sync {
    /// The model of `org` at a change number that was read before. It may be newer than that number, but never older.
    fn model<'a>(&'a self, org: &'a OrgId, change_number: u64) -> Modelling<'a>;
}

/// The future of a model.
pub type Modelling<'a> = Pin<Box<dyn Future<Output = Result<Arc<Model>>> + Send + 'a>>;

/// The policy models, and the compiled policies.
pub(crate) struct ActivePolicies {
    vocabulary: Arc<dyn Vocabulary>,
    compiled: Cache<Content, Arc<Compiled>, ByText>,
    /// The digest of each org's policies at a change number. While the number stays the same, the texts need not be read again.
    of_orgs: Cache<OrgId, (u64, Content)>,
}

/// The digest of a set of policies.
type Content = [u8; 32];

/// A compiled set uses memory in proportion to its text.
#[derive(Clone)]
struct ByText;

/// The cost of a set without text.
const SET_WEIGHT: u64 = 1_000;

impl Weighter<Content, Arc<Compiled>> for ByText {
    fn weight(&self, _: &Content, compiled: &Arc<Compiled>) -> u64 {
        SET_WEIGHT + compiled.text_bytes() as u64
    }
}

impl ActivePolicies {
    pub(crate) fn new(vocabulary: Arc<dyn Vocabulary>) -> Result<Self> {
        let most = limits::POLICY_SET_CACHE_BYTES_MAX;
        let mut options = OptionsBuilder::new();
        // One shard, because a shard cannot keep an item larger than itself, and an uncached set is compiled every time.
        options.shards(1).weight_capacity(most).estimated_items_capacity((most / SET_WEIGHT / 2) as usize);
        let options = options.build().map_err(Error::internal)?;
        let compiled = Cache::with_options(options, ByText, DefaultHashBuilder::default(), DefaultLifecycle::default());
        Ok(Self { vocabulary, compiled, of_orgs: Cache::new(limits::PRINCIPAL_CACHE_MAX) })
    }
}

/// Parses the statements of a text, or returns its errors. Long texts take a while, so this does not run on a runtime thread.
pub(crate) async fn check(model: Arc<Model>, cedar: &str) -> Result<std::result::Result<Vec<StatementInfo>, Vec<Finding>>> {
    let cedar = cedar.to_owned();
    store::compute_policies(move || model.check(&cedar)).await
}

/// Compiles a set without caching it.
pub(crate) async fn compile_once(model: Arc<Model>, documents: Vec<Document>) -> Result<Arc<Compiled>> {
    store::compute_policies(move || Arc::new(model.compile(&documents))).await
}

impl Guard {
    /// The policy model of `org` at a change number that was read before.
    pub(crate) async fn model_of(&self, org: &OrgId, change_number: u64) -> Result<Arc<Model>> {
        self.active.vocabulary.model(org, change_number).await
    }

    /// The enforced and log-only policies of `org` at a change number that was read before. They may be newer than that number, but never
    /// older.
    pub(crate) async fn active_policies(&self, org: &OrgId, change_number: u64) -> Result<Arc<Compiled>> {
        if let Some((_, content)) = self.active.of_orgs.get(org).filter(|(number, _)| *number == change_number)
            && let Some(compiled) = self.active.compiled.get(&content)
        {
            return Ok(compiled);
        }
        let policies = self.rows_of(org).query(sql::IN_FORCE, &[], Policy::from_row).await?;
        let documents: Vec<_> = policies.into_iter().filter_map(Policy::into_document).collect();
        let model = self.model_of(org, change_number).await?;
        let content = content_of(&model, &documents);
        // Concurrent requests for the same set compile it only once.
        let compiled = self.active.compiled.get_or_insert_async(&content, compile_once(model, documents)).await?;
        self.active.of_orgs.insert(*org, (change_number, content));
        Ok(compiled)
    }
}

impl Policy {
    pub(crate) fn into_document(self) -> Option<Document> {
        self.cedar.map(|cedar| Document { id: self.id, version: self.version, cedar, mode: self.mode })
    }
}

/// The digest of a set: the model, and each policy's name, version, mode and text with their lengths, so that no two sets collide.
fn content_of(model: &Model, documents: &[Document]) -> Content {
    let mut digest = Sha256::new();
    digest.update(model.digest());
    for document in documents {
        for part in [document.id.as_str(), document.mode.word(), document.cedar.as_str()] {
            digest.update(part.len().to_be_bytes());
            digest.update(part);
        }
        digest.update(document.version.to_be_bytes());
    }
    digest.finalize().into()
}

//! The catalogue of each org: the server's tools, and tools that the org registered. It is rebuilt when the org's change number has
//! moved and the registered tools have changed. Orgs without registered tools share one catalogue.

use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::ops::Deref;
use std::sync::Arc;

use base::limits::CATALOGUE_CACHE_BYTES_MAX;
use base::{Error, OrgId, Result};
use guard::{Effect, Modelling, Vocabulary};
use policy::{ActionKind, ActionSpec, Model};
use quick_cache::sync::{Cache, DefaultLifecycle};
use quick_cache::{DefaultHashBuilder, OptionsBuilder, Weighter};
use tokio::sync::Mutex;
use tools::{Catalogue, Offer, Registered, Source};

/// An org's tools, and the policy model for them.
pub(crate) struct Menu {
    catalogue: Catalogue,
    model: Arc<Model>,
}

impl Menu {
    /// Builds the policy model of a catalogue, which takes a while for thousands of tools.
    pub(crate) fn new(catalogue: Catalogue) -> Result<Self> {
        let model = Arc::new(Model::build(catalogue.tools().iter().map(|tool| action(tool)))?);
        Ok(Self { catalogue, model })
    }
}

impl Deref for Menu {
    type Target = Catalogue;

    fn deref(&self) -> &Catalogue {
        &self.catalogue
    }
}

/// One typed action per tool.
fn action(tool: &Registered) -> ActionSpec<'_> {
    let spec = tool.spec();
    let kind = ActionKind::Tool { read_only: spec.effect == Effect::ReadOnly, destructive: spec.effect == Effect::Destructive };
    ActionSpec { name: &spec.name, kind, input_schema: tool.input_schema() }
}

/// The sources of orgs' registered tools.
#[derive(Clone, Default)]
pub struct Sources(pub Vec<Arc<dyn Source>>);

impl fmt::Debug for Sources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Sources").field(&self.0.len()).finish()
    }
}

/// The catalogues of all orgs.
pub(crate) struct Catalogues {
    common: Arc<Menu>,
    sources: Vec<Arc<dyn Source>>,
    kept: Cache<OrgId, Arc<Kept>, ByBytes>,
    /// Locks that make concurrent requests build a catalogue only once.
    making: [Mutex<()>; MAKERS],
    hasher: RandomState,
}

/// The most catalogues that are built at the same time.
const MAKERS: usize = 16;

/// An org's registered tools at a change number.
struct Kept {
    change_number: u64,
    offers: Vec<Offer>,
    menu: Arc<Menu>,
}

/// A cached catalogue uses memory in proportion to the org's registered tools.
#[derive(Clone)]
struct ByBytes;

/// The cost of an org without registered tools.
const ORG_WEIGHT: u64 = 500;
/// The memory of a tool relative to its text, with its part of the policy model.
const TOOL_FACTOR: u64 = 8;

impl Weighter<OrgId, Arc<Kept>> for ByBytes {
    fn weight(&self, _: &OrgId, kept: &Arc<Kept>) -> u64 {
        let tools = kept.offers.iter().flat_map(|offer| &offer.tools);
        ORG_WEIGHT + tools.map(|tool| tool.text_bytes() as u64 * TOOL_FACTOR).sum::<u64>()
    }
}

impl Catalogues {
    /// Creates catalogues with these common tools, where orgs can register more through `sources`.
    pub(crate) fn new(common: Catalogue, sources: Vec<Arc<dyn Source>>) -> Result<Self> {
        let most = CATALOGUE_CACHE_BYTES_MAX;
        let mut options = OptionsBuilder::new();
        // One shard, because a shard cannot keep an item larger than itself.
        options.shards(1).weight_capacity(most).estimated_items_capacity((most / ORG_WEIGHT / 8) as usize);
        let options = options.build().map_err(Error::internal)?;
        let kept = Cache::with_options(options, ByBytes, DefaultHashBuilder::default(), DefaultLifecycle::default());
        let making = std::array::from_fn(|_| Mutex::new(()));
        Ok(Self { common: Arc::new(Menu::new(common)?), sources, kept, making, hasher: RandomState::new() })
    }

    /// The tools that every org has.
    pub(crate) fn common(&self) -> &Menu {
        &self.common
    }

    /// The catalogue of `org` at a change number that was read before. It may be newer than that number, but never older.
    pub(crate) async fn of(&self, org: &OrgId, change_number: u64) -> Result<Arc<Menu>> {
        if self.sources.is_empty() {
            return Ok(Arc::clone(&self.common));
        }
        if let Some(menu) = self.fresh(org, change_number) {
            return Ok(menu);
        }
        let place = usize::try_from(self.hasher.hash_one(org)).unwrap_or(0) % MAKERS;
        let Some(making) = self.making.get(place) else { return Err(Error::internal("no lock for the catalogue")) };
        let _turn = making.lock().await;
        match self.fresh(org, change_number) {
            Some(menu) => Ok(menu),
            None => self.make(org, change_number).await,
        }
    }

    fn fresh(&self, org: &OrgId, change_number: u64) -> Option<Arc<Menu>> {
        self.kept.get(org).filter(|kept| kept.change_number == change_number).map(|kept| Arc::clone(&kept.menu))
    }

    async fn make(&self, org: &OrgId, change_number: u64) -> Result<Arc<Menu>> {
        let before = self.kept.get(org);
        let (mut offers, mut changed) = (Vec::with_capacity(self.sources.len()), before.is_none());
        for (place, source) in self.sources.iter().enumerate() {
            let known = before.as_ref().and_then(|kept| kept.offers.get(place));
            let offer = source.offer(org, known.map(|offer| offer.version)).await?;
            changed |= offer.is_some();
            offers.push(offer.or_else(|| known.cloned()).unwrap_or_default());
        }
        let menu = match before {
            Some(kept) if !changed => Arc::clone(&kept.menu),
            _ => self.menu_with(&offers).await?,
        };
        self.kept.insert(*org, Arc::new(Kept { change_number, offers, menu: Arc::clone(&menu) }));
        Ok(menu)
    }

    async fn menu_with(&self, offers: &[Offer]) -> Result<Arc<Menu>> {
        let own: Vec<_> = offers.iter().flat_map(|offer| offer.tools.iter().cloned()).collect();
        if own.is_empty() {
            return Ok(Arc::clone(&self.common));
        }
        let common = Arc::clone(&self.common);
        Ok(Arc::new(store::compute_policies(move || Menu::new(common.with(own))).await??))
    }
}

impl Vocabulary for Catalogues {
    fn model<'a>(&'a self, org: &'a OrgId, change_number: u64) -> Modelling<'a> {
        Box::pin(async move { Ok(Arc::clone(&self.of(org, change_number).await?.model)) })
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;
    use std::sync::atomic::{AtomicU64, Ordering};

    use base::{Scope, Timestamp};
    use guard::{Capability, Spec};
    use serde_json::{Value, json};
    use tools::{Call, Offering, Run, Running};

    use super::*;

    struct Nothing;

    impl Run for Nothing {
        fn run<'a>(&'a self, _: Call<'a>, _: Value) -> Running<'a> {
            Box::pin(async { Err(Error::internal("never called").into()) })
        }
    }

    fn tool(name: &str, aliases: &[&str]) -> Arc<Registered> {
        let spec = Spec {
            name: Cow::Owned(name.to_owned()),
            aliases: aliases.iter().map(|alias| (*alias).to_owned()).collect(),
            title: Cow::Borrowed("A tool"),
            description: Cow::Borrowed("Does something."),
            scope: Scope::BricksRead,
            needs: Capability::Always,
            effect: Effect::Additive,
            idempotent: false,
        };
        Arc::new(Registered::by_an_org(spec, json!({"type": "object"}), None, Nothing).unwrap())
    }

    /// A source where one org has as many tools as the version number.
    struct Growing {
        org: OrgId,
        version: AtomicU64,
        asked: AtomicU64,
    }

    impl Source for Growing {
        fn offer<'a>(&'a self, org: &'a OrgId, seen: Option<u64>) -> Offering<'a> {
            self.asked.fetch_add(1, Ordering::SeqCst);
            let version = if *org == self.org { self.version.load(Ordering::SeqCst) } else { 0 };
            let tools = move || (0..version).map(|number| tool(&format!("peer.skill_{number}"), &[])).collect();
            Box::pin(async move { Ok((seen != Some(version)).then(|| Offer { version, tools: tools() })) })
        }
    }

    fn org(number: i64) -> OrgId {
        OrgId::new(Timestamp::from_ms(number))
    }

    #[tokio::test]
    async fn catalogue_is_rebuilt_only_when_registered_tools_change() {
        let (own, other) = (org(1), org(2));
        let source = Arc::new(Growing { org: own, version: AtomicU64::new(2), asked: AtomicU64::new(0) });
        let catalogues = Catalogues::new(Catalogue::builtin().unwrap(), vec![Arc::clone(&source) as Arc<dyn Source>]).unwrap();
        let common = catalogues.common().tools().len();

        let first = catalogues.of(&own, 1).await.unwrap();
        assert_eq!(first.tools().len(), common + 2);
        assert_eq!(first.canonical("peer_skill_1"), Some("peer.skill_1"));
        assert!(Arc::ptr_eq(&first, &catalogues.of(&own, 1).await.unwrap()));
        assert_eq!(source.asked.load(Ordering::SeqCst), 1, "same change number, so the source is not asked");
        assert!(Arc::ptr_eq(&first, &catalogues.of(&own, 2).await.unwrap()), "the registered tools have not changed");

        source.version.store(1, Ordering::SeqCst);
        let second = catalogues.of(&own, 3).await.unwrap();
        assert_eq!(second.tools().len(), common + 1);
        assert!(second.find("peer.skill_1").is_err());
        assert_ne!(first.model.digest(), second.model.digest());
        source.version.store(0, Ordering::SeqCst);
        let none = catalogues.of(&own, 4).await.unwrap();
        assert!(Arc::ptr_eq(&none, &catalogues.common), "orgs without registered tools share the common catalogue");
        assert!(Arc::ptr_eq(&none, &catalogues.of(&other, 1).await.unwrap()));
    }

    #[test]
    fn taken_names_keep_their_tools() {
        let builtin = Catalogue::builtin().unwrap();
        let registered = [
            tool("bricks.list", &[]),
            tool("review.bricks", &["bricks_list", "re-view.bricks"]),
            tool("review.bricks", &[]),
            tool("other.tool", &["re-view.bricks"]),
        ];
        let with = builtin.with(registered);
        assert_eq!(with.tools().len(), builtin.tools().len() + 2);
        assert!(Arc::ptr_eq(with.find("bricks.list").unwrap(), builtin.find("bricks.list").unwrap()));
        assert_eq!(with.canonical("bricks_list"), Some("bricks.list"), "an alias does not take a name");
        assert_eq!(with.canonical("re-view.bricks"), Some("review.bricks"), "the first tool keeps it");
        assert_eq!(with.canonical("other.tool"), Some("other.tool"));
    }
}

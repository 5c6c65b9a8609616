//! Fills projects with entities, triplets and vectors while no server runs, because stating and embedding a million facts would
//! take hours.
//!
//! A few texts are embedded. Every other vector is one of theirs plus noise.

use std::path::Path;

use anyhow::{Context, Result};
use base::{Clock, EntityId, Timestamp, TripletId};
use search::embed::{Embedder, MiniLm};
use store::{Store, StoreConfig, Tx, params};

use crate::graph::Random;
use crate::sql;
use crate::words::Words;

/// A project to fill.
pub(crate) struct Seed {
    pub(crate) project: String,
    pub(crate) triplets: usize,
}

pub(crate) const TRIPLETS_PER_ENTITY: usize = 5;
pub(crate) const RELATIONSHIPS: [&str; 8] =
    ["depends_on", "owned_by", "calls", "replaced_by", "reads_from", "writes_to", "tested_by", "configured_in"];
const START: Timestamp = Timestamp::from_ms(1_750_000_000_000);
/// The number of texts to embed, and the length of the noise that is added to their vectors.
const EMBEDDED: usize = 400;
const NOISE: f32 = 0.6;
const CHUNK: usize = 10_000;

/// The number of entities of a graph.
pub(crate) fn entities(triplets: usize) -> usize {
    (triplets / TRIPLETS_PER_ENTITY).max(2)
}

/// The name of entity number `entity`.
pub(crate) fn name(entity: usize) -> String {
    format!("{} {entity}", Words::thing(entity))
}

/// The relationship of triplet number `triplet`.
pub(crate) fn relationship(triplet: usize) -> &'static str {
    RELATIONSHIPS.get(triplet % RELATIONSHIPS.len()).copied().unwrap_or("depends_on")
}

/// Writes the rows of all projects.
pub(crate) async fn fill(database: &Path, org: &str, seeds: &[Seed]) -> Result<()> {
    let model = MiniLm::bundled()?;
    let mut words = Words::new(29);
    let centres: Vec<Vec<f32>> = (0..EMBEDDED).map(|number| model.vector(&words.note(number)).to_vec()).collect();
    let store = open(database).await?;
    for seed in seeds {
        let filling = Filling::new(org, seed, model.model());
        for first in (0..filling.texts()).step_by(CHUNK) {
            let (filling, centres) = (filling.clone(), centres.clone());
            let write = move |tx: &mut Tx<'_>| filling.write(tx, first, &centres);
            store.write_instance(write).await?;
        }
        let (org, project, last) = (org.to_owned(), seed.project.clone(), i64::try_from(2 * filling.texts())?);
        store.write_instance(move |tx| tx.execute(sql::FILL_CHANGES, &params![org, project, last])).await?;
    }
    store.close().await;
    Ok(())
}

async fn open(database: &Path) -> Result<Store> {
    let config = StoreConfig::Sqlite { path: database.to_owned() };
    Store::open(&config, &Clock::system()).await.context("cannot open the database to fill")
}

/// The rows of one project. Entities are numbered before triplets, and all of them before their vectors.
#[derive(Clone)]
struct Filling {
    org: String,
    project: String,
    model: String,
    entities: usize,
    triplets: usize,
}

impl Filling {
    fn new(org: &str, seed: &Seed, model: &str) -> Self {
        let (org, project, model) = (org.to_owned(), seed.project.clone(), model.to_owned());
        Self { org, project, model, entities: entities(seed.triplets), triplets: seed.triplets }
    }

    fn texts(&self) -> usize {
        self.entities + self.triplets
    }

    fn write(&self, tx: &mut Tx<'_>, first: usize, centres: &[Vec<f32>]) -> base::Result<()> {
        let (mut random, mut words) = (Random::new(first as u64), Words::new(first as u64 + 31));
        for place in first..(first + CHUNK).min(self.texts()) {
            let number = place as i64 + 1;
            match place.checked_sub(self.entities) {
                None => self.entity(tx, place, number)?,
                Some(triplet) => self.triplet(tx, triplet, number, &mut random, &mut words)?,
            }
            let (change, vector) = (number + self.texts() as i64, words.near_unit(centres, NOISE));
            let bytes: Vec<u8> = vector.iter().flat_map(|part| ((part * 32_767.0) as i16).to_le_bytes()).collect();
            let (dimension, bytes) = (vector.len() as i64, bytes.as_slice());
            tx.execute(sql::FILL_VECTOR, &params![self.org, self.project, number, change, self.model, dimension, bytes])?;
        }
        Ok(())
    }

    fn entity(&self, tx: &mut Tx<'_>, entity: usize, number: i64) -> base::Result<()> {
        let (id, name) = (EntityId::new(START), name(entity));
        tx.execute(sql::FILL_ENTITY, &params![self.org, self.project, number, id, name, START])?;
        tx.execute(sql::FILL_NAME, &params![self.org, self.project, name, number]).map(drop)
    }

    fn triplet(&self, tx: &mut Tx<'_>, triplet: usize, number: i64, random: &mut Random, words: &mut Words) -> base::Result<()> {
        let [source, target] = [random.end(self.entities) as usize, random.end(self.entities) as usize];
        let (id, relationship, description) = (TripletId::new(START), relationship(triplet), words.note(triplet));
        let text = format!("{} {} {}. {description}", name(source), relationship.replace('_', " "), name(target));
        let (source, target) = (source as i64 + 1, target as i64 + 1);
        let row = params![self.org, self.project, number, id, source, relationship, target, description, text, START];
        tx.execute(sql::FILL_TRIPLET, &row).map(drop)
    }
}

//! Stores an observation.

use base::{ObservationId, Result};
use store::{Change, OrgTx, params};

use super::echo::{self, Given};
use super::observation::Checked;
use super::{Memory, NewObservation, Observation, sql, text};
use crate::embedding::TextKind;
use crate::graph::{self, rules};
use crate::{Error, changes, sql as shared};
use base::Author;

/// The maximum size of recalled texts that a new text is compared with, sentence by sentence. It is hundreds of recalls.
const GIVEN_BYTES_MAX: usize = 1 << 20;

/// The maximum number of nearly equal texts to compare word by word.
const NEAR_MAX: usize = 16;

/// The result of storing an observation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remembered {
    /// The observation: a new one, or an existing one with the same text.
    pub id: ObservationId,
    /// Whether it is new.
    pub stored: bool,
    /// Whether the same text was already stored.
    pub duplicate: bool,
    /// An observation with nearly the same text.
    pub near: Option<ObservationId>,
}

impl Remembered {
    fn known(id: ObservationId) -> Self {
        Self { id, stored: false, duplicate: true, near: None }
    }
}

impl Memory<Change> {
    /// Stores what `author` noted, unless it is known: the same agent stored it before, or this session got it by recall.
    pub async fn remember(&self, author: &Author, new: NewObservation) -> Result<Remembered, Error> {
        let new = new.checked()?;
        if let Some(known) = self.given_back(author, &new).await? {
            return Ok(Remembered::known(known));
        }
        let (memory, author) = (self.clone(), author.clone());
        Ok(self.rows.write(move |tx| memory.keep(tx, &author, &new)).await?)
    }

    /// Stores the text of a decision in the transaction that records it, unless it is known. Only a text that this session got
    /// exactly so is a given one: forgetting an observation must reach every decision with its text.
    pub(crate) fn keep_decision(&self, tx: &mut OrgTx<'_, '_>, author: &Author, new: &Checked) -> Result<ObservationId> {
        let given = tx.first(sql::GIVEN_EXACTLY, &params![author.session, self.project, new.hash], |row| {
            Ok(ObservationId::from_row(row.text("id")?))
        })?;
        match given {
            Some(known) => Ok(known),
            None => Ok(self.keep(tx, author, new)?.id),
        }
    }

    fn keep(&self, tx: &mut OrgTx<'_, '_>, author: &Author, new: &Checked) -> Result<Remembered> {
        let id_of = |row: &store::Row<'_>| Ok(ObservationId::from_row(row.text("id")?));
        if let Some(known) = tx.first(sql::SAID_BEFORE, &params![self.project, new.hash, author.agent], id_of)? {
            return Ok(Remembered::known(known));
        }
        let now = self.clock.now();
        let (id, number) = (ObservationId::new(now), changes::next(tx, &self.project)?);
        let others = tx.query(sql::SAID_BY_OTHERS, &params![self.project, new.hash], |row| row.get::<i64>("number"))?;
        for other in &others {
            let change = changes::next(tx, &self.project)?;
            tx.execute(sql::CORROBORATE, &params![self.project, other, change])?;
        }
        let near = self.nearly_said(tx, new)?;
        let corroborations = i64::try_from(others.len()).unwrap_or(i64::MAX);
        tx.execute(
            sql::INSERT,
            &params![
                self.project,
                number,
                id,
                author.agent,
                author.session,
                new.content,
                new.hash,
                new.simhash,
                new.kind,
                new.confidence,
                corroborations,
                now
            ],
        )?;
        tx.execute(shared::ENQUEUE, &params![self.project, number, TextKind::Observation, number])?;
        let facts = if self.reads_facts { rules::facts_in(&new.content) } else { Vec::new() };
        if !facts.is_empty() {
            graph::ingest_in(tx, self.project, author, now, Some(id), &facts)?;
        }
        Ok(Remembered { id, stored: true, duplicate: false, near })
    }

    /// The observation that the session got by recall and now sends back: exactly, nearly and without a new word, or with others
    /// and with what our answers add. A correction is stored.
    async fn given_back(&self, author: &Author, new: &Checked) -> Result<Option<ObservationId>> {
        let given = |row: &store::Row<'_>| Ok((row.get::<String>("id")?, row.get::<String>("hash")?, row.get::<i64>("simhash")?));
        let asked = params![author.session, self.project];
        let hashes = self.rows().query(sql::GIVEN, &asked, given).await?;
        if let Some((id, ..)) = hashes.iter().find(|(_, hash, _)| *hash == new.hash) {
            return Ok(Some(ObservationId::from_row(id)));
        }
        let is_near = |simhash: i64| text::is_near(simhash.cast_unsigned(), new.simhash.cast_unsigned());
        for (id, ..) in hashes.iter().filter(|(.., simhash)| is_near(*simhash)).take(NEAR_MAX) {
            let id = ObservationId::from_row(id);
            let known = self.rows().first(sql::BY_ID, &params![self.project, id], Observation::from_row).await?;
            if known.is_some_and(|known| text::says_no_more(&new.content, &known.content)) {
                return Ok(Some(id));
            }
        }
        if hashes.is_empty() {
            return Ok(None);
        }
        let mut bytes = 0;
        let texts = |row: &store::Row<'_>| {
            bytes += row.text("content")?.len();
            let given = (bytes <= GIVEN_BYTES_MAX)
                .then(|| Ok(Given { observation: Observation::from_row(row)?, hash: row.get("given_hash")? }));
            given.transpose()
        };
        let given: Vec<Given> = self.rows().query(sql::GIVEN_TEXTS, &asked, texts).await?.into_iter().flatten().collect();
        let (sent, shown) = (new.content.clone(), self.shown.clone());
        store::compute(self.rows().org(), move || echo::find(&sent, &given, shown.as_deref())).await
    }

    /// A recent observation of the project with nearly the same text. It is only reported, because two texts that differ in one
    /// word may differ in the word that matters.
    fn nearly_said(&self, tx: &mut OrgTx<'_, '_>, new: &Checked) -> Result<Option<ObservationId>> {
        if new.simhash == 0 {
            return Ok(None);
        }
        let recent = |row: &store::Row<'_>| Ok((row.get::<String>("id")?, row.get::<i64>("simhash")?));
        let recent = tx.query(sql::RECENT_SIMHASHES, &params![self.project], recent)?;
        let near = recent.iter().find(|(_, simhash)| text::is_near(simhash.cast_unsigned(), new.simhash.cast_unsigned()));
        Ok(near.map(|(id, _)| ObservationId::from_row(id)))
    }
}

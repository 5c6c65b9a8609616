//! Taking an observation in.

use base::{ObservationId, Result};
use store::{OrgTx, params};

use super::observation::Checked;
use super::{Memory, NewObservation, Observation, sql, text};
use crate::author::Author;
use crate::embedding::TextKind;
use crate::graph::{self, rules};
use crate::{changes, sql as shared};

/// What became of an observation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remembered {
    /// The observation: a new one, or the one that was there already.
    pub id: ObservationId,
    /// Whether it was new.
    pub stored: bool,
    /// Whether the same text was there already.
    pub duplicate: bool,
    /// An observation that says nearly the same.
    pub near: Option<ObservationId>,
}

impl Remembered {
    fn known(id: ObservationId) -> Self {
        Self { id, stored: false, duplicate: true, near: None }
    }
}

impl Memory {
    /// Keeps what `author` noted, unless it is known: the same agent said it before, or this very session was given it.
    pub async fn remember(&self, author: &Author, new: NewObservation) -> Result<Remembered> {
        let new = new.checked()?;
        let (memory, author) = (self.clone(), author.clone());
        self.rows.write(move |tx| memory.keep(tx, &author, &new)).await
    }

    fn keep(&self, tx: &mut OrgTx<'_, '_>, author: &Author, new: &Checked) -> Result<Remembered> {
        if let Some(known) = self.given_back(tx, author, new)? {
            return Ok(Remembered::known(known));
        }
        let id_of = |row: &store::Row<'_>| Ok(ObservationId::from_row(row.text(0)?));
        if let Some(known) = tx.first(sql::SAID_BEFORE, &params![self.project, new.hash, author.agent], id_of)? {
            return Ok(Remembered::known(known));
        }
        let now = self.clock.now();
        let (id, number) = (ObservationId::new(now), changes::next(tx, &self.project)?);
        let others = tx.query(sql::SAID_BY_OTHERS, &params![self.project, new.hash], |row| row.get::<i64>(0))?;
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

    /// What the session was given by recall and now sends back, to the letter, or nearly and with nothing new in it: a correction
    /// differs in one word, and is kept.
    fn given_back(&self, tx: &mut OrgTx<'_, '_>, author: &Author, new: &Checked) -> Result<Option<ObservationId>> {
        let given = |row: &store::Row<'_>| Ok((row.get::<String>(0)?, row.get::<String>(1)?, row.get::<i64>(2)?));
        for (id, hash, simhash) in tx.query(sql::GIVEN, &params![author.session, self.project], given)? {
            let id = ObservationId::from_row(&id);
            if hash == new.hash {
                return Ok(Some(id));
            }
            if text::is_near(simhash.cast_unsigned(), new.simhash.cast_unsigned()) {
                let known = tx.first(sql::BY_ID, &params![self.project, id], Observation::from_row)?;
                if known.is_some_and(|known| !text::says_more(&new.content, &known.content)) {
                    return Ok(Some(id));
                }
            }
        }
        Ok(None)
    }

    /// A recent observation of the project that says nearly the same. It is only pointed out: two that differ in one word may
    /// differ in the word that matters.
    fn nearly_said(&self, tx: &mut OrgTx<'_, '_>, new: &Checked) -> Result<Option<ObservationId>> {
        if new.simhash == 0 {
            return Ok(None);
        }
        let recent = |row: &store::Row<'_>| Ok((row.get::<String>(0)?, row.get::<i64>(1)?));
        let recent = tx.query(sql::RECENT_SIMHASHES, &params![self.project], recent)?;
        let near = recent.iter().find(|(_, simhash)| text::is_near(simhash.cast_unsigned(), new.simhash.cast_unsigned()));
        Ok(near.map(|(id, _)| ObservationId::from_row(id)))
    }
}

//! Imports observations from elsewhere: another project's export, or people's notes.
//!
//! The original author and session are stored with the prefix `import:`. No local name has it: agents have ids, and labels have
//! the prefix `label:`. So an import never speaks in the name of someone here, and the audit trail records who imported it. A
//! text that its author already stored here, or that was imported before, is a duplicate.

use std::collections::{HashMap, HashSet};

use base::limits::{AUTHOR_CHARS_MAX, IMPORT_LINES_MAX};
use base::{ObservationId, Result, Timestamp};
use store::{AsParam, Change, OrgTx, Param, params};

use super::observation::Checked;
use super::{Memory, NewObservation, sql};
use crate::{Error, Origin, changes};

/// The prefix of an author or a session from elsewhere.
pub(crate) const PREFIX: &str = "import:";
/// The author or the session if an import names none.
const UNNAMED: &str = "import";
/// The number of texts that are looked up at once.
const TEXTS_AT_ONCE: usize = 16;
/// A digest that no text has.
const NOTHING: &str = "-";

/// An observation from elsewhere.
#[derive(Clone, Debug, Default)]
pub struct Import {
    /// The observation.
    pub new: NewObservation,
    /// Its weight. The maximum if absent.
    pub weight: Option<f64>,
    /// The original author.
    pub agent: Option<String>,
    /// The original session.
    pub session: Option<String>,
    /// When it was made. Now if absent.
    pub created_at: Option<Timestamp>,
    /// Its line number in the file, for error messages.
    pub line: u64,
}

/// The result of an import.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Imported {
    /// Observations that are new here.
    pub imported: u64,
    /// Observations that were already here, or came twice.
    pub duplicates: u64,
}

/// A validated and normalised import.
#[derive(Debug)]
struct Brought {
    new: Checked,
    weight: f64,
    /// The original author.
    original: Option<String>,
    agent: String,
    session: String,
    created_at: Timestamp,
}

/// A text of an import, and who has stored it here.
#[derive(Default)]
struct Said {
    agents: HashSet<String>,
    before: i64,
    new: i64,
}

impl Import {
    fn checked(self, now: Timestamp) -> Result<Brought, Error> {
        let line = self.line;
        self.brought(now).map_err(|refusal| Error::InLine { line, refusal: Box::new(refusal) })
    }

    fn brought(self, now: Timestamp) -> Result<Brought, Error> {
        let weight = self.weight.unwrap_or(1.0);
        if !(0.0..=1.0).contains(&weight) {
            return Err(Error::BadWeight);
        }
        let created_at = self.created_at.unwrap_or(now);
        if created_at > now {
            return Err(Error::MadeInFuture { created_at, now });
        }
        let (agent, session) = (original(self.agent, Origin::Agent)?, original(self.session, Origin::Session)?);
        Ok(Brought {
            new: self.new.checked()?,
            weight,
            agent: from_elsewhere(agent.as_deref()),
            session: from_elsewhere(session.as_deref()),
            original: agent,
            created_at,
        })
    }
}

/// The original name: a name that was already imported there does not get a second prefix.
fn original(name: Option<String>, origin: Origin) -> Result<Option<String>, Error> {
    let Some(name) = name else { return Ok(None) };
    let name = name.trim_start_matches(PREFIX);
    if name.is_empty() || name == UNNAMED {
        return Ok(None);
    }
    if name.chars().count() > AUTHOR_CHARS_MAX - PREFIX.len() || name.chars().any(char::is_control) {
        return Err(Error::BadOrigin { origin });
    }
    Ok(Some(name.to_owned()))
}

fn from_elsewhere(original: Option<&str>) -> String {
    original.map_or_else(|| UNNAMED.to_owned(), |name| format!("{PREFIX}{name}"))
}

impl Memory<Change> {
    /// Stores observations from elsewhere in the given order, all or none. Importing them again changes nothing.
    pub async fn import(&self, lines: Vec<Import>) -> Result<Imported, Error> {
        if lines.len() > IMPORT_LINES_MAX {
            return Err(Error::TooManyLines);
        }
        let now = self.clock.now();
        // Normalising and hashing many texts takes time, so it runs on another thread.
        let check = move || lines.into_iter().map(|line| line.checked(now)).collect::<Result<Vec<_>, Error>>();
        let lines = store::compute(self.rows.org(), check).await??;
        let memory = self.clone();
        Ok(self.rows.write(move |tx| memory.bring(tx, &lines, now)).await?)
    }

    fn bring(&self, tx: &mut OrgTx<'_, '_>, lines: &[Brought], now: Timestamp) -> Result<Imported> {
        let (news, texts) = self.news_among(tx, lines)?;
        let count = i64::try_from(news.len()).unwrap_or(i64::MAX);
        let imported = Imported { imported: news.len() as u64, duplicates: (lines.len() - news.len()) as u64 };
        if news.is_empty() {
            return Ok(imported);
        }
        let first = changes::take(tx, &self.project, count)?;
        for (hash, said) in texts.iter().filter(|(_, said)| said.new > 0 && said.before > 0) {
            tx.execute(sql::CORROBORATE_TEXT, &params![self.project, hash, said.new])?;
        }
        for (number, line) in (first..).zip(news) {
            let Brought { new, weight, agent, session, created_at, .. } = line;
            let corroborations = texts.get(new.hash.as_str()).map_or(0, |said| said.before + said.new - 1);
            let (id, kind) = (ObservationId::new(now), &new.kind);
            let author = params![self.project, number, id, agent, session];
            let text = params![new.content, new.hash, new.simhash, kind, new.confidence, weight, corroborations, created_at];
            tx.execute(sql::IMPORT, &[&author[..], &text[..]].concat())?;
        }
        tx.execute(sql::ENQUEUE_FROM, &params![self.project, first])?;
        Ok(imported)
    }

    /// The lines that are new here, and for each text who has stored it: authors before, and how many now.
    fn news_among<'l>(&self, tx: &mut OrgTx<'_, '_>, lines: &'l [Brought]) -> Result<(Vec<&'l Brought>, HashMap<&'l str, Said>)> {
        let mut texts = self.said_before(tx, lines)?;
        let mut news = Vec::new();
        for line in lines {
            let said = texts.entry(&line.new.hash).or_default();
            // Importing a project's own export must not count as corroboration.
            let is_at_home = line.original.as_ref().is_some_and(|original| said.agents.contains(original));
            if !is_at_home && said.agents.insert(line.agent.clone()) {
                said.new += 1;
                news.push(line);
            }
        }
        Ok((news, texts))
    }

    fn said_before<'l>(&self, tx: &mut OrgTx<'_, '_>, lines: &'l [Brought]) -> Result<HashMap<&'l str, Said>> {
        let mut texts: HashMap<&str, Said> = lines.iter().map(|line| (line.new.hash.as_str(), Said::default())).collect();
        let hashes: Vec<&str> = texts.keys().copied().collect();
        for some in hashes.chunks(TEXTS_AT_ONCE) {
            let asked = some.iter().copied().chain(std::iter::repeat(NOTHING)).take(TEXTS_AT_ONCE);
            let params: Vec<_> = std::iter::once(self.project.as_param()).chain(asked.map(Param::Text)).collect();
            let said = tx.query(sql::SAID_BY, &params, |row| Ok((row.get::<String>("hash")?, row.get::<String>("agent_id")?)))?;
            for (hash, agent) in said {
                if let Some(said) = texts.get_mut(hash.as_str()) {
                    said.before += 1;
                    said.agents.insert(agent);
                }
            }
        }
        Ok(texts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(change: impl FnOnce(&mut Import)) -> Result<Brought, String> {
        let new = NewObservation { content: "text".into(), ..NewObservation::default() };
        let mut line = Import { new, line: 7, ..Import::default() };
        change(&mut line);
        line.checked(Timestamp::from_ms(1_000)).map_err(|error| error.to_string())
    }

    #[test]
    fn imported_authors_differ_from_local_ones() {
        let named = |agent: &str| line(|line| line.agent = Some(agent.into())).unwrap().agent;
        assert_eq!(named("agt_1"), "import:agt_1");
        assert_eq!(named("label:builder"), "import:label:builder");
        assert_eq!(named("import:import:agt_1"), "import:agt_1", "however often it moved");
        assert_eq!([named("import"), named("import:"), named("")], ["import"; 3]);
        let nobody = line(|_| ()).unwrap();
        assert_eq!((nobody.agent.as_str(), nobody.session.as_str(), nobody.original), ("import", "import", None));
    }

    #[test]
    fn errors_name_the_line() {
        let wrong = |change: fn(&mut Import)| line(change).unwrap_err();
        assert_eq!(wrong(|line| line.weight = Some(1.5)), "line 7: weight must be a number from 0 to 1");
        assert_eq!(wrong(|line| line.weight = Some(f64::NAN)), "line 7: weight must be a number from 0 to 1");
        assert!(wrong(|line| line.new.content.clear()).starts_with("line 7: `content` is empty"));
        assert!(wrong(|line| line.created_at = Some(Timestamp::from_ms(1_001))).contains("is in the future"));
        assert!(wrong(|line| line.agent = Some("a".repeat(194))).contains("at most 193 characters"));
        assert!(wrong(|line| line.session = Some("a\nb".into())).contains("no control characters"));
        assert_eq!(line(|line| line.created_at = Some(Timestamp::from_ms(1_000))).unwrap().created_at.ms(), 1_000);
    }
}

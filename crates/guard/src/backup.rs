//! What a backup must bear out: its secrets open with the master key, and its audit trails verify.

use std::borrow::Cow;
use std::collections::HashMap;

use audit::{Checkpoint, Entry, Event, Jwk, Jwks, Verifier, VerifyingKey};
use base::{Error, Kind, OrgId, Result, Timestamp};
use store::Param;
use store::backup::{Section, SectionKind, Visitor};

use crate::audit::place_of;
use crate::master::MasterKey;
use crate::vault::Vault;

/// Longest line of a file of checkpoints that is looked at: one has a few hundred bytes.
const LINE_BYTES_MAX: usize = 64 * 1024;
/// Broken trails that are named; the rest is counted.
const NAMED_MAX: usize = 20;

const KEY_COLUMNS: [&str; 7] = ["org_id", "kid", "public_key", "sealed_seed", "created_at", "revoked_at", "revoked_reason"];
const EVENT_COLUMNS: [&str; 15] = [
    "org_id",
    "sequence",
    "id",
    "occurred_at",
    "event_type",
    "actor_type",
    "actor_id",
    "entity_type",
    "entity_id",
    "request_id",
    "payload",
    "prev_hash",
    "entry_hash",
    "signature",
    "kid",
];

/// An audit trail that does not verify.
#[derive(Clone, Debug)]
pub struct BrokenTrail {
    /// The org.
    pub org: String,
    /// The first bad entry, when one is at fault.
    pub sequence: Option<u64>,
    /// What is wrong.
    pub message: String,
}

/// What was found about the audit trails in a backup.
#[derive(Clone, Debug, Default)]
pub struct Trails {
    /// How many orgs have one.
    pub orgs: u64,
    /// How many entries verify.
    pub entries: u64,
    /// How many trails do not verify.
    pub broken_count: u64,
    /// The first of these.
    pub broken: Vec<BrokenTrail>,
}

/// Looks at a backup as it is read.
pub struct BackupCheck {
    master: Option<(String, Vault)>,
    allow_broken: bool,
    looking: Looking,
    keys: HashMap<String, Vec<Jwk>>,
    /// The newest checkpoint of each org.
    newest: HashMap<String, Checkpoint>,
    following: Option<(String, Box<Verifier>)>,
    trails: Trails,
}

/// What is passing by.
enum Looking {
    Away,
    Instance([usize; 2]),
    Keys([usize; KEY_COLUMNS.len()]),
    Events([usize; EVENT_COLUMNS.len()]),
    Checkpoints { org: String, line: Vec<u8>, last: Vec<u8> },
}

impl BackupCheck {
    /// Checks trails, and with a master key also that it is the one the data was written with. A broken trail is an error at the end
    /// of the backup, unless it is allowed.
    pub fn new(master: Option<&MasterKey>, allow_broken: bool) -> Self {
        Self {
            master: master.map(|key| (key.fingerprint(), Vault::new(key))),
            allow_broken,
            looking: Looking::Away,
            keys: HashMap::new(),
            newest: HashMap::new(),
            following: None,
            trails: Trails::default(),
        }
    }

    /// What was found.
    pub fn into_trails(self) -> Trails {
        self.trails
    }

    fn instance(&self, name: &str, value: &str) -> Result<()> {
        match &self.master {
            Some((fingerprint, _)) if name == "master_key" && value != fingerprint => Err(wrong_key()),
            _ => Ok(()),
        }
    }

    fn key(&mut self, row: &Texts<'_, '_>) -> Result<()> {
        let (org, kid) = (row.text(0)?, row.text(1)?);
        if let (Some((_, vault)), Some(sealed), Some(id)) = (&self.master, row.maybe(3)?, OrgId::parse(org)) {
            vault.open(&place_of(&id, kid), sealed).map_err(|_| wrong_key())?;
        }
        let key = VerifyingKey::parse(row.text(2)?).ok_or_else(|| damaged("a public key is none"))?;
        let jwk = Jwk::new(key, Timestamp::from_ms(row.int(4)?));
        let jwk = match row.maybe_int(5)? {
            Some(at) => jwk.revoked(Timestamp::from_ms(at), row.maybe(6)?.map(str::to_owned)),
            None => jwk,
        };
        self.keys.entry(org.to_owned()).or_default().push(jwk);
        Ok(())
    }

    fn event(&mut self, row: &Texts<'_, '_>) -> Result<()> {
        let org = row.text(0)?;
        if self.following.as_ref().is_none_or(|(followed, _)| followed != org) {
            self.conclude();
            let verifier = self.verifier(org);
            self.following = Some((org.to_owned(), verifier));
        }
        let text = |index| row.text(index).map(Cow::Borrowed);
        let maybe = |index| Ok::<_, Error>(row.maybe(index)?.map(Cow::Borrowed));
        let event = Event {
            id: text(2)?,
            workspace: text(0)?,
            occurred_at: Timestamp::from_ms(row.int(3)?),
            event_type: text(4)?,
            actor_type: text(5)?,
            actor_id: maybe(6)?,
            entity_type: maybe(7)?,
            entity_id: maybe(8)?,
            request_id: maybe(9)?,
            payload: text(10)?,
        };
        let entry = Entry {
            event,
            sequence: row.int(1)?.unsigned_abs(),
            prev_hash: text(11)?,
            entry_hash: text(12)?,
            signature: text(13)?,
            kid: text(14)?,
        };
        if let Some((_, verifier)) = &mut self.following {
            verifier.push(&entry);
        }
        Ok(())
    }

    fn verifier(&mut self, org: &str) -> Box<Verifier> {
        let jwks = Jwks { keys: self.keys.get(org).cloned().unwrap_or_default() };
        Box::new(Verifier::new(&jwks, self.newest.remove(org), Some(org)))
    }

    /// The verdict on the trail that was followed last.
    fn conclude(&mut self) {
        let Some((org, verifier)) = self.following.take() else { return };
        let report = verifier.finish();
        self.trails.orgs += 1;
        self.trails.entries += report.event_count;
        if let Some(broken) = report.broken_at {
            self.trails.broken_count += 1;
            if self.trails.broken.len() < NAMED_MAX {
                self.trails.broken.push(BrokenTrail { org, sequence: broken.sequence, message: broken.message });
            }
        }
    }
}

impl Visitor for BackupCheck {
    fn table(&mut self, name: &str, columns: &[String]) -> Result<()> {
        self.looking = match name {
            "instance" => Looking::Instance(places(columns, ["name", "value"])?),
            "audit_keys" => Looking::Keys(places(columns, KEY_COLUMNS)?),
            "audit_events" => Looking::Events(places(columns, EVENT_COLUMNS)?),
            _ => Looking::Away,
        };
        Ok(())
    }

    fn row(&mut self, values: &[Param<'_>]) -> Result<()> {
        match self.looking {
            Looking::Instance(places) => {
                let row = Texts { values, places: &places };
                self.instance(row.text(0)?, row.text(1)?)
            }
            Looking::Keys(places) => self.key(&Texts { values, places: &places }),
            Looking::Events(places) => self.event(&Texts { values, places: &places }),
            Looking::Away | Looking::Checkpoints { .. } => Ok(()),
        }
    }

    fn file(&mut self, name: &str) -> Result<()> {
        let org = name.strip_prefix("checkpoints/").and_then(|name| name.strip_suffix(".jsonl"));
        self.looking = match org {
            Some(org) => Looking::Checkpoints { org: org.to_owned(), line: Vec::new(), last: Vec::new() },
            None => Looking::Away,
        };
        Ok(())
    }

    fn bytes(&mut self, bytes: &[u8]) -> Result<()> {
        let Looking::Checkpoints { line, last, .. } = &mut self.looking else { return Ok(()) };
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            if line.len() + piece.len() > LINE_BYTES_MAX {
                return Err(damaged("a checkpoint is longer than any may be"));
            }
            line.extend_from_slice(piece);
            if line.ends_with(b"\n") {
                *last = std::mem::take(line);
            }
        }
        Ok(())
    }

    fn section_end(&mut self, section: &Section) -> Result<()> {
        let looking = std::mem::replace(&mut self.looking, Looking::Away);
        match looking {
            Looking::Checkpoints { org, last, .. } if section.kind == SectionKind::File && !last.is_empty() => {
                self.newest.insert(org, Checkpoint::parse(&last)?);
            }
            Looking::Events(_) => self.conclude(),
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self) -> Result<()> {
        // A trail of which nothing is left, and a checkpoint that tells of entries.
        let orgs: Vec<_> = self.newest.keys().filter(|org| self.keys.contains_key(*org)).cloned().collect();
        for org in orgs {
            let verifier = self.verifier(&org);
            self.following = Some((org, verifier));
            self.conclude();
        }
        match self.trails.broken.first() {
            Some(broken) if !self.allow_broken => Err(Error::new(
                Kind::Conflict,
                format!(
                    "the audit trail of {} does not verify: {} ({} trail(s) in all); another backup may be good, and --allow-broken-audit restores this one as it is",
                    broken.org, broken.message, self.trails.broken_count
                ),
            )),
            _ => Ok(()),
        }
    }
}

/// The columns of a row that are looked at, by their order in our list.
struct Texts<'v, 'p> {
    values: &'v [Param<'p>],
    places: &'v [usize],
}

impl<'p> Texts<'_, 'p> {
    fn value(&self, index: usize) -> Result<Param<'p>> {
        let place = self.places.get(index).and_then(|place| self.values.get(*place));
        place.copied().ok_or_else(|| damaged("a row is too short"))
    }

    fn maybe(&self, index: usize) -> Result<Option<&'p str>> {
        match self.value(index)? {
            Param::Text(text) => Ok(Some(text)),
            Param::Null => Ok(None),
            _ => Err(damaged("a value is no text")),
        }
    }

    fn text(&self, index: usize) -> Result<&'p str> {
        self.maybe(index)?.ok_or_else(|| damaged("a value is missing"))
    }

    fn maybe_int(&self, index: usize) -> Result<Option<i64>> {
        match self.value(index)? {
            Param::Int(value) => Ok(Some(value)),
            Param::Null => Ok(None),
            _ => Err(damaged("a value is no number")),
        }
    }

    fn int(&self, index: usize) -> Result<i64> {
        self.maybe_int(index)?.ok_or_else(|| damaged("a value is missing"))
    }
}

/// Where each of our columns stands in a table's.
fn places<const N: usize>(columns: &[String], ours: [&str; N]) -> Result<[usize; N]> {
    let mut places = [0; N];
    for (place, name) in places.iter_mut().zip(ours) {
        *place =
            columns.iter().position(|column| column == name).ok_or_else(|| damaged(&format!("there is no column `{name}`")))?;
    }
    Ok(places)
}

fn wrong_key() -> Error {
    Error::new(
        Kind::Conflict,
        "this is not the master key that the backup was written with: pass the right one with --master-key-file or TOOLCRIB_MASTER_KEY",
    )
}

fn damaged(why: &str) -> Error {
    Error::new(Kind::InvalidParams, format!("the backup is damaged or incomplete: {why}"))
}

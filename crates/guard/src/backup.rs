//! Checks of a backup: its secrets decrypt with the master key, and its audit trails verify.

use std::borrow::Cow;
use std::collections::HashMap;

use audit::{Checkpoint, Jwk, Jwks, Verifier};
use base::{Error, Kind, OrgId, Result, Timestamp};
use store::Param;
use store::backup::{Section, SectionKind, Visitor};

use crate::audit::{EntryRow, entry_from_row, jwk_of, place_of};
use crate::master::MasterKey;
use crate::vault::Vault;

/// The longest accepted line of a checkpoint file. A normal line has a few hundred bytes.
const LINE_BYTES_MAX: usize = 64 * 1024;
/// The most broken trails to list. The rest is only counted.
const NAMED_MAX: usize = 20;

const INSTANCE_COLUMNS: [&str; 2] = ["name", "value"];
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
    /// The first bad entry, if an entry is the cause.
    pub sequence: Option<u64>,
    /// What is wrong.
    pub message: String,
}

/// The verification result of the audit trails in a backup.
#[derive(Clone, Debug, Default)]
pub struct Trails {
    /// The number of orgs with a trail.
    pub orgs: u64,
    /// The number of verified entries.
    pub entries: u64,
    /// The number of broken trails.
    pub broken_count: u64,
    /// The first broken trails.
    pub broken: Vec<BrokenTrail>,
}

/// Checks a backup while it is read.
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

/// The section that is being read.
enum Looking {
    Away,
    Instance([usize; INSTANCE_COLUMNS.len()]),
    Keys([usize; KEY_COLUMNS.len()]),
    Events([usize; EVENT_COLUMNS.len()]),
    Checkpoints { org: String, line: Vec<u8>, last: Vec<u8> },
}

impl BackupCheck {
    /// Checks the trails and, if a master key is given, that it matches the data. A broken trail is an error at the end of the backup,
    /// unless `allow_broken`.
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

    /// The result.
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
        let (org, kid) = (row.text("org_id")?, row.text("kid")?);
        if let (Some((_, vault)), Some(sealed), Some(id)) = (&self.master, row.maybe("sealed_seed")?, OrgId::parse(org)) {
            vault.open(&place_of(&id, kid), sealed).map_err(|_| wrong_key())?;
        }
        let reason = row.maybe("revoked_reason")?.map(str::to_owned);
        let revoked = row.maybe_int("revoked_at")?.map(|at| (Timestamp::from_ms(at), reason));
        let jwk = jwk_of(row.text("public_key")?, Timestamp::from_ms(row.int("created_at")?), revoked);
        let jwk = jwk.ok_or_else(|| damaged("invalid public key"))?;
        self.keys.entry(org.to_owned()).or_default().push(jwk);
        Ok(())
    }

    fn event(&mut self, row: &Texts<'_, '_>) -> Result<()> {
        let org = row.text("org_id")?;
        if self.following.as_ref().is_none_or(|(followed, _)| followed != org) {
            self.conclude();
            let verifier = self.verifier(org);
            self.following = Some((org.to_owned(), verifier));
        }
        let entry = entry_from_row(org, row)?;
        if let Some((_, verifier)) = &mut self.following {
            verifier.push(&entry);
        }
        Ok(())
    }

    fn verifier(&mut self, org: &str) -> Box<Verifier> {
        let jwks = Jwks { keys: self.keys.get(org).cloned().unwrap_or_default() };
        Box::new(Verifier::new(&jwks, self.newest.remove(org), Some(org)))
    }

    /// Finishes the current trail.
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
            "instance" => Looking::Instance(places(columns, INSTANCE_COLUMNS)?),
            "audit_keys" => Looking::Keys(places(columns, KEY_COLUMNS)?),
            "audit_events" => Looking::Events(places(columns, EVENT_COLUMNS)?),
            _ => Looking::Away,
        };
        Ok(())
    }

    fn row(&mut self, values: &[Param<'_>]) -> Result<()> {
        match self.looking {
            Looking::Instance(places) => {
                let row = Texts { values, names: &INSTANCE_COLUMNS, places: &places };
                self.instance(row.text("name")?, row.text("value")?)
            }
            Looking::Keys(places) => self.key(&Texts { values, names: &KEY_COLUMNS, places: &places }),
            Looking::Events(places) => self.event(&Texts { values, names: &EVENT_COLUMNS, places: &places }),
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
                return Err(damaged("a checkpoint is too long"));
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
        // A trail without any entries although a checkpoint exists.
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
                    "the audit trail of {} does not verify: {} ({} trail(s) in all); try another backup, or restore this one as it is with \
                     --allow-broken-audit",
                    broken.org, broken.message, self.trails.broken_count
                ),
            )),
            _ => Ok(()),
        }
    }
}

/// The needed columns of a row, by their position in our list.
struct Texts<'v, 'p> {
    values: &'v [Param<'p>],
    names: &'static [&'static str],
    places: &'v [usize],
}

impl<'p> Texts<'_, 'p> {
    fn value(&self, name: &str) -> Result<Param<'p>> {
        let ours = self.names.iter().zip(self.places).find(|(ours, _)| **ours == name);
        let (_, place) = ours.ok_or_else(|| Error::internal(format_args!("column `{name}` is not one that is looked at")))?;
        self.values.get(*place).copied().ok_or_else(|| damaged("a row is too short"))
    }

    fn maybe(&self, name: &str) -> Result<Option<&'p str>> {
        match self.value(name)? {
            Param::Text(text) => Ok(Some(text)),
            Param::Null => Ok(None),
            _ => Err(damaged("a value is not text")),
        }
    }

    fn text(&self, name: &str) -> Result<&'p str> {
        self.maybe(name)?.ok_or_else(|| damaged("a value is missing"))
    }

    fn maybe_int(&self, name: &str) -> Result<Option<i64>> {
        match self.value(name)? {
            Param::Int(value) => Ok(Some(value)),
            Param::Null => Ok(None),
            _ => Err(damaged("a value is not a number")),
        }
    }

    fn int(&self, name: &str) -> Result<i64> {
        self.maybe_int(name)?.ok_or_else(|| damaged("a value is missing"))
    }
}

impl<'p> EntryRow<'p> for Texts<'_, 'p> {
    fn text(&self, column: &str) -> Result<Cow<'p, str>> {
        self.text(column).map(Cow::Borrowed)
    }

    fn maybe(&self, column: &str) -> Result<Option<Cow<'p, str>>> {
        Ok(self.maybe(column)?.map(Cow::Borrowed))
    }

    fn int(&self, column: &str) -> Result<i64> {
        self.int(column)
    }
}

/// The positions of our columns in a table.
fn places<const N: usize>(columns: &[String], ours: [&str; N]) -> Result<[usize; N]> {
    let mut places = [0; N];
    for (place, name) in places.iter_mut().zip(ours) {
        *place = columns
            .iter()
            .position(|column| column == name)
            .ok_or_else(|| damaged(&format!("the column `{name}` is missing")))?;
    }
    Ok(places)
}

fn wrong_key() -> Error {
    Error::new(
        Kind::Conflict,
        "wrong master key for this backup; pass the right one with --master-key-file or TOOLCRIB_MASTER_KEY",
    )
}

fn damaged(why: &str) -> Error {
    Error::new(Kind::InvalidParams, format!("the backup is damaged or incomplete: {why}"))
}

//! The policy documents of an org, compiled for decisions.

use std::collections::HashSet;
use std::sync::{Arc, OnceLock};

use base::limits::POLICY_STATEMENTS_MAX;
use base::secret::hex;
use sha2::{Digest, Sha256};

use crate::decision::Failure;
use crate::finding::{Finding, located};
use crate::model::Model;
use crate::set::Set;
use crate::source::{Source, statement_id};
use crate::statement::Statement;

/// A version of a policy document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// Its name. The names of its statements start with it.
    pub id: String,
    /// Its version.
    pub version: u32,
    /// Its text.
    pub cedar: String,
    /// Whether it is enforced.
    pub mode: Mode,
}

/// Whether a document's statements have an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// They are enforced.
    Enforce,
    /// They are evaluated and recorded but have no effect, not even permits.
    LogOnly,
}

impl Mode {
    /// The word in requests and rows.
    pub const fn word(self) -> &'static str {
        match self {
            Mode::Enforce => "enforce",
            Mode::LogOnly => "log_only",
        }
    }

    /// Parses the word.
    pub fn parse(word: &str) -> Option<Self> {
        [Mode::Enforce, Mode::LogOnly].into_iter().find(|mode| mode.word() == word)
    }
}

/// A problem of a document in use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flagged {
    /// The document.
    pub document: String,
    /// Its version.
    pub version: u32,
    /// The document is unusable: while it is enforced, everything is denied. If this is false, the schema has changed since,
    /// and the document is still evaluated.
    pub broken: bool,
    /// The problems and their positions.
    pub findings: Vec<Finding>,
}

/// What can make listings differ between principals or over time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Varies {
    /// Some statement depends on the principal.
    pub by_principal: bool,
    /// Some statement depends on the time.
    pub by_time: bool,
}

/// The documents of an org, compiled against a model.
pub struct Compiled {
    pub(crate) model: Arc<Model>,
    pub(crate) enforced: Part,
    pub(crate) tried: Part,
    varies: Varies,
    hash: String,
    documents: Vec<Document>,
    /// Findings that make a document unusable, by its position in `documents`.
    unusable: Vec<(usize, Vec<Finding>)>,
    flagged: OnceLock<Vec<Flagged>>,
}

/// The documents of one mode.
pub(crate) struct Part {
    pub(crate) set: Set,
    /// Why these documents cannot decide anything.
    pub(crate) broken: Option<Vec<Failure>>,
}

impl Part {
    pub(crate) fn is_empty(&self) -> bool {
        self.set.is_empty() && self.broken.is_none()
    }
}

impl Compiled {
    pub(crate) fn new(model: Arc<Model>, documents: &[Document]) -> Self {
        let mut unusable = Vec::new();
        let mut ids = HashSet::new();
        let mut room = POLICY_STATEMENTS_MAX;
        let (mut enforced, mut tried) = (Gathered::default(), Gathered::default());
        for (place, document) in documents.iter().enumerate() {
            let statements = if ids.insert(document.id.as_str()) {
                statements(&model, document, &mut room)
            } else {
                Err(whole_document("another document has the same name"))
            };
            let gathered = match document.mode {
                Mode::Enforce => &mut enforced,
                Mode::LogOnly => &mut tried,
            };
            match statements {
                Ok(statements) => gathered.statements.extend(statements),
                Err(findings) => {
                    gathered.broken.push(failure(document, &findings));
                    unusable.push((place, findings));
                }
            }
        }
        let enforced = enforced.into_part(&model);
        Self {
            varies: enforced.set.listing_varies(),
            enforced,
            tried: tried.into_part(&model),
            hash: hash(documents),
            documents: documents.to_vec(),
            unusable,
            flagged: OnceLock::new(),
            model,
        }
    }

    /// The policy-set hash in the audit trail: SHA-256 over ids, versions, modes and texts of the enforced documents in any
    /// order, as lower-case hex.
    pub fn hash(&self) -> &str {
        &self.hash
    }

    /// The total length of the texts in bytes.
    pub fn text_bytes(&self) -> usize {
        self.documents.iter().map(|document| document.cedar.len()).sum()
    }

    /// What a listing depends on besides the tools and the org. A cache of listings must know this.
    pub fn listing_varies(&self) -> Varies {
        self.varies
    }

    /// The documents with problems, in the order given. The first call validates all of them, which may take a while. Decisions
    /// do not wait for it.
    pub fn flagged(&self) -> &[Flagged] {
        self.flagged.get_or_init(|| {
            let flag = |(place, document): (usize, &Document)| {
                let unusable = self.unusable.iter().find(|(broken, _)| *broken == place).map(|(_, findings)| findings.clone());
                let broken = unusable.is_some();
                let findings = unusable.or_else(|| self.model.check(&document.cedar).err())?;
                Some(Flagged { document: document.id.clone(), version: document.version, broken, findings })
            };
            self.documents.iter().enumerate().filter_map(flag).collect()
        })
    }
}

impl std::fmt::Debug for Compiled {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Compiled").field("hash", &self.hash).field("documents", &self.documents.len()).finish_non_exhaustive()
    }
}

/// The statements of one mode while documents are read.
#[derive(Default)]
struct Gathered {
    statements: Vec<Statement>,
    broken: Vec<Failure>,
}

impl Gathered {
    fn into_part(self, model: &Model) -> Part {
        Part { set: Set::new(model, self.statements), broken: (!self.broken.is_empty()).then_some(self.broken) }
    }
}

/// The statements of a document, within the limit on statements.
fn statements(model: &Model, document: &Document, room: &mut usize) -> Result<Vec<Statement>, Vec<Finding>> {
    let source = Source::parse(&document.cedar).map_err(|complaints| located(&document.cedar, complaints))?;
    *room = room.checked_sub(source.statements.len()).ok_or_else(|| {
        whole_document(&format!(
            "the documents have more than {POLICY_STATEMENTS_MAX} statements together, counted up to this one"
        ))
    })?;
    source
        .statements
        .iter()
        .map(|statement| {
            let id = statement_id(&document.id, statement.name.as_deref());
            Statement::new(id, &statement.policy, model).map_err(|message| whole_document(&message))
        })
        .collect()
}

fn whole_document(message: &str) -> Vec<Finding> {
    vec![Finding { line: 1, column: 1, message: message.to_owned() }]
}

/// An unusable document, with the message of its first finding.
fn failure(document: &Document, findings: &[Finding]) -> Failure {
    let message = findings.first().map_or_else(|| "it is unreadable".to_owned(), Finding::to_string);
    Failure { policy: Some(document.id.as_str().into()), message }
}

fn hash(documents: &[Document]) -> String {
    let mut enforced: Vec<&Document> = documents.iter().filter(|document| document.mode == Mode::Enforce).collect();
    enforced.sort_by(|left, right| (&left.id, left.version).cmp(&(&right.id, right.version)));
    let mut hasher = Sha256::new();
    for document in enforced {
        let version = document.version.to_string();
        for field in [document.id.as_str(), &version, document.mode.word(), &document.cedar] {
            // The length comes first, so that two documents never give the same bytes as two others.
            hasher.update((field.len() as u64).to_be_bytes());
            hasher.update(field.as_bytes());
        }
    }
    hex(&hasher.finalize())
}

//! The files of a project without a root, in rows. Only history changes them.

use base::{Error, Kind, ProjectId, Result, Timestamp};
use store::{OrgStore, OrgTx, Row, params};

use super::packed::{pack, unpack};
use super::{FILE_BYTES_MAX, Read, Sha256, Stamp, sql};
use crate::path::CodePath;

/// Files of a project without a root. A larger project belongs on a disk.
const FILES_MAX: i64 = 20_000;

/// A file of a project without a root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredFile {
    /// Its path.
    pub path: CodePath,
    /// Its version.
    pub version: i64,
    /// The digest of its content.
    pub sha256: Option<Sha256>,
    /// Its size in bytes.
    pub size: i64,
    /// When it was changed.
    pub changed_at: Timestamp,
}

/// The files of a project without a root, at most `limit` after `after`.
pub async fn stored_files(rows: &OrgStore, project: &ProjectId, after: Option<&CodePath>, limit: u32) -> Result<Vec<StoredFile>> {
    let after = after.map_or("", CodePath::as_str);
    let file = |row: &Row<'_>| {
        Ok(StoredFile {
            path: CodePath::from_row(row.text("path")?),
            version: row.get("version")?,
            sha256: Sha256::from_row(Some(row.text("sha256")?))?,
            size: row.get("size")?,
            changed_at: row.get("changed_at")?,
        })
    };
    rows.query(sql::LIST, &params![project, after, limit], file).await
}

/// Reads a file.
pub(super) async fn read(rows: &OrgStore, project: &ProjectId, path: &CodePath, bytes_max: usize) -> Result<Read> {
    let limit = i64::try_from(bytes_max.min(FILE_BYTES_MAX)).unwrap_or(i64::MAX);
    let seen = |row: &Row<'_>| {
        let (version, changed_at): (i64, Timestamp) = (row.get("version")?, row.get("changed_at")?);
        let size = row.get::<i64>("size")?.unsigned_abs();
        let modified_ns = changed_at.ms().saturating_mul(1_000_000);
        let stamp = Stamp { device: 0, inode: 0, size, modified_ns, changed_ns: version };
        Ok((stamp, row.get::<Option<Vec<u8>>>("content")?))
    };
    match rows.first(sql::READ, &params![project, path, limit], seen).await? {
        None => Ok(Read::Missing),
        Some((stamp, None)) => Ok(Read::TooLarge { size: stamp.size, stamp }),
        Some((stamp, Some(packed))) => Ok(Read::File { bytes: unpack(&packed, bytes_max)?, stamp }),
    }
}

/// A content on its way into a row.
pub(crate) struct Stored {
    sha256: String,
    size: i64,
    packed: Vec<u8>,
}

impl Stored {
    pub(crate) fn new(bytes: &[u8]) -> Result<Self> {
        let size = i64::try_from(bytes.len()).unwrap_or(i64::MAX);
        Ok(Self { sha256: Sha256::of(bytes).hex(), size, packed: pack(bytes)? })
    }
}

/// Gives the file at `path` its new content.
pub(crate) fn keep_stored(
    tx: &mut OrgTx<'_, '_>,
    project: &ProjectId,
    path: &CodePath,
    version: i64,
    now: Timestamp,
    stored: &Stored,
) -> Result<()> {
    let others = others(tx, project, path)?;
    if others >= FILES_MAX {
        let words = format!("a project without a root can have {FILES_MAX} files; remove some, or give the project a root");
        return Err(Error::new(Kind::TooLarge, words));
    }
    announce(tx, others)?;
    let Stored { sha256, size, packed } = stored;
    tx.execute(sql::KEEP, &params![project, path, version, sha256, size, now, packed.as_slice()]).map(drop)
}

/// Removes the file at `path`.
pub(crate) fn forget_stored(tx: &mut OrgTx<'_, '_>, project: &ProjectId, path: &CodePath) -> Result<()> {
    let others = others(tx, project, path)?;
    announce(tx, others)?;
    tx.execute(sql::FORGET, &params![project, path]).map(drop)
}

/// The number of a project's files besides one, as far as it matters.
fn others(tx: &mut OrgTx<'_, '_>, project: &ProjectId, path: &CodePath) -> Result<i64> {
    Ok(tx.first(sql::COUNT, &params![project, path, FILES_MAX], |row| row.get::<i64>("files"))?.unwrap_or(0))
}

/// Makes every node look at the project again if this may be its first or last file, because that decides which tools it has.
fn announce(tx: &mut OrgTx<'_, '_>, others: i64) -> Result<()> {
    if others == 0 { tx.bump() } else { Ok(()) }
}

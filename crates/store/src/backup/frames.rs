//! The frames of a backup file, inside one gzip member. Each has a tag, a length, a checksum and a payload. The checksum of
//! gzip comes only at the end, but the checksum of a frame shows damage before anything uses the frame.

use std::io::{self, BufRead, Chain, Cursor, Read, Write};

use base::limits::BACKUP_FRAME_BYTES_MAX;
use base::secret::hex;
use base::{Error, Kind, Result, Timestamp};
use flate2::bufread::GzDecoder;
use flate2::write::GzEncoder;
use flate2::{Compression, Crc};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// The format that this release writes, and the only one that it reads.
pub(super) const FORMAT: u32 = 1;
/// The first bytes of our gzip: no name, no time, no system. Gzip has no checksum over these bytes.
const GZIP_HEAD: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];
/// Text shrinks to a third. More effort takes twice as long and saves another tenth.
const EFFORT: u32 = 4;

pub(super) const HEADER: u8 = b'H';
pub(super) const TABLE: u8 = b'T';
pub(super) const FILE: u8 = b'F';
pub(super) const ROW: u8 = b'R';
pub(super) const DATA: u8 = b'D';
pub(super) const SECTION_END: u8 = b'S';
pub(super) const END: u8 = b'Z';

/// The header of a backup.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// The format of the file.
    pub format: u32,
    /// The release that wrote it.
    pub release: String,
    /// The schema version of its rows.
    pub schema: i64,
    /// The engine of the saved store: `sqlite` or `postgres`. Both engines can restore it.
    pub engine: String,
    /// When the backup started.
    pub made_at: Timestamp,
}

/// The kind of a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SectionKind {
    /// The rows of a table.
    Table,
    /// The bytes of a file.
    File,
}

/// A section in the list at the end of the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Section {
    /// Its kind.
    pub kind: SectionKind,
    /// The name of the table or file.
    pub name: String,
    /// The number of rows, or of pieces of a file.
    pub count: u64,
    /// The SHA-256 of its frames in hex.
    pub sha256: String,
}

/// A table's first frame.
#[derive(Serialize, Deserialize)]
pub(super) struct TableHead {
    pub(super) name: String,
    pub(super) columns: Vec<String>,
}

/// The last frame.
#[derive(PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct End {
    pub(super) sections: Vec<Section>,
    /// A checksum over the header and the ends of all sections.
    pub(super) sha256: String,
}

/// A section that is being written or read.
struct Open {
    kind: SectionKind,
    name: String,
    count: u64,
    hash: Sha256,
}

/// Counts and checksums of the frames so far. The writer and the reader share it.
#[derive(Default)]
pub(super) struct Tally {
    open: Option<Open>,
    sections: Vec<Section>,
    whole: Sha256,
}

impl Tally {
    pub(super) fn header(&mut self, payload: &[u8]) {
        self.whole.update(payload);
    }

    /// Begins a section; `None` if one is already open.
    pub(super) fn begin(&mut self, kind: SectionKind, name: &str, payload: &[u8]) -> Option<()> {
        if self.open.is_some() {
            return None;
        }
        let mut open = Open { kind, name: name.to_owned(), count: 0, hash: Sha256::new() };
        open.hash.update(payload);
        self.open = Some(open);
        Some(())
    }

    /// Counts a frame of the open section; `None` if the section is of another kind.
    pub(super) fn add(&mut self, kind: SectionKind, payload: &[u8]) -> Option<()> {
        let open = self.open.as_mut().filter(|open| open.kind == kind)?;
        open.count += 1;
        // With the length, two rows never give the same checksum as one.
        open.hash.update(u64::try_from(payload.len()).ok()?.to_le_bytes());
        open.hash.update(payload);
        Some(())
    }

    /// Ends the open section and returns it.
    pub(super) fn end_section(&mut self) -> Option<&Section> {
        let open = self.open.take()?;
        let sha256 = hex(&open.hash.finalize());
        self.whole.update(sha256.as_bytes());
        self.sections.push(Section { kind: open.kind, name: open.name, count: open.count, sha256 });
        self.sections.last()
    }

    pub(super) fn rows(&self) -> u64 {
        self.open.as_ref().map_or(0, |open| open.count)
    }

    pub(super) fn end(self) -> Option<End> {
        self.open.is_none().then(|| End { sections: self.sections, sha256: hex(&self.whole.finalize()) })
    }
}

/// Writes frames.
pub(super) struct FrameWriter<W: Write>(GzEncoder<W>);

impl<W: Write> FrameWriter<W> {
    pub(super) fn new(out: W) -> Self {
        Self(GzEncoder::new(out, Compression::new(EFFORT)))
    }

    pub(super) fn frame(&mut self, tag: u8, payload: &[u8]) -> Result<()> {
        let length = u32::try_from(payload.len()).ok().filter(|length| *length <= BACKUP_FRAME_BYTES_MAX);
        let length = length.ok_or_else(|| Error::internal("a row is too large for a backup"))?;
        let write = |out: &mut GzEncoder<W>| {
            out.write_all(&[tag])?;
            out.write_all(&length.to_le_bytes())?;
            out.write_all(&checksum(tag, payload).to_le_bytes())?;
            out.write_all(payload)
        };
        write(&mut self.0).map_err(|error| unwritable(&error))
    }

    /// Ends the gzip and returns the underlying writer.
    pub(super) fn finish(self) -> Result<W> {
        self.0.finish().map_err(|error| unwritable(&error))
    }
}

fn checksum(tag: u8, payload: &[u8]) -> u32 {
    let mut sum = Crc::new();
    sum.update(&[tag]);
    sum.update(payload);
    sum.sum()
}

fn unwritable(error: &io::Error) -> Error {
    Error::new(Kind::Unavailable, format!("the backup cannot be written: {error}"))
}

/// Reads frames.
pub(super) struct FrameReader<R: BufRead> {
    from: GzDecoder<Chain<Cursor<[u8; 10]>, R>>,
    payload: Vec<u8>,
}

impl<R: BufRead> FrameReader<R> {
    pub(super) fn new(mut from: R) -> Result<Self> {
        let mut head = [0; GZIP_HEAD.len()];
        match from.read_exact(&mut head) {
            Ok(()) if head == GZIP_HEAD => {}
            Err(error) if error.kind() != io::ErrorKind::UnexpectedEof => return Err(unreadable(&error)),
            _ => return Err(Error::new(Kind::InvalidParams, "not a Toolcrib backup, or its first bytes are damaged")),
        }
        Ok(Self { from: GzDecoder::new(Cursor::new(head).chain(from)), payload: Vec::new() })
    }

    /// The next frame: its tag and its payload. It uses no more memory than there is data, even if the length is wrong.
    pub(super) fn next(&mut self) -> Result<(u8, &[u8])> {
        let mut head = [0; 9];
        self.from.read_exact(&mut head).map_err(|error| unreadable(&error))?;
        let [tag, a, b, c, d, sum @ ..] = head;
        let length = u32::from_le_bytes([a, b, c, d]);
        if length > BACKUP_FRAME_BYTES_MAX {
            return Err(damaged("a frame is too long"));
        }
        self.payload.clear();
        let read =
            self.from.by_ref().take(u64::from(length)).read_to_end(&mut self.payload).map_err(|error| unreadable(&error))?;
        if u32::try_from(read).ok() != Some(length) {
            return Err(damaged("it ends in the middle of a frame"));
        }
        if checksum(tag, &self.payload).to_le_bytes() != sum {
            return Err(damaged("the checksum of a frame is wrong"));
        }
        Ok((tag, &self.payload))
    }

    /// Checks that nothing follows the last frame, neither inside the gzip nor after it.
    pub(super) fn finish(mut self) -> Result<()> {
        let more = self.from.read(&mut [0]).map_err(|error| unreadable(&error))?;
        let (_, mut rest) = self.from.into_inner().into_inner();
        let after = rest.fill_buf().map_err(|error| unreadable(&error))?;
        if more > 0 || !after.is_empty() {
            return Err(damaged("something follows its end"));
        }
        Ok(())
    }
}

pub(super) fn damaged(why: impl std::fmt::Display) -> Error {
    Error::new(Kind::InvalidParams, format!("the backup is damaged or incomplete: {why}"))
}

/// An error with a system code is about the disk. Any other error is about the bytes.
fn unreadable(error: &io::Error) -> Error {
    match error.raw_os_error() {
        Some(_) => Error::new(Kind::Unavailable, format!("the backup cannot be read: {error}")),
        None if error.kind() == io::ErrorKind::UnexpectedEof => damaged("it ends too early"),
        None => damaged(error),
    }
}

//! Reads a backup, checks every frame, and passes the rows to visitors.

use std::io::BufRead;

use base::{Error, Kind, Result};
use serde::de::DeserializeOwned;

use super::frames::{DATA, END, End, FILE, FORMAT, FrameReader, HEADER, ROW, SECTION_END, TABLE, TableHead, Tally, damaged};
use super::table::is_plain_name;
use super::{Header, Saved, Section, SectionKind, values};
use crate::migrate::{SCHEMA_VERSION, newer_release};
use crate::param::Param;

/// Receives the content of a backup as it is read. An error ends the reading.
pub trait Visitor {
    /// The header.
    fn header(&mut self, header: &Header) -> Result<()> {
        let _ = header;
        Ok(())
    }
    /// A table begins.
    fn table(&mut self, name: &str, columns: &[String]) -> Result<()> {
        let _ = (name, columns);
        Ok(())
    }
    /// A row of that table.
    fn row(&mut self, values: &[Param<'_>]) -> Result<()> {
        let _ = values;
        Ok(())
    }
    /// A file begins. Its name is a plain path without `..`.
    fn file(&mut self, name: &str) -> Result<()> {
        let _ = name;
        Ok(())
    }
    /// The next bytes of that file.
    fn bytes(&mut self, bytes: &[u8]) -> Result<()> {
        let _ = bytes;
        Ok(())
    }
    /// The table or file ends, and its checksum is correct.
    fn section_end(&mut self, section: &Section) -> Result<()> {
        let _ = section;
        Ok(())
    }
    /// The backup ends and is complete.
    fn end(&mut self) -> Result<()> {
        Ok(())
    }
}

/// Reads a backup from the first byte to the last, and passes it to each visitor. Trust what they received only if this returns
/// `Ok`.
pub fn read(from: impl BufRead, visitors: &mut [&mut dyn Visitor]) -> Result<Saved> {
    let mut frames = FrameReader::new(from)?;
    let mut tally = Tally::default();
    let (tag, payload) = frames.next()?;
    if tag != HEADER {
        return Err(damaged("it does not begin with a header"));
    }
    let header = read_header(payload)?;
    tally.header(payload);
    tell(visitors, |visitor| visitor.header(&header))?;
    let mut columns = 0;
    loop {
        let (tag, payload) = frames.next()?;
        match tag {
            TABLE => {
                let head: TableHead = from_json(payload)?;
                if !std::iter::once(&head.name).chain(&head.columns).all(|name| is_plain_name(name)) {
                    return Err(damaged("a table has an invalid name"));
                }
                columns = head.columns.len();
                tally.begin(SectionKind::Table, &head.name, payload).ok_or_else(out_of_order)?;
                tell(visitors, |visitor| visitor.table(&head.name, &head.columns))?;
            }
            ROW => {
                tally.add(SectionKind::Table, payload).ok_or_else(out_of_order)?;
                let row = values::decode(payload, columns).ok_or_else(|| damaged("a row is malformed"))?;
                tell(visitors, |visitor| visitor.row(&row))?;
            }
            FILE => {
                let name = std::str::from_utf8(payload).ok().filter(|name| is_plain_path(name));
                let name = name.ok_or_else(|| damaged("a file has an invalid name"))?;
                tally.begin(SectionKind::File, name, payload).ok_or_else(out_of_order)?;
                tell(visitors, |visitor| visitor.file(name))?;
            }
            DATA => {
                tally.add(SectionKind::File, payload).ok_or_else(out_of_order)?;
                tell(visitors, |visitor| visitor.bytes(payload))?;
            }
            SECTION_END => {
                let said: Section = from_json(payload)?;
                let found = tally.end_section().ok_or_else(out_of_order)?;
                if said != *found {
                    return Err(damaged(format_args!("the checksum of `{}` is wrong", found.name)));
                }
                tell(visitors, |visitor| visitor.section_end(found))?;
            }
            END => {
                let said: End = from_json(payload)?;
                let found = tally.end().ok_or_else(out_of_order)?;
                if said != found {
                    return Err(damaged("its checksum is wrong"));
                }
                frames.finish()?;
                tell(visitors, |visitor| visitor.end())?;
                return Ok(Saved { header, sections: found.sections });
            }
            _ => return Err(damaged("it has an unknown frame")),
        }
    }
}

fn tell(visitors: &mut [&mut dyn Visitor], mut what: impl FnMut(&mut dyn Visitor) -> Result<()>) -> Result<()> {
    visitors.iter_mut().try_for_each(|visitor| what(&mut **visitor))
}

fn read_header(payload: &[u8]) -> Result<Header> {
    #[derive(serde::Deserialize)]
    struct Format {
        format: u32,
    }
    // A later format may have another header.
    let Format { format } = from_json(payload)?;
    if format != FORMAT {
        let words = format!("the backup has format {format} and this release reads {FORMAT}; use the release that wrote it");
        return Err(Error::new(Kind::InvalidParams, words));
    }
    let header: Header = from_json(payload)?;
    if header.schema > SCHEMA_VERSION {
        return Err(newer_release(header.schema));
    }
    if header.schema < 1 {
        return Err(damaged("its schema version is invalid"));
    }
    Ok(header)
}

fn from_json<T: DeserializeOwned>(payload: &[u8]) -> Result<T> {
    serde_json::from_slice(payload).map_err(damaged)
}

fn out_of_order() -> Error {
    damaged("its parts are out of order")
}

/// Whether a name stays below the folder that it is joined to.
fn is_plain_path(name: &str) -> bool {
    let is_plain = |part: &str| {
        !part.is_empty()
            && !part.starts_with('.')
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
    };
    name.split('/').all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_stay_below_their_folder() {
        for (name, good) in [
            ("checkpoints/org_1.jsonl", true),
            ("../x", false),
            ("/etc/passwd", false),
            ("a//b", false),
            ("", false),
            ("a/..", false),
            (".hidden", false),
            ("a b", false),
        ] {
            assert_eq!(is_plain_path(name), good, "{name}");
        }
    }
}

//! Opaque page cursors. A cursor contains no secret and grants no access. An invalid one is refused.

use crate::clock::Timestamp;

/// The last row of a page. Lists are sorted newest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cursor {
    /// When that row was created.
    pub created_at: Timestamp,
    /// Its id, which breaks ties.
    pub id: String,
}

impl Cursor {
    /// Encodes the cursor for the caller: 16 hex digits of time, a dash, the id.
    pub fn encode(&self) -> String {
        format!("{:016x}-{}", self.created_at.ms(), self.id)
    }

    /// Decodes a cursor. Returns `None` for anything that [`Cursor::encode`] does not produce.
    pub fn decode(text: &str) -> Option<Self> {
        let (time, id) = text.split_once('-')?;
        let well_formed = time.len() == 16 && time.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        let id_ok = !id.is_empty() && id.len() <= 64 && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if !well_formed || !id_ok {
            return None;
        }
        let ms = u64::from_str_radix(time, 16).ok()?;
        Some(Self { created_at: Timestamp::from_ms(i64::try_from(ms).ok()?), id: id.to_owned() })
    }
}

/// One page of a list.
#[derive(Clone, Debug)]
pub struct Page<T> {
    /// The rows.
    pub items: Vec<T>,
    /// Where the next page starts, if there is one.
    pub next: Option<Cursor>,
}

impl<T> Page<T> {
    /// Creates a page of at most `rows` items. Pass one row more: it only shows that there is a next page.
    pub fn from_rows(mut items: Vec<T>, rows: u32, cursor_of: impl Fn(&T) -> Cursor) -> Self {
        let rows = rows as usize;
        let next = (items.len() > rows).then(|| items.get(rows.saturating_sub(1)).map(cursor_of)).flatten();
        items.truncate(rows);
        Self { items, next }
    }
}

/// The page of a list that a caller requested.
#[derive(Clone, Debug)]
pub struct PageRequest {
    /// The number of rows.
    pub rows: u32,
    /// The row before the page.
    pub after: Option<Cursor>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn an_encoded_cursor_decodes_back(ms in 0_i64..=i64::MAX, id in "[a-z0-9_]{1,40}") {
            let cursor = Cursor { created_at: Timestamp::from_ms(ms), id };
            prop_assert_eq!(Cursor::decode(&cursor.encode()), Some(cursor));
        }

        #[test]
        fn a_decoded_text_encodes_back(text in "\\PC{0,60}") {
            if let Some(cursor) = Cursor::decode(&text) {
                prop_assert_eq!(cursor.encode(), text);
            }
        }
    }

    #[test]
    fn a_page_says_whether_more_follows() {
        let cursor_of = |n: &i64| Cursor { created_at: Timestamp::from_ms(*n), id: n.to_string() };
        let full = Page::from_rows(vec![3, 2, 1], 2, cursor_of);
        assert_eq!((full.items, full.next), (vec![3, 2], Some(Cursor { created_at: Timestamp::from_ms(2), id: "2".into() })));
        assert!(Page::from_rows(vec![2, 1], 2, cursor_of).next.is_none());
    }
}

//! A checkpoint states how many entries a chain has, and the hash of the last one. Stored elsewhere, it proves what the chain
//! alone cannot: that the tail was cut off, or that the owner of the key rewrote the chain.

use base::{Error, Kind, Result, Timestamp};
use serde::{Deserialize, Serialize};

use crate::canonical::{self, INTEGER_MAX, write_string};
use crate::event::exact_time;
use crate::{EntryHash, Signature, SigningKey, VerifyingKey};

/// A signed statement about a chain's length and head.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Checkpoint {
    /// The workspace of the chain.
    pub workspace_id: String,
    /// The number of entries, which is the sequence number of the last one.
    pub size: u64,
    /// The hash of the last entry in hex; 64 zeros if there is none.
    pub head_hash: String,
    /// When it was signed, in RFC 3339 with milliseconds.
    pub at: String,
    /// The name of the key that signed.
    pub kid: String,
    /// The signature over the canonical form of the other members, in base64url.
    pub signature: String,
}

impl Checkpoint {
    /// Signs that `workspace` has `size` entries and that the last one has the hash `head`.
    pub fn sign(workspace: &str, size: u64, head: &EntryHash, at: Timestamp, key: &SigningKey) -> Self {
        let mut checkpoint = Self {
            workspace_id: workspace.to_owned(),
            size,
            head_hash: head.hex(),
            at: at.rfc3339(),
            kid: key.kid().to_owned(),
            signature: String::new(),
        };
        checkpoint.signature = key.sign(checkpoint.signed_text().as_bytes()).to_string();
        checkpoint
    }

    /// Parses a checkpoint of the server. This does not check its signature.
    ///
    /// # Errors
    /// If the bytes are not a checkpoint.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let refused = |why: String| Error::new(Kind::InvalidParams, format!("not a checkpoint: {why}"));
        let text = std::str::from_utf8(bytes).map_err(|error| refused(error.to_string()))?;
        if !canonical::is_object(text) {
            return Err(refused("it is not a JSON object".to_owned()));
        }
        let checkpoint: Self = serde_json::from_str(text).map_err(|error| refused(error.to_string()))?;
        if checkpoint.size > INTEGER_MAX || EntryHash::parse(&checkpoint.head_hash).is_none() || checkpoint.time().is_none() {
            return Err(refused("its size, hash or time has the wrong format".to_owned()));
        }
        Ok(checkpoint)
    }

    /// Parses a file of checkpoints: a single one in any layout, or one per line as the server writes them. A last line without
    /// a line break is ignored: a killed server left it incomplete.
    ///
    /// # Errors
    /// If a line is not a checkpoint, or there is none.
    pub fn parse_file(bytes: &[u8]) -> Result<Vec<Self>> {
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').and_then(|end| bytes.get(..end)).unwrap_or_default();
        let mut lines = (1..).zip(whole.split(|byte| *byte == b'\n')).filter(|(_, line)| !line.trim_ascii().is_empty());
        let Some(Ok(first)) = lines.next().map(|(_, line)| Self::parse(line)) else {
            return Self::parse(bytes).map(|checkpoint| vec![checkpoint]);
        };
        let numbered = |(number, line): (u64, &[u8])| {
            Self::parse(line).map_err(|error| Error::new(Kind::InvalidParams, format!("line {number}: {}", error.message())))
        };
        std::iter::once(Ok(first)).chain(lines.map(numbered)).collect()
    }

    /// Whether `key` signed this.
    pub fn is_signed_by(&self, key: &VerifyingKey) -> bool {
        let signature = Signature::parse(&self.signature);
        key.kid() == self.kid && signature.is_some_and(|signature| key.verifies(self.signed_text().as_bytes(), &signature))
    }

    /// When it was signed.
    pub(crate) fn time(&self) -> Option<Timestamp> {
        exact_time(&self.at)
    }

    /// The canonical form of all members except the signature.
    fn signed_text(&self) -> String {
        let mut text = String::with_capacity(320);
        for (name, value) in [("{\"at\":", &self.at), (",\"headHash\":", &self.head_hash), (",\"kid\":", &self.kid)] {
            text.push_str(name);
            write_string(&mut text, value);
        }
        text.push_str(",\"size\":");
        text.push_str(&self.size.to_string());
        text.push_str(",\"workspaceId\":");
        write_string(&mut text, &self.workspace_id);
        text.push('}');
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    fn checkpoint() -> (Checkpoint, SigningKey) {
        let key = SigningKey::from_seed(&[7; 32]);
        let at = Timestamp::from_ms(1_763_238_099_007);
        (Checkpoint::sign("prj_\"é", 3, &EntryHash::from_bytes([9; 32]), at, &key), key)
    }

    #[test]
    fn the_signature_covers_the_canonical_form_of_the_other_members() {
        let (checkpoint, key) = checkpoint();
        let mut value = serde_json::to_value(&checkpoint).unwrap();
        let signature = value.as_object_mut().unwrap().remove("signature").unwrap();
        let text = canonical::text_of(&value).unwrap();
        assert_eq!(text, checkpoint.signed_text());
        assert!(key.verifying_key().verifies(text.as_bytes(), &Signature::parse(signature.as_str().unwrap()).unwrap()));
        assert!(checkpoint.is_signed_by(key.verifying_key()));
        assert!(!checkpoint.is_signed_by(SigningKey::from_seed(&[8; 32]).verifying_key()));
    }

    #[test]
    fn members_keep_their_order_and_any_layout_is_read() {
        let (checkpoint, _) = checkpoint();
        let text = serde_json::to_string(&checkpoint).unwrap();
        let places = ["workspaceId", "size", "headHash", "at", "kid", "signature"].map(|name| text.find(name).unwrap());
        assert!(places.is_sorted());
        let value: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(Checkpoint::parse(serde_json::to_string_pretty(&value).unwrap().as_bytes()).unwrap(), checkpoint);
    }

    #[test]
    fn malformed_checkpoints_are_refused() {
        let (checkpoint, _) = checkpoint();
        let text = serde_json::to_string(&checkpoint).unwrap();
        let wrong = [
            text.replace("\"size\":3", "\"size\":-3"),
            text.replace("\"size\":3", "\"size\":3,\"size\":3"),
            text.replace("\"size\":3", "\"size\":3,\"more\":1"),
            text.replace("\"size\":3", "\"size\":9007199254740992"),
            text.replace(".007Z", "Z"),
            text.replace("0909", "0g09"),
            "[\"prj\",3]".to_owned(),
            String::new(),
        ];
        for text in wrong {
            assert!(Checkpoint::parse(text.as_bytes()).is_err(), "{text}");
        }
    }

    #[test]
    fn a_file_has_one_in_any_layout_or_one_per_line() {
        let (checkpoint, _) = checkpoint();
        let line = serde_json::to_string(&checkpoint).unwrap();
        let pretty = serde_json::to_string_pretty(&checkpoint).unwrap();
        let half = &line[..40];
        for (text, count) in [
            (line.clone(), 1),
            (pretty.clone(), 1),
            (format!("{pretty}\n"), 1),
            (format!("{line}\n{line}\n\n"), 2),
            (format!("{line}\n{line}\n{half}"), 2),
        ] {
            assert_eq!(Checkpoint::parse_file(text.as_bytes()).unwrap(), vec![checkpoint.clone(); count], "{text}");
        }
        let error = Checkpoint::parse_file(format!("{line}\n{half}\n{line}\n").as_bytes()).unwrap_err();
        assert!(error.message().starts_with("line 2: not a checkpoint"), "{error}");
        for nothing in ["", "\n", half, "[]\n"] {
            assert!(Checkpoint::parse_file(nothing.as_bytes()).is_err(), "{nothing}");
        }
    }

    #[test]
    fn a_changed_member_breaks_the_signature() {
        let (checkpoint, key) = checkpoint();
        let changes: [fn(&mut Checkpoint); 5] = [
            |it| it.workspace_id.push('x'),
            |it| it.size += 1,
            |it| it.head_hash = EntryHash::GENESIS.hex(),
            |it| it.at = "2025-11-15T20:21:39.008Z".to_owned(),
            |it| it.signature.push('A'),
        ];
        for change in changes {
            let mut changed = checkpoint.clone();
            change(&mut changed);
            assert!(!changed.is_signed_by(key.verifying_key()), "{changed:?}");
        }
    }
}

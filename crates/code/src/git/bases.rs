//! Remembers decoded objects of packs. Neighbouring versions of a tree are stored as differences from each other, so that without this
//! each of them would be rebuilt from the start of its chain.

use gix::objs::Kind;
use gix::odb::pack::cache::DecodeEntry;

/// A power of two. With the largest object it bounds the memory of one call: 16 MiB.
const SLOTS: usize = 256;
const MAX_OBJECT: usize = 64 << 10;

struct Slot {
    pack: u32,
    offset: u64,
    kind: Kind,
    compressed: usize,
    data: Vec<u8>,
}

/// One object for each slot: the last one whose place in the pack falls on it.
pub(super) struct Bases {
    slots: Vec<Option<Slot>>,
}

impl Bases {
    pub(super) fn new() -> Self {
        Self { slots: std::iter::repeat_with(|| None).take(SLOTS).collect() }
    }

    fn slot(&mut self, pack: u32, offset: u64) -> Option<&mut Option<Slot>> {
        let mixed = (offset ^ (u64::from(pack) << 48)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        self.slots.get_mut(usize::try_from(mixed).unwrap_or_default() % SLOTS)
    }
}

impl DecodeEntry for Bases {
    fn put(&mut self, pack: u32, offset: u64, data: &[u8], kind: Kind, compressed: usize) {
        if data.len() > MAX_OBJECT {
            return;
        }
        let Some(slot) = self.slot(pack, offset) else { return };
        // The memory of the object before is used again.
        let mut kept = slot.take().map(|slot| slot.data).unwrap_or_default();
        kept.clear();
        kept.extend_from_slice(data);
        *slot = Some(Slot { pack, offset, kind, compressed, data: kept });
    }

    fn get(&mut self, pack: u32, offset: u64, out: &mut Vec<u8>) -> Option<(Kind, usize)> {
        let slot = self.slot(pack, offset)?.as_ref().filter(|slot| slot.pack == pack && slot.offset == offset)?;
        out.clear();
        out.extend_from_slice(&slot.data);
        Some((slot.kind, slot.compressed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_is_found_by_its_place_only() {
        let mut bases = Bases::new();
        let mut out = b"before".to_vec();
        bases.put(1, 20, b"text", Kind::Blob, 3);
        bases.put(1, 30, &vec![0; MAX_OBJECT + 1], Kind::Tree, 3);
        assert_eq!(bases.get(1, 20, &mut out), Some((Kind::Blob, 3)));
        assert_eq!(out, b"text");
        assert_eq!(bases.get(2, 20, &mut out), None);
        assert_eq!(bases.get(1, 30, &mut out), None, "too large to keep");
        for offset in 0..10_000 {
            bases.put(1, offset, b"other", Kind::Tree, 1);
        }
        assert!((0..10_000).filter(|offset| bases.get(1, *offset, &mut out).is_some()).count() <= SLOTS);
    }
}

//! Reads tensors by name: eight bytes with the length of a JSON header, the header, then the numbers.

use serde_json::Value;

/// A file of tensors.
pub(super) struct Tensors<'a> {
    header: Value,
    numbers: &'a [u8],
}

impl<'a> Tensors<'a> {
    pub(super) fn read(file: &'a [u8]) -> Option<Self> {
        let (length, rest) = file.split_first_chunk::<8>()?;
        let (header, numbers) = rest.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
        Some(Self { header: serde_json::from_slice(header).ok()?, numbers })
    }

    /// The floats of a tensor, which must have this shape.
    pub(super) fn floats(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>, String> {
        self.find(name, shape).ok_or_else(|| format!("the model has no float tensor `{name}` with shape {shape:?}"))
    }

    fn find(&self, name: &str, shape: &[usize]) -> Option<Vec<f32>> {
        let tensor = self.header.get(name)?;
        let numbers = |key| -> Option<Vec<usize>> {
            tensor.get(key)?.as_array()?.iter().map(|number| usize::try_from(number.as_u64()?).ok()).collect()
        };
        let (found, offsets) = (numbers("shape")?, numbers("data_offsets")?);
        let [start, end] = *offsets.as_slice() else { return None };
        if tensor.get("dtype")?.as_str()? != "F32" || found != shape {
            return None;
        }
        let (floats, rest) = self.numbers.get(start..end)?.as_chunks();
        let whole = rest.is_empty() && floats.len() == shape.iter().product::<usize>();
        whole.then(|| floats.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect())
    }
}

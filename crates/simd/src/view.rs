//! The bytes of a file, looked at as numbers where they lie.

/// A number that every pattern of bits is a value of, so that any bytes may be looked at as some. Sealed: the safety of [`view`]
/// rests on it.
pub trait Number: sealed::Number {}

impl<T: sealed::Number> Number for T {}

mod sealed {
    /// # Safety
    ///
    /// Every pattern of bits must be a value of the type.
    pub unsafe trait Number: Copy {}
    // SAFETY: whole numbers have no forbidden patterns.
    unsafe impl Number for i8 {}
    // SAFETY: as above.
    unsafe impl Number for u16 {}
    // SAFETY: as above.
    unsafe impl Number for u32 {}
    // SAFETY: every pattern is a float, if not always a number.
    unsafe impl Number for f32 {}
}

/// The bytes as numbers in the byte order of the machine, without a copy. None if they are not aligned for these numbers or are
/// not a whole number of them.
pub fn view<T: Number>(bytes: &[u8]) -> Option<&[T]> {
    // SAFETY: every pattern of bits is a value of `T`, and `align_to` looks only at what is aligned.
    let (before, numbers, after) = unsafe { bytes.align_to::<T>() };
    (before.is_empty() && after.is_empty()).then_some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_aligned_numbers_are_seen() {
        let numbers = [1.5_f32, -2.0, f32::MAX];
        let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_ne_bytes()).collect();
        let padded: Vec<u8> = [0; 4].into_iter().chain(bytes).collect();
        let start = padded.as_ptr().align_offset(4);
        let aligned = &padded[start..];
        assert_eq!(view::<f32>(&aligned[..8]).unwrap().len(), 2);
        assert!(view::<f32>(&aligned[..7]).is_none());
        assert!(view::<f32>(&aligned[1..5]).is_none());
        assert_eq!(view::<i8>(&[255, 0]).unwrap(), [-1, 0]);
    }
}

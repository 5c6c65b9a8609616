//! Views the bytes of a file as numbers without copying.

/// A number type for which every bit pattern is a valid value, so that any bytes can be viewed as such numbers. It is sealed,
/// because the safety of [`view`] depends on it.
pub trait Number: sealed::Number {}

impl<T: sealed::Number> Number for T {}

mod sealed {
    /// # Safety
    ///
    /// Every bit pattern must be a valid value of the type.
    pub unsafe trait Number: Copy {}
    // SAFETY: every bit pattern of an integer is valid.
    unsafe impl Number for i8 {}
    // SAFETY: as above.
    unsafe impl Number for u16 {}
    // SAFETY: as above.
    unsafe impl Number for u32 {}
    // SAFETY: every bit pattern is a valid float, including NaN.
    unsafe impl Number for f32 {}
}

/// The bytes as numbers in the machine's byte order, without copying. `None` if they are not aligned or not a whole number of
/// values.
pub fn view<T: Number>(bytes: &[u8]) -> Option<&[T]> {
    // SAFETY: every bit pattern is a valid `T`, and `align_to` returns only the aligned part.
    let (before, numbers, after) = unsafe { bytes.align_to::<T>() };
    (before.is_empty() && after.is_empty()).then_some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_aligned_numbers_are_viewed() {
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

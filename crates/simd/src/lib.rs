//! Vectorised sums of products, in which the vector index and the text encoder spend most of their time.
//!
//! This is our only crate with `unsafe`. It needs it for three things: reading and writing vector registers, calling functions
//! compiled for AVX2 after checking the processor, and viewing the bytes of a file as numbers. All of it is behind safe
//! functions. Nothing here knows what the numbers mean, and nothing panics for any input.
//!
//! **Every function gives the same bits on every machine.** Integer functions do, because no step saturates. Float functions
//! do, because each fixes the order of its additions and never fuses a multiplication with an addition. Tests compare both
//! versions bit by bit.

/// Calls the version of a function for the current processor: `avx2::name` or `portable::name`, which must be in scope.
macro_rules! fastest {
    ($name:ident($($argument:expr),* $(,)?)) => {{
        #[cfg(target_arch = "x86_64")]
        if crate::has_avx2() {
            // SAFETY: the processor has AVX2, and the functions of these modules need nothing else.
            return unsafe { avx2::$name($($argument),*) };
        }
        portable::$name($($argument),*)
    }};
}

/// Defines a function twice, for any processor and for AVX2, and selects one at run time. Both are in a module with the
/// function's name, so that tests can call them.
macro_rules! vectorised {
    ($(#[$meta:meta])* $visibility:vis fn $name:ident($($argument:ident: $type:ty),* $(,)?) $body:block) => {
        $(#[$meta])*
        $visibility fn $name($($argument: $type),*) {
            #[cfg(target_arch = "x86_64")]
            if crate::has_avx2() {
                // SAFETY: the processor has AVX2.
                return unsafe { $name::avx2($($argument),*) };
            }
            $name::portable($($argument),*);
        }

        mod $name {
            use super::*;

            #[inline(always)]
            pub(super) fn portable($($argument: $type),*) $body

            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2")]
            pub(super) fn avx2($($argument: $type),*) {
                portable($($argument),*);
            }
        }
    };
}

mod attention;
mod bits;
mod dot;
mod float;
mod matrix;
mod view;

pub use attention::{Attention, HEAD};
pub use bits::add_differing_bits;
pub use dot::{dot_f32, dot_i8, dots_i8};
pub use float::{add_and_normalise, gelu, normalise};
pub use matrix::{Activations, COLUMNS_MAX, Matrix, PANEL, pack};
pub use view::{Number, view};

/// Whether the processor has AVX2. The result is cached.
#[cfg(target_arch = "x86_64")]
#[inline]
fn has_avx2() -> bool {
    std::arch::is_x86_feature_detected!("avx2")
}

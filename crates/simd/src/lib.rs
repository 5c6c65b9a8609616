//! Sums of products at the speed of the machine: what the vector index and the text encoder spend their time in.
//!
//! This is the only crate of ours with `unsafe`, and it has it for three things: reading and writing a vector register,
//! calling a function that is compiled for AVX2 once the processor has said that it has it, and looking at the bytes of a file
//! as numbers. All hide behind safe functions. Nothing here knows whose numbers these are, or panics for any input.
//!
//! **Every function gives the same bits on every machine.** Whole numbers do so by themselves, because no step saturates; floats
//! do so because each function fixes the order of its additions and never fuses a multiplication into one. Tests compare
//! both versions bit by bit.

/// Calls the version of a function that the processor can run: `avx2::name` or `portable::name`, which must be in scope.
macro_rules! fastest {
    ($name:ident($($argument:expr),* $(,)?)) => {{
        #[cfg(target_arch = "x86_64")]
        if crate::has_avx2() {
            // SAFETY: the processor has AVX2, which is all that the functions of these modules are compiled for.
            return unsafe { avx2::$name($($argument),*) };
        }
        portable::$name($($argument),*)
    }};
}

/// Defines a function twice, as written for any processor and compiled for AVX2, and chooses between them when it is called. The two
/// lie in a module of the function's name, where tests find them.
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
mod dot;
mod float;
mod matrix;
mod view;

pub use attention::{Attention, HEAD};
pub use dot::{dot_f32, dot_i8, dots_i8};
pub use float::{add_and_normalise, gelu, normalise};
pub use matrix::{Activations, COLUMNS_MAX, Matrix, PANEL, pack};
pub use view::{Number, view};

/// Whether the processor has AVX2. The answer is asked for once and then read from memory.
#[cfg(target_arch = "x86_64")]
#[inline]
fn has_avx2() -> bool {
    std::arch::is_x86_feature_detected!("avx2")
}

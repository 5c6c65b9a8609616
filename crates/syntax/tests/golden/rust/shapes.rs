//! Shapes and what can be done with them.

use std::collections::{BTreeMap, HashMap as Map};
use std::fmt::{self, Display};

use crate::geometry::{Area, point::{Point, *}};
pub use self::circle::Circle as Round;
pub use crate::prelude::*;
extern crate alloc;
extern crate core as kernel;

mod circle;
#[cfg(test)]
#[path = "other/tests.rs"]
mod checks;

/// The number of corners
/// that a shape may have.
pub const CORNERS_MAX: usize = 12;

static REGISTRY: Map<u32, Shape> = Map::new();

/// A shape.
///
/// It has corners.
#[derive(Clone, Debug)]
pub struct Shape<T = f64>
where
    T: Copy,
{
    corners: Vec<Point<T>>,
}

pub(crate) struct Pair(pub u8, u8);

/** What a shape is made of. */
pub enum Material {
    Wood,
    Steel { grade: u8 },
}

union Bits {
    int: u32,
    float: f32,
}

type Shapes = Vec<Shape>; // not a doc
trait Drawable: Display + fmt::Debug + Into<u8> {
    const DEPTH: u8 = 1;
    type Canvas;

    /// Draws it.
    fn draw(&self, canvas: &mut Self::Canvas);

    fn twice(&self) {
        self.draw(todo!());
        Self::reset::<u8>();
    }
}

impl<T: Copy> Shape<T> {
    /// Makes a shape.
    #[must_use]
    pub fn new(corners: Vec<Point<T>>) -> Self {
        let made = Self { corners };
        assert!(made.corners.len() > limit(3), "too few: {}", made.count());
        geometry::check(&made);
        made
    }

    pub(crate) async fn rotate(&mut self, angle: f64) -> Result<(), Error> {
        const STEP: f64 = 0.1;
        fn helper(angle: f64) -> f64 {
            angle.sin()
        }
        self.corners.iter_mut().for_each(|corner| corner.turn(helper(angle)));
        kernel::mem::drop(BTreeMap::<u8, u8>::new());
        Ok(())
    }
}

impl<T> crate::geometry::Area<T> for Shape<T> {
    fn area(&self) -> f64 {
        println!("{}", self.width(compute(1)));
        point::Origin { x: 0 }.measure()
    }
}

impl Display for Elsewhere {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "x")
    }
}

/// Builds shapes.
#[macro_export]
macro_rules! shape {
    () => {};
}

pub mod inner {
    mod deeper;
    pub fn visible() {}
    fn hidden() {
        super::Shape::new(vec![]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn works() {
        assert_eq!(inner::visible(), ());
    }
}

//! What a run found, for people and for machines.

use std::fmt;

use serde::Serialize;

/// One figure, its yardstick and its aim.
#[derive(Clone, Debug, Serialize)]
pub struct Figure {
    /// What was measured.
    pub name: &'static str,
    /// What it came to.
    pub value: f64,
    /// The unit, or `×` for a ratio.
    pub unit: &'static str,
    /// What it is compared with.
    pub yardstick: String,
    /// What it should be.
    pub aim: &'static str,
    /// Whether it is.
    pub met: bool,
}

/// All figures of a run.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Report {
    /// The figures, in the order they were taken.
    pub figures: Vec<Figure>,
}

/// What a figure should be, in numbers and in words.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Aim {
    AtMost(f64, &'static str),
    AtLeast(f64, &'static str),
}

impl Report {
    /// Adds a figure.
    pub(crate) fn add(&mut self, name: &'static str, value: f64, unit: &'static str, yardstick: String, aim: Aim) {
        let (met, aim) = match aim {
            Aim::AtMost(most, words) => (value <= most, words),
            Aim::AtLeast(least, words) => (value >= least, words),
        };
        self.figures.push(Figure { name, value, unit, yardstick, aim, met });
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for figure in &self.figures {
            let mark = if figure.met { "ok  " } else { "MISS" };
            let value = format!("{:.2} {}", figure.value, figure.unit);
            writeln!(f, "{mark}  {:<34} {value:>12}   aim {:<9} {}", figure.name, figure.aim, figure.yardstick)?;
        }
        Ok(())
    }
}

//! The results of a run, as text and as JSON.

use std::fmt;

use serde::Serialize;

/// One result, with its baseline and its target.
#[derive(Clone, Debug, Serialize)]
pub struct Figure {
    /// What was measured.
    pub name: &'static str,
    /// The measured value.
    pub value: f64,
    /// The unit, or `×` for a ratio.
    pub unit: &'static str,
    /// The baseline, and further details.
    pub yardstick: String,
    /// The target.
    pub aim: &'static str,
    /// Whether the target is met.
    pub met: bool,
}

/// All results of a run.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Report {
    /// The results, in the order of measurement.
    pub figures: Vec<Figure>,
}

/// A target, as a number and as text.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Aim {
    AtMost(f64, &'static str),
    AtLeast(f64, &'static str),
}

impl Report {
    /// Adds a result.
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
            writeln!(f, "{mark}  {:<34} {value:>12}   target {:<9} {}", figure.name, figure.aim, figure.yardstick)?;
        }
        Ok(())
    }
}

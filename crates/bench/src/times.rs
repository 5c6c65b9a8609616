//! Percentiles of durations.

use std::time::Duration;

use anyhow::{Context, Result};

/// Percentiles, in milliseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Times {
    pub(crate) p50: f64,
    pub(crate) p99: f64,
}

impl Times {
    /// The median and the 99th percentile.
    pub(crate) fn of(times: impl IntoIterator<Item = Duration>) -> Result<Self> {
        let mut times: Vec<f64> = times.into_iter().map(|time| time.as_secs_f64() * 1e3).collect();
        times.sort_by(f64::total_cmp);
        let at = |percent: usize| times.get(times.len() * percent / 100).or(times.last()).copied().context("at least one");
        Ok(Self { p50: at(50)?, p99: at(99)? })
    }
}

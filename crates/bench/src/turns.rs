//! Compares variants by loading them in short slices, in turn, for several rounds.
//!
//! A temporarily slow machine then affects all variants, and results are medians over the rounds.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context, Result};

use crate::load::{Load, load};
use crate::process::Process;

pub(crate) const CONNECTIONS: usize = 16;

/// The length of a slice.
const SLICE: Duration = Duration::from_millis(200);

/// One variant: a server and the request to send.
pub(crate) struct Side<'a> {
    pub(crate) process: &'a Process,
    pub(crate) address: SocketAddr,
    pub(crate) request: Vec<u8>,
}

/// The loads of each round, one per side.
pub(crate) struct Turns<const N: usize>(Vec<[Load; N]>);

impl<const N: usize> Turns<N> {
    /// Loads all sides in turn.
    pub(crate) async fn take(rounds: u32, sides: &[Side<'_>; N]) -> Result<Self> {
        let mut loads = Vec::new();
        for _ in 0..rounds {
            let mut round = Vec::with_capacity(N);
            for side in sides {
                round.push(load(side.process, side.address, CONNECTIONS, SLICE, &side.request).await?);
            }
            loads.push(<[Load; N]>::try_from(round).ok().context("a load for each side")?);
        }
        Ok(Self(loads))
    }

    /// The median of `figure` over the rounds. Its argument is each side's CPU time per request, in microseconds.
    pub(crate) fn median(&self, figure: impl Fn([f64; N]) -> f64) -> f64 {
        self.median_of(|round| figure(round.map(|load| load.cpu_us())))
    }

    /// The median of each side's CPU time per request, in microseconds.
    pub(crate) fn medians(&self) -> [f64; N] {
        std::array::from_fn(|side| self.median(|costs| costs.get(side).copied().unwrap_or(f64::NAN)))
    }

    /// The median requests per second of the last side.
    pub(crate) fn last_rate(&self) -> f64 {
        self.median_of(|round| round.last().map_or(f64::NAN, Load::rate))
    }

    fn median_of(&self, figure: impl Fn(&[Load; N]) -> f64) -> f64 {
        median(self.0.iter().map(figure))
    }
}

/// The median.
pub(crate) fn median(figures: impl Iterator<Item = f64>) -> f64 {
    let mut figures: Vec<f64> = figures.collect();
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load_of(us: u64) -> Load {
        Load { requests: 1, server_cpu: Duration::from_micros(us), wall: Duration::from_micros(us) }
    }

    #[test]
    fn result_is_the_median_of_per_round_values() {
        // The machine is three times as slow in the last round, for both sides.
        let turns = Turns(vec![[load_of(10), load_of(20)], [load_of(10), load_of(22)], [load_of(30), load_of(60)]]);
        assert!((turns.median(|[bare, ours]| ours / bare) - 2.0).abs() < 1e-9);
        assert_eq!(turns.medians().map(|us| us as u64), [10, 22]);
        assert!((turns.last_rate() - 1e6 / 22.0).abs() < 1e-6);
    }
}

//! Reads request bodies with a size limit and a time limit.

use std::time::Duration;

use base::limits::{BODY_IDLE_FACTOR, Limits};
use bytes::{Bytes, BytesMut};
use guard::{Refusal, UnderWay};
use http_body::Body;
use http_body_util::BodyExt;

/// Why a body could not be read.
#[derive(Debug)]
pub(crate) enum Unreadable {
    /// It exceeds the size limit.
    TooLarge {
        /// The limit.
        bytes_max: usize,
    },
    /// The client sent too slowly.
    TooSlow,
    /// The connection closed before the body was complete.
    Broken,
    /// The caller, its org or the server has reached its memory limit.
    Full(Refusal),
}

/// Reads the whole `body`, up to `bytes_max`. Memory is reserved in `under_way` first. Without `under_way` the caller is unknown and
/// `bytes_max` is small.
pub(crate) async fn read<B: Body<Data = Bytes> + Unpin>(
    mut body: B,
    bytes_max: usize,
    limits: &Limits,
    under_way: Option<&UnderWay>,
) -> Result<Bytes, Unreadable> {
    let idle = Duration::from_secs(limits.client_idle_seconds);
    // Also limits a client that sends a byte now and then.
    let deadline = tokio::time::Instant::now() + idle * BODY_IDLE_FACTOR;
    let announced = body.size_hint().lower();
    if announced > bytes_max as u64 {
        return Err(Unreadable::TooLarge { bytes_max });
    }
    // The announced size is reserved at once. Otherwise concurrent bodies could each reserve a part, and none could be completed.
    let announced = usize::try_from(announced).unwrap_or(bytes_max);
    let hold = |bytes| under_way.map_or(Ok(()), |under_way| under_way.hold(bytes)).map_err(Unreadable::Full);
    hold(announced)?;
    let mut held = announced;
    let mut first = Bytes::new();
    let mut whole = BytesMut::new();
    loop {
        let patience = (tokio::time::Instant::now() + idle).min(deadline);
        let frame = match tokio::time::timeout_at(patience, body.frame()).await {
            Err(_) => return Err(Unreadable::TooSlow),
            Ok(None) => break,
            Ok(Some(Err(_))) => return Err(Unreadable::Broken),
            Ok(Some(Ok(frame))) => frame,
        };
        let Ok(data) = frame.into_data() else { continue };
        let arrived = first.len() + whole.len() + data.len();
        if arrived > bytes_max {
            return Err(Unreadable::TooLarge { bytes_max });
        }
        if arrived > held {
            hold(arrived - held)?;
            held = arrived;
        }
        // Most bodies arrive in one piece, which needs no copy.
        if first.is_empty() && whole.is_empty() {
            first = data;
        } else {
            if whole.is_empty() {
                whole.extend_from_slice(&std::mem::take(&mut first));
            }
            whole.extend_from_slice(&data);
        }
    }
    Ok(if whole.is_empty() { first } else { whole.freeze() })
}

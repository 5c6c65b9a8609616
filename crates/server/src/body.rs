//! Reading a body: never more than the limit, never waiting for ever.

use std::time::Duration;

use base::limits::Limits;
use bytes::{Bytes, BytesMut};
use guard::{Refusal, UnderWay};
use http_body::Body;
use http_body_util::BodyExt;

/// How many times the idle limit a whole body may take.
const WHOLE_BODY: u32 = 10;

/// Why a body could not be read.
#[derive(Debug)]
pub(crate) enum Unreadable {
    /// It is over the limit.
    TooLarge {
        /// The limit.
        bytes_max: usize,
    },
    /// The client stopped sending.
    TooSlow,
    /// The connection broke.
    Broken,
    /// The caller, its org or the server holds all the bytes that it may hold.
    Full(Refusal),
}

/// Reads `body` whole, at most `bytes_max` of it. What is kept in memory is held by `under_way` first; without one, the body is a
/// stranger's and `bytes_max` is small.
pub(crate) async fn read<B: Body<Data = Bytes> + Unpin>(
    mut body: B,
    bytes_max: usize,
    limits: &Limits,
    under_way: Option<&UnderWay>,
) -> Result<Bytes, Unreadable> {
    let idle = Duration::from_secs(limits.client_idle_seconds);
    // A client that sends a byte now and then is as slow as one that stops.
    let deadline = tokio::time::Instant::now() + idle * WHOLE_BODY;
    if body.size_hint().lower() > bytes_max as u64 {
        return Err(Unreadable::TooLarge { bytes_max });
    }
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
        if first.len() + whole.len() + data.len() > bytes_max {
            return Err(Unreadable::TooLarge { bytes_max });
        }
        under_way.map_or(Ok(()), |under_way| under_way.hold(data.len())).map_err(Unreadable::Full)?;
        // Most bodies come in one piece, and that piece is the body.
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

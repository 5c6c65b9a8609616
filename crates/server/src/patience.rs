//! Disconnects clients that do not read their answers. While an answer is being written, no further request is read, and a client that
//! takes nothing of it for too long is disconnected.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};

/// A stream with a time limit for stalled writes.
pub(crate) struct Patient<S> {
    stream: S,
    patience: Duration,
    /// Runs while a write is stalled.
    waiting: Pin<Box<Sleep>>,
    is_waiting: bool,
    /// Whether a read was requested in the meantime.
    reader_waits: bool,
}

impl<S> Patient<S> {
    pub(crate) fn new(stream: S, patience: Duration) -> Self {
        Self { stream, patience, waiting: Box::pin(sleep(patience)), is_waiting: false, reader_waits: false }
    }

    /// Passes on the result of a write, unless the write has stalled for too long.
    fn progress<T>(&mut self, context: &mut Context<'_>, written: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.is_waiting = false;
            // Nothing else wakes the reader.
            if std::mem::take(&mut self.reader_waits) {
                context.waker().wake_by_ref();
            }
            return written;
        }
        if !self.is_waiting {
            self.is_waiting = true;
            self.waiting.as_mut().reset(Instant::now() + self.patience);
        }
        match self.waiting.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Patient<S> {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if self.is_waiting {
            self.reader_waits = true;
            return Poll::Pending;
        }
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Patient<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.progress(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, pieces);
        self.progress(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    const PATIENCE: Duration = Duration::from_secs(30);

    #[tokio::test(start_paused = true)]
    async fn stalled_client_is_disconnected_and_slow_client_is_not() {
        let (client, server) = duplex(4);
        let mut server = Patient::new(server, PATIENCE);
        let began = Instant::now();
        let refused = server.write_all(b"more than fits").await.unwrap_err();
        assert_eq!((refused.kind(), began.elapsed()), (io::ErrorKind::TimedOut, PATIENCE));
        drop(client);

        let (mut client, server) = duplex(1);
        let mut server = Patient::new(server, PATIENCE);
        let slow = async {
            for _ in 0..4 {
                tokio::time::sleep(PATIENCE - Duration::from_secs(1)).await;
                client.read_u8().await.unwrap();
            }
        };
        let (written, ()) = tokio::join!(server.write_all(b"slow"), slow);
        written.unwrap();
    }

    #[tokio::test]
    async fn no_request_is_read_while_an_answer_waits() {
        let (mut client, server) = duplex(4);
        let mut server = Patient::new(server, PATIENCE);
        client.write_all(b"next").await.unwrap();
        let mut buffer = [0; 4];
        {
            let mut write = std::pin::pin!(server.write_all(b"five+"));
            assert!(futures_util::poll!(write.as_mut()).is_pending());
        }
        assert!(futures_util::poll!(std::pin::pin!(server.read(&mut buffer))).is_pending());
        client.read_exact(&mut buffer).await.unwrap();
        server.write_all(b"+").await.unwrap();
        assert_eq!(server.read(&mut buffer).await.unwrap(), 4);
    }
}

//! Bounds on bodies, answers, connections, threads and the log.

mod bytes;
mod connections;
mod log;
mod threads;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

use crate::support::{Crib, Session};

/// A connection that the test reads and writes byte by byte.
pub(crate) struct Raw(TcpStream);

impl Raw {
    pub(crate) async fn open(crib: &Crib) -> Self {
        Self(TcpStream::connect(crib.url.strip_prefix("http://").unwrap()).await.unwrap())
    }

    /// A connection with a small receive buffer.
    pub(super) async fn open_narrow(crib: &Crib) -> Self {
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_recv_buffer_size(4_096).unwrap();
        Self(socket.connect(crib.url.strip_prefix("http://").unwrap().parse().unwrap()).await.unwrap())
    }

    pub(crate) async fn send(&mut self, bytes: &[u8]) {
        self.0.write_all(bytes).await.unwrap();
    }

    /// Sends the head of a request to a session's door with a body of `length` bytes to follow.
    pub(crate) async fn head(&mut self, session: &Session<'_>, length: usize) {
        self.send(head(session, length).as_bytes()).await;
    }

    /// The head of the next answer, in lower case, and its body.
    pub(crate) async fn answer(&mut self) -> (String, String) {
        let mut bytes = Vec::new();
        let end = loop {
            if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
                break end + 4;
            }
            assert_ne!(self.0.read_buf(&mut bytes).await.unwrap(), 0, "closed without an answer");
        };
        let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).map_or(0, |text| text.parse().unwrap());
        while bytes.len() < end + length {
            assert_ne!(self.0.read_buf(&mut bytes).await.unwrap(), 0, "closed in the middle of an answer");
        }
        (head, String::from_utf8_lossy(&bytes[end..end + length]).into_owned())
    }

    /// The status of the next answer.
    pub(crate) async fn status(&mut self) -> u16 {
        self.answer().await.0.split(' ').nth(1).unwrap().parse().unwrap()
    }

    /// Waits for the next byte or the end. Returns whether the server closed the connection.
    pub(super) async fn is_closed(&mut self) -> bool {
        let mut byte = [0];
        matches!(self.0.read(&mut byte).await, Ok(0) | Err(_))
    }
}

pub(super) fn head(session: &Session<'_>, length: usize) -> String {
    let path = session.url.splitn(4, '/').nth(3).unwrap();
    format!(
        "POST /{path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {}\r\ncontent-length: {length}\r\n\r\n",
        session.key
    )
}

/// A whole request to a session's door.
pub(super) fn whole(session: &Session<'_>, message: &Value) -> Vec<u8> {
    let body = message.to_string();
    format!("{}{body}", head(session, body.len())).into_bytes()
}

//! A minimal HTTP client: one keep-alive connection, one request at a time. It does as little work as possible, so that even on two
//! cores the benchmark measures the server.

use std::net::SocketAddr;

use anyhow::{Context, Result, bail};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// A keep-alive connection.
pub(crate) struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

/// A response. Its body is valid until the next request.
pub(crate) struct Answer<'b> {
    pub(crate) status: u16,
    pub(crate) body: &'b [u8],
}

impl Connection {
    pub(crate) async fn open(address: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(address).await.with_context(|| format!("cannot connect to {address}"))?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, buffer: Vec::with_capacity(64 * 1024) })
    }

    /// Sends a request and reads the response.
    pub(crate) async fn exchange(&mut self, request: &[u8]) -> Result<Answer<'_>> {
        self.stream.write_all(request).await?;
        self.buffer.clear();
        loop {
            if self.stream.read_buf(&mut self.buffer).await? == 0 {
                bail!("the server closed the connection");
            }
            if let Some((status, start, length)) = head(&self.buffer)? {
                while self.buffer.len() < start + length {
                    if self.stream.read_buf(&mut self.buffer).await? == 0 {
                        bail!("connection closed mid-response");
                    }
                }
                let body = self.buffer.get(start..start + length).unwrap_or_default();
                return Ok(Answer { status, body });
            }
        }
    }

    /// Sends JSON and expects `status`.
    pub(crate) async fn json(&mut self, request: &[u8], status: u16) -> Result<Value> {
        let answer = self.exchange(request).await?;
        if answer.status != status {
            bail!("expected {status}, got {}: {}", answer.status, String::from_utf8_lossy(answer.body));
        }
        if answer.body.is_empty() { Ok(Value::Null) } else { Ok(serde_json::from_slice(answer.body)?) }
    }
}

/// The bytes of a GET request.
pub(crate) fn get(path: &str, key: &str) -> Vec<u8> {
    request("GET", path, key, "")
}

/// The bytes of a POST request.
pub(crate) fn post(path: &str, key: &str, body: &str) -> Vec<u8> {
    request("POST", path, key, body)
}

/// The bytes of a PUT request.
pub(crate) fn put(path: &str, key: &str, body: &str) -> Vec<u8> {
    request("PUT", path, key, body)
}

fn request(method: &str, path: &str, key: &str, body: &str) -> Vec<u8> {
    format!(
        "{method} {path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {key}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

/// The status, the start of the body and its length, once the head is complete.
fn head(bytes: &[u8]) -> Result<Option<(u16, usize, usize)>> {
    let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") else {
        return Ok(None);
    };
    let head = std::str::from_utf8(bytes.get(..end).unwrap_or_default())?;
    let mut lines = head.split("\r\n");
    let status = lines.next().and_then(|line| line.split(' ').nth(1)).context("no status line")?.parse()?;
    let length = lines
        .filter_map(|line| line.split_once(':'))
        .find(|(name, _)| name.eq_ignore_ascii_case("content-length"))
        .map_or(Ok(0), |(_, value)| value.trim().parse())?;
    Ok(Some((status, end + 4, length)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn response_head_is_parsed_once_complete() {
        assert_eq!(head(b"HTTP/1.1 200 OK\r\nContent-Le").unwrap(), None);
        assert_eq!(head(b"HTTP/1.1 202 Accepted\r\n\r\n").unwrap(), Some((202, 25, 0)));
        assert_eq!(head(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello").unwrap(), Some((200, 38, 5)));
    }
}

//! A client of a server that costs next to nothing: requests over a connection that stays open.

use std::io;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;

/// A connection that stays open.
pub(crate) struct Connection(BufReader<TcpStream>);

impl Connection {
    pub(crate) async fn open(address: &str) -> Connection {
        Connection(BufReader::new(TcpStream::connect(address).await.expect("it listens")))
    }

    /// Sends a request without waiting for its answer.
    pub(crate) async fn send(&mut self, method: &str, path: &str, body: &str) {
        let length = body.len();
        let text = format!(
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
        );
        self.0.get_mut().write_all(text.as_bytes()).await.expect("it reads");
    }

    /// Reads the head of an answer: its status, and how long its body is.
    pub(crate) async fn head(&mut self) -> io::Result<(u16, usize)> {
        let (mut line, mut status, mut length) = (String::new(), 0, 0);
        loop {
            line.clear();
            if self.0.read_line(&mut line).await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            match line.trim_end().split_once(':') {
                Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                    length = value.trim().parse().map_err(io::Error::other)?;
                }
                Some(_) => {}
                None if line.trim_end().is_empty() => return Ok((status, length)),
                None => status = line.split(' ').nth(1).and_then(|word| word.parse().ok()).unwrap_or_default(),
            }
        }
    }

    /// Reads an answer: its status and its body.
    pub(crate) async fn answer(&mut self) -> (u16, Vec<u8>) {
        let (status, length) = self.head().await.expect("an answer");
        let mut bytes = vec![0; length];
        self.0.read_exact(&mut bytes).await.expect("a body");
        (status, bytes)
    }

    /// Makes a request, and returns what is answered.
    pub(crate) async fn ask(&mut self, method: &str, path: &str, body: &str) -> Value {
        serde_json::from_slice(&self.done(method, path, body).await).expect("JSON")
    }

    /// Makes a request that must succeed, and returns the answer as it came: whoever needs little of it reads only that.
    pub(crate) async fn done(&mut self, method: &str, path: &str, body: &str) -> Vec<u8> {
        self.send(method, path, body).await;
        let (status, bytes) = self.answer().await;
        assert!(status < 300, "{method} {path}: {status} {}", String::from_utf8_lossy(&bytes));
        bytes
    }
}

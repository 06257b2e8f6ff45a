//! As much of HTTP/1.1 as the programs need: one request for each connection, one answer, then the connection is closed.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

use anyhow::{Context, Result, bail};

/// A request, read whole.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) method: String,
    /// With the query, as it was sent.
    pub(crate) path: String,
    pub(crate) body: Vec<u8>,
}

/// An answer, written whole.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: String,
}

impl Response {
    /// Returns an answer that is a JSON document.
    pub(crate) fn json(status: u16, body: &serde_json::Value) -> Self {
        Self { status, headers: vec![("content-type", "application/json".to_owned())], body: body.to_string() }
    }

    /// Returns an answer that is a stream of events.
    pub(crate) fn events(body: String) -> Self {
        Self { status: 200, headers: vec![("content-type", "text/event-stream".to_owned())], body }
    }

    pub(crate) fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }
}

/// Reads one request.
pub(crate) fn read(stream: &TcpStream) -> Result<Request> {
    let mut reader = BufReader::new(stream);
    let first = line(&mut reader)?;
    let mut words = first.split(' ');
    let method = words.next().context("no method")?.to_owned();
    let path = words.next().context("no path")?.to_owned();
    let (mut length, mut chunked) = (0, false);
    loop {
        let header = line(&mut reader)?.to_ascii_lowercase();
        match header.split_once(':') {
            None => break,
            Some(("content-length", value)) => length = value.trim().parse()?,
            Some(("transfer-encoding", value)) => chunked = value.contains("chunked"),
            Some(_) => {}
        }
    }
    let body = if chunked { chunks(&mut reader)? } else { bytes(&mut reader, length)? };
    Ok(Request { method, path, body })
}

/// Writes the answer; its end is the end of the connection.
pub(crate) fn write(mut stream: &TcpStream, response: &Response) -> Result<()> {
    write!(stream, "HTTP/1.1 {} scripted\r\nconnection: close\r\n", response.status)?;
    for (name, value) in &response.headers {
        write!(stream, "{name}: {value}\r\n")?;
    }
    write!(stream, "\r\n{}", response.body)?;
    stream.flush()?;
    Ok(())
}

fn line(reader: &mut impl BufRead) -> Result<String> {
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        bail!("the connection was closed");
    }
    Ok(line.trim_end().to_owned())
}

fn bytes(reader: &mut impl Read, length: usize) -> Result<Vec<u8>> {
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok(body)
}

fn chunks(reader: &mut impl BufRead) -> Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let size = line(reader)?;
        let length = usize::from_str_radix(size.split(';').next().unwrap_or_default(), 16)?;
        body.extend(bytes(reader, length)?);
        line(reader)?;
        if length == 0 {
            return Ok(body);
        }
    }
}

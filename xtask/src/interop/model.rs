//! A model on loopback that answers by a script, in the words of each vendor's API, and counts what it is asked.
//!
//! The first part of a path names the program that asks, so that one model serves all four.

use std::fs::File;
use std::io::Write;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::Result;
use serde_json::{Value, json};

use super::http::{self, Request, Response};
use super::script::{Answer, NOW, Script};
use super::vendor::Vendor;
use super::{anthropic, generate_content, responses};

/// A model that listens.
#[derive(Debug)]
pub(crate) struct Model {
    address: SocketAddr,
    inner: Arc<Mutex<Inner>>,
}

#[derive(Debug)]
struct Inner {
    script: Script,
    usage: Usage,
    asked: Asked,
    log: File,
    /// Connections that were told to hang; they stay open as long as the model.
    hanging: Vec<TcpStream>,
}

/// How often the model was asked, and with how much.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Asked {
    /// Calls that got an answer of the script.
    pub(crate) calls: usize,
    /// What was sent to the model in these calls.
    pub(crate) bytes: usize,
}

/// The tokens that every answer claims to have used.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Usage {
    pub(crate) input: u64,
    pub(crate) cached: u64,
    pub(crate) output: u64,
}

/// What a request asks for.
#[derive(Debug)]
pub(crate) struct Turn {
    /// What was said before the assistant spoke for the first time.
    pub(crate) prompt: String,
    /// How often the assistant has spoken.
    pub(crate) position: usize,
}

impl Model {
    /// Listens on a port of loopback; every request is noted in `log`.
    pub(crate) fn start(script: Script, usage: Usage, log: &Path) -> Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let address = listener.local_addr()?;
        let (asked, hanging) = (Asked::default(), Vec::new());
        let inner = Arc::new(Mutex::new(Inner { script, usage, asked, log: File::create(log)?, hanging }));
        let shared = Arc::clone(&inner);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let inner = Arc::clone(&shared);
                std::thread::spawn(move || serve(&inner, stream));
            }
        });
        Ok(Self { address, inner })
    }

    /// Returns where this program finds the model.
    pub(crate) fn url(&self, vendor: Vendor) -> String {
        format!("http://{}/{}", self.address, vendor.name())
    }

    /// Returns what was asked so far.
    pub(crate) fn asked(&self) -> Asked {
        lock(&self.inner).asked
    }
}

/// Returns how often somebody spoke: neighbouring pieces are one speech.
pub(crate) fn speeches(spoken: impl Iterator<Item = bool>) -> usize {
    let (mut count, mut before) = (0, false);
    for now in spoken {
        count += usize::from(now && !before);
        before = now;
    }
    count
}

/// Returns the time in an hour, in seconds since 1970.
pub(crate) fn in_an_hour() -> u64 {
    date("+%s").parse::<u64>().unwrap_or(0) + 3600
}

/// Asks the machine, not our own process: an answer is nothing that a test could repeat.
fn date(format: &str) -> String {
    let date = Command::new("date").args(["-u", format]).output();
    date.map_or_else(|_| String::new(), |date| String::from_utf8_lossy(&date.stdout).trim().to_owned())
}

fn serve(inner: &Mutex<Inner>, stream: TcpStream) {
    // A program that was killed closes its connection in the middle of a request, which does not concern the model.
    let Ok(request) = http::read(&stream) else { return };
    if let Some(response) = answer(&mut lock(inner), &request) {
        let _closed_by_the_program = http::write(&stream, &response);
    } else {
        lock(inner).hanging.push(stream);
    }
}

/// Returns what is answered, or nothing if the program is kept waiting.
fn answer(inner: &mut Inner, request: &Request) -> Option<Response> {
    let mut words = request.path.trim_start_matches('/').splitn(2, '/');
    let vendor = words.next().and_then(|name| Vendor::ALL.into_iter().find(|vendor| vendor.name() == name));
    let path = words.next().unwrap_or_default();
    let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
    let (Some(vendor), "POST") = (vendor, request.method.as_str()) else {
        note(inner, request, "nothing here", &body);
        return Some(Response::json(404, &json!({"error": {"message": "nothing here"}})));
    };
    let stream = path.contains("streamGenerateContent");
    if path.contains("count_tokens") || path.contains(":countTokens") {
        note(inner, request, "tokens", &body);
        return Some(Response::json(200, &json!({"input_tokens": 1000, "totalTokens": 1000})));
    }
    let turn = match vendor {
        Vendor::Claude | Vendor::Opencode => anthropic::turn(&body),
        Vendor::Codex => responses::turn(&body),
        Vendor::Gemini if generate_content::is_routing(&body) => {
            note(inner, request, "routing", &body);
            return Some(generate_content::routing(stream));
        }
        Vendor::Gemini => generate_content::turn(&body),
    };
    if is_title(&body) {
        note(inner, request, "title", &body);
        return Some(respond(vendor, &body, stream, &Answer::Text("A title".to_owned()), inner.usage, 0));
    }
    let mut answer = inner.script.answer(&turn.prompt, turn.position);
    if let Answer::Text(text) = &mut answer {
        *text = text.replace(NOW, &date("+%Y-%m-%dT%H:%M:%SZ"));
    }
    inner.asked.calls += 1;
    inner.asked.bytes += request.body.len();
    note(inner, request, &format!("{}: {answer:?}", turn.position), &body);
    let number = inner.asked.calls;
    (!matches!(answer, Answer::Hang)).then(|| respond(vendor, &body, stream, &answer, inner.usage, number))
}

fn respond(vendor: Vendor, body: &Value, stream: bool, answer: &Answer, usage: Usage, number: usize) -> Response {
    match vendor {
        Vendor::Claude | Vendor::Opencode => anthropic::response(vendor, body, answer, usage, number),
        Vendor::Codex => responses::response(answer, usage, number),
        Vendor::Gemini => generate_content::response(stream, answer, usage, number),
    }
}

/// Returns whether the program only wants a heading for the session.
fn is_title(body: &Value) -> bool {
    body["system"].to_string().contains("title generator") || body["system"].to_string().contains("session title")
}

fn note(inner: &mut Inner, request: &Request, what: &str, body: &Value) {
    let line = json!({"path": request.path, "bytes": request.body.len(), "what": what, "body": body});
    // The log is for whoever looks for the cause of a failure; without it the model works as well.
    let _unwritten = writeln!(inner.log, "{line}");
}

fn lock(inner: &Mutex<Inner>) -> MutexGuard<'_, Inner> {
    inner.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbouring_pieces_are_one_speech() {
        assert_eq!(speeches([false, true, true, false, true].into_iter()), 2);
        assert_eq!(speeches([false].into_iter()), 0);
    }
}

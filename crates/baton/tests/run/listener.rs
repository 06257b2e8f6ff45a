//! Somebody on loopback who is sent requests: a receiver of webhooks, a collector of spans.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::process::Command;
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

/// Nothing takes longer, on the slowest machine.
const LONG: Duration = Duration::from_secs(60);

/// Listens until the test ends.
pub(crate) struct HttpListener {
    pub(crate) url: String,
    requests: Receiver<Received>,
}

/// A request as it came in.
#[derive(Debug)]
pub(crate) struct Received {
    pub(crate) path: String,
    headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Received {
    pub(crate) fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(other, _)| other == name);
        found.map_or_else(|| panic!("no {name} in {:?}", self.headers), |(_, value)| value)
    }

    /// Works the signature of a webhook out with another program.
    pub(crate) fn assert_signed(&self, secret: &str) {
        let (time, tag) = self.header("baton-signature").split_once(",v1=").expect("both parts");
        let time = time.strip_prefix("t=").expect("the time");
        let script = "import hmac, sys, time\nsigned = (sys.argv[2] + '.' + sys.argv[3]).encode()\n\
            print(hmac.new(sys.argv[1].encode(), signed, 'sha256').hexdigest(), abs(time.time() - int(sys.argv[2])) < 120)";
        let output = Command::new("python3").args(["-c", script, secret, time, &self.body]).output().expect("python");
        assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), format!("{tag} True"));
    }
}

impl HttpListener {
    /// Answers with these statuses one after the other, and with the last one from then on.
    pub(crate) fn answering(statuses: &'static [&'static str]) -> HttpListener {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let (sender, requests) = mpsc::channel();
        std::thread::spawn(move || {
            for (number, stream) in listener.incoming().enumerate() {
                let mut reader = BufReader::new(stream.expect("a connection"));
                let received = receive(&mut reader);
                let status = statuses[number.min(statuses.len() - 1)];
                let answer = format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
                // Whoever was killed does not read it.
                let _ = reader.get_mut().write_all(answer.as_bytes());
                if sender.send(received).is_err() {
                    return;
                }
            }
        });
        HttpListener { url, requests }
    }

    /// Waits for the next request.
    pub(crate) fn next(&self) -> Received {
        self.requests.recv_timeout(LONG).expect("a request")
    }

    /// Returns what has come in by now.
    pub(crate) fn so_far(&self) -> Vec<Received> {
        self.requests.try_iter().collect()
    }
}

fn receive(reader: &mut BufReader<std::net::TcpStream>) -> Received {
    let line = |reader: &mut BufReader<std::net::TcpStream>| {
        let mut line = String::new();
        reader.read_line(&mut line).expect("a line");
        line.trim_end().to_owned()
    };
    let path = line(reader).split(' ').nth(1).unwrap_or_default().to_owned();
    let mut headers = Vec::new();
    while let Some((name, value)) = line(reader).split_once(':') {
        headers.push((name.to_lowercase(), value.trim().to_owned()));
    }
    let length = headers
        .iter()
        .find(|(name, _)| name == "content-length")
        .map_or(0, |(_, value)| value.parse().expect("a number"));
    let mut body = String::new();
    reader.take(length).read_to_string(&mut body).expect("a body");
    Received { path, headers, body }
}

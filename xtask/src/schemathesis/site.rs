//! A server with something in it: a run that waits for a person, and handoffs that wait for an agent.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use crate::process;

const WORKFLOW: &str = "\
name: sample
description: Builds something and asks whether it may be shipped.
inputs: {feature: {description: What to build, default: dates}}
agents: {dev: {command: [./dev.sh]}}
phases:
  - {id: build, agent: dev}
  - {id: ok, gate: {name: 'Ship it?', items: [the parser]}}
  - {id: ship, agent: dev}
";

const AGENT: &str = r#"#!/bin/sh
cat > /dev/null
printf '{"baton": 1, "document": "report", "id": "%s", "outcome": "complete", "summary": "Wrote the parser for dates and its three tests."}' "$BATON_HANDOFF_ID" > "$BATON_REPORT_FILE"
"#;

/// A server that is ended when this is dropped.
pub(super) struct Site {
    pub(super) folder: PathBuf,
    pub(super) url: String,
    /// The token to ask with.
    pub(super) token: String,
    server: Child,
}

impl Site {
    /// Starts a server in a new folder, and makes a token of this role.
    pub(super) fn open(folder: &Path, baton: &Path, role: &str) -> Result<Self> {
        if folder.exists() {
            std::fs::remove_dir_all(folder)?;
        }
        for part in ["flow", "workspace", "home"] {
            std::fs::create_dir_all(folder.join(part))?;
        }
        std::fs::write(folder.join("flow/workflow.yaml"), WORKFLOW)?;
        std::fs::write(folder.join("flow/dev.sh"), AGENT)?;
        process::run(Command::new("chmod").arg("+x").arg(folder.join("flow/dev.sh")), "it is our own file")?;
        let baton = |arguments: &[&str]| {
            let mut command = Command::new(baton);
            command.current_dir(folder).env("HOME", folder.join("home")).env_remove("XDG_STATE_HOME");
            command.args(arguments).args(["--store", "sqlite:baton.db"]);
            command
        };
        let token = |role: &str| -> Result<String> {
            let of_agent: &[&str] = if role == "agent" { &["--agent", "finder"] } else { &[] };
            let arguments = [&["token", "create", "--role", role, "--name", "ana"], of_agent].concat();
            Ok(process::stdout(&mut baton(&arguments), "see above")?.trim().to_owned())
        };
        let (approver, token) = (token("approver")?, token(role)?);
        // It looks at what a wrong token gets, again and again; tests of the program look at the limit.
        let options = ["--workflow", "flow", "--workspace", "workspace", "--wrong-tokens", "1000000"];
        let arguments = [&["serve", "--listen", "127.0.0.1:0", "--json"], &options[..]].concat();
        let log = std::fs::File::create(folder.join("server.log"))?;
        let mut server = baton(&arguments).stdout(Stdio::piped()).stderr(log).spawn().context("baton serve")?;
        let stdout = server.stdout.take().context("stdout is a pipe")?;
        let mut site = Self { folder: folder.to_owned(), url: String::new(), token, server };
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line)?;
        let told: Value = serde_json::from_str(&line).context("the server did not start; see server.log")?;
        site.url = told["url"].as_str().context("the server says where it is")?.to_owned();
        site.furnish(&approver)?;
        Ok(site)
    }

    fn furnish(&self, approver: &str) -> Result<()> {
        self.post(approver, "/api/v1/runs", &json!({ "workflow": "sample", "id": "sample-run" }))?;
        for id in ["sample-1", "sample-2"] {
            let document = json!({
                "baton": 1, "document": "request", "id": id, "instructions": "Find the parser of dates.",
            });
            self.post(approver, "/api/v1/handoffs", &json!({ "document": document, "to": "finder" }))?;
        }
        Ok(())
    }

    fn post(&self, token: &str, path: &str, body: &Value) -> Result<()> {
        let address = self.url.trim_start_matches("http://");
        let (mut stream, body) = (TcpStream::connect(address)?, body.to_string());
        write!(
            stream,
            "POST {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nAuthorization: Bearer {token}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        )?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        if !answer.starts_with("HTTP/1.1 201") {
            bail!("POST {path}: {answer}");
        }
        Ok(())
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        // Whatever it still does is of no interest.
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

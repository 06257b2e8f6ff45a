//! What was seen of a session: which tools its agents used, and when they worked. It only grows, and lies in the user's
//! state folder, out of the workspace in which agents write.
//!
//! A log has the form of a Claude Code transcript, so that evidence reads it as one. Calls that failed are left out.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use baton_engine::evidence::Transcript;
use baton_engine::handoff::Digest;
use baton_engine::{RunId, StateFolder};
use baton_host::folders::make_private_folders;
use serde_json::{Value, json};

use super::input::{Subagent, ToolCall, ToolUse};
use super::report_text::is_file;

/// How the main session is called in the log.
const MAIN: &str = "main";

/// The log of everything in a session.
const SESSION_FILE: &str = "session.jsonl";

/// What was seen of a session, from the point of view of one agent in it.
#[derive(Debug, Clone)]
pub(crate) struct SessionLog {
    folder: PathBuf,
    /// The agent, as a name of files.
    agent: String,
    is_main: bool,
}

/// Returns the run that a session is.
pub(crate) fn run_of(session: &str) -> RunId {
    let digest = || Digest::of(session.as_bytes()).0;
    RunId::parse(session)
        .or_else(|_| RunId::parse(format!("session-{}", &digest()[digest().len() - 16..])))
        .expect("hexadecimal digits are safe")
}

/// Returns a name as one of files.
fn file_name(name: &str) -> String {
    run_of(name).to_string()
}

impl SessionLog {
    /// Finds the log of a session in a project, for one of its agents. Nothing is made by looking.
    pub(crate) fn of(state: &StateFolder, project: &Path, session: &str, subagent: Option<&Subagent>) -> SessionLog {
        let folder = state.of(project).join("hooks").join(file_name(session));
        let agent = subagent.map_or_else(|| MAIN.to_owned(), |subagent| file_name(&subagent.id));
        SessionLog { folder, agent, is_main: subagent.is_none() }
    }

    /// Returns the folder of the session, and makes it.
    pub(crate) fn folder(&self) -> io::Result<&Path> {
        make_private_folders(&self.folder)?;
        Ok(&self.folder)
    }

    /// Returns the agent, as a name of files.
    pub(crate) fn agent(&self) -> &str {
        &self.agent
    }

    /// Notes that an agent of a kind begins.
    pub(crate) fn begins(&self, kind: &str) -> io::Result<()> {
        self.add(&json!({ "agent": self.agent, "begins": kind }))
    }

    /// Notes that the agent has ended.
    pub(crate) fn ends(&self) -> io::Result<()> {
        self.add(&json!({ "agent": self.agent, "ends": true }))
    }

    /// Notes what was done with a tool.
    pub(crate) fn uses(&self, tool: &ToolUse) -> io::Result<()> {
        for call in &tool.calls {
            let (name, input) = match call {
                ToolCall::Skill(skill) => ("Skill", json!({ "skill": skill })),
                ToolCall::Read(path) => ("Read", json!({ "file_path": path })),
                ToolCall::Command(command) => ("Bash", json!({ "command": command })),
                ToolCall::Write(path) => ("Write", json!({ "file_path": path })),
            };
            if tool.failed {
                self.add(&json!({ "agent": self.agent, "failed": { "name": name, "input": input } }))?;
                continue;
            }
            // Evidence pairs a call with its result.
            let id = self.length();
            let call = json!([{ "type": "tool_use", "id": id, "name": name, "input": input }]);
            let result = json!([{ "type": "tool_result", "tool_use_id": id, "is_error": false, "content": "" }]);
            self.add(&json!({ "agent": self.agent, "message": { "role": "assistant", "content": call } }))?;
            self.add(&json!({ "agent": self.agent, "message": { "role": "user", "content": result } }))?;
        }
        Ok(())
    }

    /// Returns the log as the transcript of the agent; `None` if nothing was ever noted.
    pub(crate) fn transcript(&self) -> Option<Transcript> {
        let path = if self.is_main { self.folder.join(SESSION_FILE) } else { self.own_file() };
        transcript_at(&path)
    }

    /// Returns the files that the agent has written with its tools, the last one last.
    pub(crate) fn written(&self) -> Vec<String> {
        lines(&self.folder.join(SESSION_FILE)).filter(|line| line["agent"] == self.agent).filter_map(written).collect()
    }

    /// Returns the kinds of other subagents that worked since this one began, and the files that the main session wrote
    /// meanwhile.
    pub(crate) fn beside(&self) -> Beside {
        let mut beside = Beside::default();
        let mut working: Vec<(String, String)> = Vec::new();
        let mut has_begun = self.is_main;
        for line in lines(&self.folder.join(SESSION_FILE)) {
            let agent = line["agent"].as_str().unwrap_or_default().to_owned();
            if agent == self.agent {
                if line["begins"].is_string() {
                    has_begun = true;
                    beside =
                        Beside { kinds: working.iter().map(|(_, kind)| kind.clone()).collect(), files: Vec::new() };
                }
                continue;
            }
            if let Some(kind) = line["begins"].as_str().filter(|_| agent != MAIN) {
                working.push((agent.clone(), kind.to_owned()));
                if has_begun {
                    beside.kinds.push(kind.to_owned());
                }
            }
            if line["ends"] == true {
                working.retain(|(working, _)| *working != agent);
            }
            if agent == MAIN && has_begun {
                beside.files.extend(written(line));
            }
        }
        beside
    }

    /// Returns how long the log of the session is, which names a call in it.
    fn length(&self) -> String {
        let length = std::fs::metadata(self.folder.join(SESSION_FILE)).map_or(0, |found| found.len());
        format!("{}-{length}", self.agent)
    }

    fn own_file(&self) -> PathBuf {
        self.folder.join(format!("{}.jsonl", self.agent))
    }

    fn add(&self, line: &Value) -> io::Result<()> {
        self.folder()?;
        append(&self.folder.join(SESSION_FILE), line)?;
        if self.is_main { Ok(()) } else { append(&self.own_file(), line) }
    }
}

/// Who and what else there was while an agent worked.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Beside {
    /// The kinds of other subagents.
    pub kinds: Vec<String>,
    /// Files that the main session wrote.
    pub files: Vec<String>,
}

/// Returns what identifies a transcript as it is now; `None` if there is none.
pub(crate) fn transcript_at(path: &Path) -> Option<Transcript> {
    let bytes = is_file(path).then(|| std::fs::read(path).ok()).flatten()?;
    Some(Transcript { path: path.to_string_lossy().into_owned(), sha256: Digest::of(&bytes).0 })
}

fn append(path: &Path, line: &Value) -> io::Result<()> {
    let mut file = OpenOptions::new().append(true).create(true).mode(0o600).open(path)?;
    // One write for each line: several agents may append at the same time. A log without a call is one all the same.
    if file.metadata()?.len() == 0 {
        file.write_all(format!("{}\n", json!({ "message": { "role": "baton", "content": [] } })).as_bytes())?;
    }
    file.write_all(format!("{line}\n").as_bytes())
}

fn lines(path: &Path) -> impl Iterator<Item = Value> {
    let lines = File::open(path).ok().into_iter().flat_map(|file| BufReader::new(file).lines());
    lines.map_while(Result::ok).filter_map(|line| serde_json::from_str(&line).ok())
}

fn written(line: Value) -> Option<String> {
    let call = line.pointer("/message/content/0").filter(|call| call["name"] == "Write")?;
    call["input"]["file_path"].as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use baton_testbed::Scratch;

    use super::*;

    #[test]
    fn those_who_work_at_the_same_time_are_beside_and_those_before_are_not() {
        let scratch = Scratch::new();
        let state = StateFolder::at(scratch.path("state"));
        let log = |id: &str| {
            let subagent = Subagent { id: id.to_owned(), kind: None };
            SessionLog::of(&state, Path::new("/p"), "s", Some(&subagent))
        };
        let main = SessionLog::of(&state, Path::new("/p"), "s", None);
        let write = |log: &SessionLog, path: &str| {
            let calls = vec![ToolCall::Write(path.to_owned())];
            log.uses(&ToolUse { calls, failed: false }).expect("our own folder");
        };
        let (early, long, own, late) = (log("1"), log("2"), log("3"), log("4"));
        early.begins("early").expect("noted");
        long.begins("long").expect("noted");
        early.ends().expect("noted");
        write(&main, "before.md");
        own.begins("own").expect("noted");
        write(&main, "meanwhile.md");
        write(&own, "own.md");
        late.begins("late").expect("noted");
        let kinds = ["long", "late"].map(str::to_owned).to_vec();
        assert_eq!(own.beside(), Beside { kinds, files: vec!["meanwhile.md".to_owned()] });
        assert_eq!(own.written(), ["own.md"]);
    }

    #[test]
    fn sessions_of_any_name_are_runs() {
        assert_eq!(run_of("0199-ab").as_str(), "0199-ab");
        assert!(run_of("../../etc").as_str().starts_with("session-"));
        assert_ne!(run_of("../a"), run_of("../b"));
    }
}

//! Coding agents: programs of their names, started as the real ones are and printing what those print.

use baton_engine::agent::{Activity, Agent as _, EndedTurn, ToolState, Update};
use baton_engine::failure::Transience;
use baton_engine::session::{SessionKind, SessionTurn, Spent};
use baton_protocol::workflow::{AgentFields, Duration as Length, Profile, PromptBy, ReportFrom};

use crate::bench::{Bench, answered, failed};

/// A bench with a program of this name, which writes down its words and its stdin and then does as told.
pub(crate) struct Fake {
    pub(crate) bench: Bench,
    pub(crate) agent: AgentFields,
    pub(crate) session: SessionTurn,
    pub(crate) spent_before: Spent,
}

impl Fake {
    /// Prints what the real program has printed.
    pub(crate) fn recorded(profile: Profile, case: &str) -> Fake {
        let folder = format!("{}/tests/recorded/{}", env!("CARGO_MANIFEST_DIR"), profile.as_str());
        let file = |kind: &str| format!("{folder}/{case}.{kind}");
        let exit = std::fs::read_to_string(file("exit")).unwrap_or_else(|error| panic!("{}: {error}", file("exit")));
        let exit = match exit.trim().strip_prefix("signal ") {
            Some(signal) => format!("kill -{signal} $$"),
            None => format!("exit {}", exit.trim()),
        };
        Fake::doing(profile, &format!("cat {}; cat {} >&2; {exit}", file("jsonl"), file("stderr")))
    }

    fn new(profile: Profile, says: &str) -> Fake {
        Fake::doing(profile, &format!("cat <<'EOT'\n{says}\nEOT"))
    }

    pub(crate) fn doing(profile: Profile, script: &str) -> Fake {
        let bench = Bench::new();
        let root = bench.scratch.root().display().to_string();
        let text = format!("#!/bin/sh\nprintf '%s\\n' \"$@\" > {root}/words\ncat > {root}/stdin\n{script}\n");
        bench.program(&format!("bin/{}", profile.as_str()), &text);
        let mut agent =
            AgentFields { profile: Some(profile), arguments: vec!["--extra".to_owned()], ..AgentFields::default() };
        agent.set_env.insert("PATH".to_owned(), format!("{root}/bin:/usr/bin:/bin").into());
        agent.set_env.insert("HOME".to_owned(), format!("{root}/home").into());
        Fake { bench, agent, session: SessionTurn::default(), spent_before: Spent::default() }
    }

    /// Lets it go on in this session.
    pub(crate) fn goes_on(mut self, id: &str) -> Fake {
        self.session = SessionTurn { id: Some(id.to_owned()), goes_on: true, repairs: false };
        self
    }

    pub(crate) fn heard(&self) -> (EndedTurn, Vec<Update>) {
        let mut job = self.bench.job();
        job.session.clone_from(&self.session);
        job.spent_before = self.spent_before;
        self.bench.heard(&self.bench.agent(&self.agent), &job)
    }

    pub(crate) fn attempt(&self) -> EndedTurn {
        self.heard().0
    }

    fn words(&self) -> String {
        let root = self.bench.scratch.root().display().to_string();
        self.bench.scratch.read("words").replace(&root, "ROOT").trim_end().replace('\n', " ")
    }

    fn stdin(&self) -> String {
        self.bench.scratch.read("stdin")
    }

    /// Returns the failure that an output means.
    fn failure(profile: Profile, script: &str) -> (String, Transience) {
        let failure = failed(Fake::doing(profile, script).attempt());
        (failure.to_string(), failure.chance)
    }
}

const UUID: &str = "550e8400-e29b-4000-8000-000000000001";
const BLOCK: &str = r#"{\"agent\": \"reviewer\", \"status\": \"complete\", \"handoff\": {\"context\": \"Read it.\"}}"#;

fn claude_says(text: &str) -> String {
    format!(r#"{{"type":"result","subtype":"success","is_error":false,"session_id":"{UUID}","result":"{text}"}}"#)
}

#[test]
fn program_begins_a_session_and_goes_on_in_it() {
    let begins = [
        (Profile::Claude, "-p --output-format stream-json --verbose --session-id UUID --extra"),
        (Profile::Codex, "exec --json --output-last-message ROOT/attempt/codex-last-message.md --extra -"),
        (Profile::Gemini, "--output-format stream-json --session-id UUID --extra"),
        (Profile::Opencode, "run --format json --extra"),
    ];
    let goes_on = [
        "-p --output-format stream-json --verbose --resume UUID --extra",
        "exec --json --output-last-message ROOT/attempt/codex-last-message.md --extra resume UUID -",
        "--output-format stream-json --resume UUID --extra",
        "run --format json --session UUID --extra",
    ];
    for ((profile, begins), goes_on) in begins.into_iter().zip(goes_on) {
        let mut fake = Fake::recorded(profile, "good");
        let is_chosen = fake.bench.agent(&fake.agent).sessions() == SessionKind::Chosen;
        fake.session.id = is_chosen.then(|| UUID.to_owned());
        answered(fake.attempt());
        assert_eq!(fake.words().replace(UUID, "UUID"), begins);
        assert_eq!(fake.stdin(), "Please review.");
        let fake = fake.goes_on(UUID);
        answered(fake.attempt());
        assert_eq!(fake.words().replace(UUID, "UUID"), goes_on);
    }
}

#[test]
fn prompt_may_be_the_last_argument() {
    let ends = [
        (Profile::Claude, "--extra Please review."),
        (Profile::Codex, "--extra resume UUID Please review."),
        (Profile::Gemini, "--extra -p Please review."),
        (Profile::Opencode, "--extra Please review."),
    ];
    for (profile, end) in ends {
        let mut fake = Fake::recorded(profile, "good").goes_on(UUID);
        fake.agent.prompt = Some(PromptBy::Argument);
        answered(fake.attempt());
        let words = fake.words().replace(UUID, "UUID");
        assert!(words.ends_with(end) && fake.stdin().is_empty(), "{words}");
    }
}

#[test]
fn answer_is_kept_and_the_transcript_of_claude_is_found() {
    let fake = Fake::new(Profile::Claude, &claude_says("The report."));
    let root = fake.bench.scratch.path("workspace").display().to_string();
    let folder: String = root.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '-' }).collect();
    let transcript = format!("home/.claude/projects/{folder}/{UUID}.jsonl");
    fake.bench.scratch.write(&transcript, "{}\n");
    let reply = answered(fake.attempt());
    assert_eq!((reply.text.as_str(), reply.source.as_str()), ("The report.", "the final answer of claude"));
    let kept = reply.transcript.expect("a transcript");
    assert_eq!(kept.path, fake.bench.scratch.path(transcript).to_string_lossy());
    assert_eq!(kept.sha256.len(), 64, "what identifies it");
    assert_eq!(fake.bench.scratch.read("attempt/report.md"), "The report.");
}

#[test]
fn program_may_write_where_a_variable_puts_its_things() {
    let script = format!("echo kept > $CLAUDE_CONFIG_DIR/session\ncat <<'EOT'\n{}\nEOT", claude_says("Done."));
    let mut fake = Fake::doing(Profile::Claude, &script);
    // Not in the temporary folder, which everybody may change.
    let place = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("claude-config");
    std::fs::create_dir_all(&place).expect("our own folder");
    fake.agent.set_env.insert("CLAUDE_CONFIG_DIR".to_owned(), place.to_string_lossy().into());
    answered(fake.attempt());
    assert_eq!(std::fs::read_to_string(place.join("session")).expect("it was written"), "kept\n");
}

#[test]
fn program_cannot_change_what_tells_it_what_to_do() {
    for (profile, folder, names) in [
        (Profile::Claude, ".claude", ["CLAUDE.md", "settings.json"]),
        (Profile::Codex, ".codex", ["AGENTS.md", "hooks.json"]),
        (Profile::Gemini, ".gemini", ["GEMINI.md", "settings.json"]),
        (Profile::Opencode, ".config/opencode", ["AGENTS.md", "plugin/mine.js"]),
    ] {
        let [one, two] = names;
        let fake = Fake::recorded(profile, "good");
        let root = fake.bench.scratch.root().display().to_string();
        let says = fake.bench.scratch.read(format!("bin/{}", profile.as_str()));
        let tries =
            format!("cd {root}/home/{folder}\necho evil > {one}\necho evil > {two}\nrm -f {one}\necho kept > state\n");
        fake.bench
            .program(&format!("bin/{}", profile.as_str()), &says.replace("\ncat > ", &format!("\n{tries}cat > ")));
        names.iter().for_each(|name| _ = fake.bench.scratch.write(format!("home/{folder}/{name}"), "mine\n"));
        answered(fake.attempt());
        let left = |name: &str| fake.bench.scratch.read(format!("home/{folder}/{name}"));
        assert_eq!([left(one), left(two), left("state")], ["mine\n", "mine\n", "kept\n"], "{}", profile.as_str());
    }
}

#[test]
fn draft_in_a_file_does_not_win_over_the_final_answer() {
    let with_file = |filed: &str, said: &str| {
        let script = format!("echo '{filed}' > $BATON_REPORT_FILE\ncat <<'EOT'\n{}\nEOT", claude_says(said));
        answered(Fake::doing(Profile::Claude, &script).attempt()).text
    };
    let block = BLOCK.replace("\\\"", "\"");
    assert_eq!(with_file("{\"agent\": \"reviewer\", \"status\": \"dra", BLOCK), block);
    assert_eq!(with_file(&block.replace("Read it", "A draft"), BLOCK), block);
    assert_eq!(with_file(&block, "It is in the file."), format!("{block}\n"), "but what is nowhere else counts");
    assert_eq!(with_file("A draft.", "Nothing."), "Nothing.", "a file that is no report does not");
}

#[test]
fn workflow_chooses_where_the_report_of_a_profile_is() {
    let script = format!("echo filed > $BATON_REPORT_FILE\ncat <<'EOT'\n{}\nEOT", claude_says("said"));
    let mut fake = Fake::doing(Profile::Claude, &script);
    fake.agent.report = Some(ReportFrom::File);
    assert_eq!(answered(fake.attempt()).text, "filed\n");
    fake.agent.report = Some(ReportFrom::Stdout);
    assert_eq!(answered(fake.attempt()).text, "said");
}

#[test]
fn output_without_an_answer_is_told_as_such() {
    let of = |profile, text| Fake::failure(profile, &format!("printf '%s' '{text}'")).0;
    let cut = of(Profile::Claude, r#"{"type":"result","resu"#);
    assert_eq!(cut, "VALIDATION_FAILED: claude gave no final answer (line 1 of stdout.log is not JSON)");
    for (profile, text) in [
        (Profile::Claude, r#"{"type":"other"}"#),
        (Profile::Codex, "plain words"),
        (Profile::Opencode, ""),
        (Profile::Gemini, r#"{"answer":1}"#),
    ] {
        assert_eq!(of(profile, text), format!("VALIDATION_FAILED: {} gave no final answer", profile.as_str()));
    }
    assert_eq!(Fake::failure(Profile::Claude, r"printf '\377'").0, "VALIDATION_FAILED: claude gave no final answer");
}

#[test]
fn crash_is_told_with_the_line_that_matters() {
    let (crashed, chance) = Fake::failure(Profile::Codex, "echo WARNING: PATH >&2; echo boom >&2; exit 70");
    assert_eq!((crashed.as_str(), chance), ("PROCESSING_ERROR: boom", Transience::Transient));
    let (crashed, _) = Fake::failure(Profile::Claude, r#"echo '{"type":"system"}'; echo segfault >&2; exit 70"#);
    assert_eq!(crashed, "PROCESSING_ERROR: claude ended with 70: segfault");
    let (killed, _) = Fake::failure(Profile::Claude, r#"echo '{"type":"system"}'; kill -9 $$"#);
    assert_eq!(killed, "PROCESSING_ERROR: claude was killed by signal 9 (SIGKILL)");
}

#[test]
fn error_after_a_turn_that_ended_with_a_report_does_not_undo_it() {
    let error =
        r#"{"type":"result","subtype":"success","is_error":true,"api_error_status":403,"result":"API Error: 403 no"}"#;
    let claude = format!("{}\n{error}", claude_says(&format!("```json\\n{BLOCK}\\n```")));
    let text = format!(r#"{{"type":"text","part":{{"messageID":"m","text":"```json\n{BLOCK}\n```"}}}}"#);
    let stop = r#"{"type":"step_finish","part":{"reason":"stop"}}"#;
    let broke = r#"{"type":"error","error":{"name":"APIError","data":{"message":"no","statusCode":403}}}"#;
    let of = |profile, events: &str, end: &str| Fake::doing(profile, &format!("cat <<'EOT'\n{events}\nEOT\n{end}"));
    for (profile, events) in [
        (Profile::Claude, claude.clone()),
        (Profile::Opencode, format!("{text}\n{stop}\n{broke}")),
        (Profile::Opencode, format!("{broke}\n{text}\n{stop}")),
    ] {
        for exit in ["exit 0", "exit 1"] {
            let (ended, updates) = of(profile, &events, exit).heard();
            assert!(answered(ended).text.contains("Read it."), "{profile:?} {exit}");
            let warned = updates
                .iter()
                .any(|update| matches!(update, Update::Warning(text) if text.contains("after its report")));
            assert_eq!(warned, !events.starts_with(broke), "{profile:?}: {updates:?}");
        }
    }
    // It is the error that was told which explains the exit code; nothing explains these.
    let failure = failed(of(Profile::Claude, &claude, "kill -9 $$").attempt()).to_string();
    assert_eq!(failure, "PROCESSING_ERROR: claude was killed by signal 9 (SIGKILL)");
    let alone = claude.lines().next().unwrap_or_default();
    let failure = failed(of(Profile::Claude, alone, "exit 1").attempt()).to_string();
    assert_eq!(failure, "PROCESSING_ERROR: claude ended with 1");
    // A turn that has not ended is not done, whatever it mentions.
    for events in [format!("{text}\n{broke}"), format!("{text}\n{}\n{broke}", stop.replace("stop", "tool-calls"))] {
        assert_eq!(failed(of(Profile::Opencode, &events, "exit 1").attempt()).chance, Transience::Permanent);
    }
}

#[test]
fn long_stream_is_not_held_and_not_the_end() {
    let long = r#"i=0; while [ $i -lt 80 ]; do printf '{"type":"item.completed","item":{"type":"command_execution","aggregated_output":"'; head -c 1048576 /dev/zero | tr '\0' x; echo '"}}'; i=$((i+1)); done
cat "#;
    let fixture = format!("{}/tests/recorded/codex/good.jsonl", env!("CARGO_MANIFEST_DIR"));
    let reply = answered(Fake::doing(Profile::Codex, &format!("{long}{fixture}")).attempt());
    assert!(reply.text.starts_with("The design is in DESIGN.md."), "{}", reply.text);
}

#[test]
fn silent_agent_is_ended_and_named() {
    let mut fake = Fake::doing(Profile::Opencode, "trap '' TERM; sleep 600");
    fake.agent.silence = Length::parse("200ms").ok();
    let failure = failed(fake.attempt()).to_string();
    assert_eq!(failure, "TIMEOUT: reviewer (opencode) said nothing for 200 ms");
}

#[test]
fn agent_that_takes_too_long_is_named_and_what_it_spent_counts() {
    let fixture = format!("{}/tests/recorded/claude/killed.jsonl", env!("CARGO_MANIFEST_DIR"));
    let mut fake = Fake::doing(Profile::Claude, &format!("cat {fixture}; exec sleep 600"));
    fake.agent.timeout = Length::parse("2s").ok();
    let (ended, updates) = fake.heard();
    let spent = ended.spent;
    assert_eq!(failed(ended).to_string(), "TIMEOUT: reviewer (claude) did not finish within 2 s");
    assert_eq!(spent, Some(Spent { input: 2000, cached: 400, output: 100, cost_micros: None }));
    assert!(updates.contains(&Update::Spent(spent.expect("so much"))), "whoever is called off has told it before");
}

#[test]
fn agent_that_talks_is_not_silent() {
    let talk = r#"for i in 1 2 3; do echo '{"type":"system"}'; sleep 1; done"#;
    let mut fake = Fake::doing(Profile::Claude, &format!("{talk}\ncat <<'EOT'\n{}\nEOT", claude_says("Done.")));
    fake.agent.silence = Length::parse("2500ms").ok();
    assert_eq!(answered(fake.attempt()).text, "Done.");
}

#[test]
fn what_an_agent_does_is_told_while_it_works() {
    let (_, updates) = Fake::recorded(Profile::Claude, "good").heard();
    let tool =
        |state| Update::Activity(Activity::Tool { name: "Write".to_owned(), about: "DESIGN.md".to_owned(), state });
    let at = |wanted: &Update| updates.iter().position(|update| update == wanted).expect("it is told");
    assert!(matches!(&updates[0], Update::Session(id) if id.ends_with("001")));
    assert!(at(&tool(ToolState::Runs)) < at(&tool(ToolState::Done)));
    let said = updates
        .iter()
        .any(|update| matches!(update, Update::Activity(Activity::Says(text)) if text.starts_with("The design is")));
    assert!(said, "{updates:?}");
    for (profile, name) in [(Profile::Codex, "shell"), (Profile::Gemini, "write_file"), (Profile::Opencode, "write")] {
        let (_, updates) = Fake::recorded(profile, "good").heard();
        let done = updates.iter().any(|update| {
            matches!(update, Update::Activity(Activity::Tool { name: used, state: ToolState::Done, .. }) if used == name)
        });
        assert!(done && updates.iter().any(|update| matches!(update, Update::Session(_))), "{profile:?}: {updates:?}");
    }
}

#[test]
fn keys_are_not_inherited_unless_named() {
    let mut fake = Fake::doing(
        Profile::Claude,
        "echo \"{\\\"type\\\":\\\"result\\\",\\\"result\\\":\\\"${CARGO_PKG_NAME-none}\\\"}\"",
    );
    assert_eq!(answered(fake.attempt()).text, "none");
    fake.agent.env.push("CARGO_PKG_NAME".to_owned());
    assert_eq!(answered(fake.attempt()).text, "baton-agents");
}

#[test]
fn program_that_is_not_installed_is_named() {
    let bench = Bench::new();
    let mut agent = AgentFields { profile: Some(Profile::Codex), ..AgentFields::default() };
    agent.set_env.insert("PATH".to_owned(), "/nowhere".into());
    let failure = failed(bench.attempt(&bench.agent(&agent), &bench.job()));
    assert_eq!(failure.to_string(), "DEPENDENCY_MISSING: program not found: codex");
}

//! Coding agents: programs of their names that print what the real ones print.

use baton_engine::agent::EndedTurn;
use baton_engine::failure::Transience;
use baton_protocol::workflow::{AgentFields, Profile, PromptBy};

use crate::bench::{Bench, answered, failed};

/// A bench with a program of this name, which writes down its words and its stdin and then does as told.
struct Fake {
    bench: Bench,
    agent: AgentFields,
}

impl Fake {
    fn new(profile: Profile, says: &str) -> Fake {
        Fake::doing(profile, &format!("cat <<'EOT'\n{says}\nEOT"))
    }

    fn doing(profile: Profile, script: &str) -> Fake {
        let bench = Bench::new();
        let root = bench.scratch.root().display().to_string();
        let text = format!("#!/bin/sh\nprintf '%s\\n' \"$@\" > {root}/words\ncat > {root}/stdin\n{script}\n");
        bench.program(&format!("bin/{}", profile.as_str()), &text);
        let mut agent =
            AgentFields { profile: Some(profile), arguments: vec!["--extra".to_owned()], ..AgentFields::default() };
        agent.set_env.insert("PATH".to_owned(), format!("{root}/bin:/usr/bin:/bin").into());
        agent.set_env.insert("HOME".to_owned(), format!("{root}/home").into());
        Fake { bench, agent }
    }

    fn attempt(&self) -> EndedTurn {
        self.bench.attempt(&self.bench.agent(&self.agent), &self.bench.job())
    }

    fn words(&self) -> String {
        let root = self.bench.scratch.root().display().to_string();
        self.bench.scratch.read("words").replace(&root, "ROOT").trim_end().replace('\n', " ")
    }

    fn stdin(&self) -> String {
        self.bench.scratch.read("stdin")
    }

    /// Says what an output means that is no answer.
    fn failure(profile: Profile, script: &str) -> (String, Transience) {
        let failure = failed(Fake::doing(profile, script).attempt());
        (failure.to_string(), failure.chance)
    }
}

const CLAUDE: &str = r#"{"type":"result","subtype":"success","is_error":false,"duration_ms":14301,"num_turns":2,
"result":"The report.","session_id":"550e8400-e29b","total_cost_usd":0.013,"usage":{"input_tokens":2,
"cache_creation_input_tokens":100,"cache_read_input_tokens":1000,"output_tokens":9,"service_tier":"standard"},"uuid":"3eb"}"#;

#[test]
fn claude_answers_in_one_object() {
    let fake = Fake::new(Profile::Claude, CLAUDE);
    let root = fake.bench.scratch.path("workspace").display().to_string();
    let folder: String = root.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '-' }).collect();
    let transcript = format!("home/.claude/projects/{folder}/550e8400-e29b.jsonl");
    fake.bench.scratch.write(&transcript, "{}\n");
    let reply = answered(fake.attempt());
    assert_eq!(reply.text, "The report.");
    let kept = reply.transcript.expect("a transcript");
    assert_eq!(kept.path, fake.bench.scratch.path(transcript).to_string_lossy());
    assert_eq!(kept.sha256.len(), 64, "what identifies it");
    assert_eq!(fake.words(), "-p --output-format json --extra");
    assert_eq!(fake.stdin(), "Please review.");
    assert_eq!(fake.bench.scratch.read("attempt/report.md"), "The report.");
}

#[test]
fn claude_may_list_all_messages_and_shorten_the_folder() {
    let list = format!("[{{\"type\":\"system\",\"subtype\":\"init\"}},{CLAUDE}]");
    let mut fake = Fake::new(Profile::Claude, &list);
    fake.agent.prompt = Some(PromptBy::Argument);
    fake.bench.scratch.write("home/.claude/projects/shortened/550e8400-e29b.jsonl", "{}\n");
    let reply = answered(fake.attempt());
    assert_eq!(reply.text, "The report.");
    assert!(reply.transcript.is_some_and(|kept| kept.path.ends_with("shortened/550e8400-e29b.jsonl")));
    assert_eq!((fake.words().as_str(), fake.stdin().as_str()), ("-p --output-format json --extra Please review.", ""));
}

#[test]
fn claude_fails_in_its_own_words() {
    let overloaded = r#"echo '{"type":"result","subtype":"success","is_error":true,"result":"API Error: 529 overloaded_error"}'; exit 1"#;
    let overloaded = Fake::failure(Profile::Claude, overloaded);
    assert_eq!(overloaded, ("PROCESSING_ERROR: API Error: 529 overloaded_error".to_owned(), Transience::Transient));
    let shut = r#"echo '{"type":"result","subtype":"success","is_error":true,"result":"Invalid API key · Please run /login"}'"#;
    let shut = Fake::failure(Profile::Claude, shut);
    assert_eq!(shut, ("DEPENDENCY_MISSING: Invalid API key · Please run /login".to_owned(), Transience::Permanent));
    let turns = r#"echo '{"type":"result","subtype":"error_max_turns","is_error":false,"errors":[]}'"#;
    assert_eq!(Fake::failure(Profile::Claude, turns).0, "PROCESSING_ERROR: claude ended with error_max_turns");
    let (crashed, _) = Fake::failure(Profile::Claude, "echo segfault >&2; exit 70");
    assert_eq!(crashed, "PROCESSING_ERROR: the command ended with 70; it said last:\nsegfault");
}

#[test]
fn output_of_another_form_is_no_answer() {
    let of = |profile, text| Fake::failure(profile, &format!("printf '%s' '{text}'")).0;
    let cut = of(Profile::Claude, r#"{"type":"result","resu"#);
    assert!(cut.starts_with("VALIDATION_FAILED: what claude wrote to stdout is no JSON"), "{cut}");
    assert!(of(Profile::Claude, r#"{"type":"other"}"#).contains("there is no result"));
    assert!(of(Profile::Codex, "plain words").contains("there is no event"));
    assert!(of(Profile::Opencode, "").contains("there is no event"));
    assert!(of(Profile::Gemini, r#"{"answer":1}"#).contains("there is no response"));
    assert!(of(Profile::Gemini, "").starts_with("VALIDATION_FAILED: "));
    let binary = Fake::failure(Profile::Claude, r"printf '\377'").0;
    assert_eq!(binary, "VALIDATION_FAILED: what claude wrote to stdout is not UTF-8");
}

#[test]
fn report_file_wins_over_the_answer() {
    let fake = Fake::doing(Profile::Claude, &format!("echo filed > $BATON_REPORT_FILE\ncat <<'EOT'\n{CLAUDE}\nEOT"));
    let reply = answered(fake.attempt());
    assert_eq!(reply.text, "filed\n");
}

const CODEX: &str = r#"{"type":"thread.started","thread_id":"0199a213"}
{"type":"turn.started"}
{"type":"error","message":"Reconnecting... 1/5"}
{"type":"item.completed","item":{"id":"item_0","type":"reasoning","text":"**Thinking**"}}
{"type":"item.completed","item":{"id":"item_1","type":"agent_message","text":"First I look."}}
{"type":"item.completed","item":{"id":"item_2","type":"command_execution","command":"ls","aggregated_output":"","exit_code":0,"status":"completed"}}
{"type":"item.completed","item":{"id":"item_3","type":"agent_message","text":"The report."}}
{"type":"turn.completed","usage":{"input_tokens":24763,"cached_input_tokens":24448,"output_tokens":122}}"#;

#[test]
fn codex_answers_with_its_last_message() {
    let fake = Fake::new(Profile::Codex, CODEX);
    let reply = answered(fake.attempt());
    assert_eq!(reply.text, "The report.");
    let last = "ROOT/attempt/codex-last-message.md";
    assert_eq!(fake.words(), format!("exec --json --output-last-message {last} --extra -"));
    assert_eq!(fake.stdin(), "Please review.");
    let filing = format!("printf %s 'The filed report.' > \"$4\"\ncat <<'EOT'\n{CODEX}\nEOT");
    let reply = answered(Fake::doing(Profile::Codex, &filing).attempt());
    assert_eq!(reply.text, "The filed report.");
}

#[test]
fn codex_fails_in_its_own_words() {
    let limited =
        "cat <<'EOT'\n{\"type\":\"turn.failed\",\"error\":{\"message\":\"429 Too Many Requests\"}}\nEOT\nexit 1";
    let limited = Fake::failure(Profile::Codex, limited);
    assert_eq!(limited, ("PROCESSING_ERROR: 429 Too Many Requests".to_owned(), Transience::Transient));
    let lost = "echo '{\"type\":\"error\",\"message\":\"stream disconnected\"}'";
    assert_eq!(Fake::failure(Profile::Codex, lost).0, "PROCESSING_ERROR: stream disconnected");
}

#[test]
fn gemini_answers_in_one_object() {
    let says = "Loaded cached credentials.\n{\n\"session_id\":\"s\",\"response\":\"The report.\",\"stats\":{\"models\":{\
                \"gemini-pro\":{\"api\":{},\"tokens\":{\"prompt\":90,\"total\":100}},\"flash\":{\"tokens\":{\"total\":11}}}}}";
    let mut fake = Fake::new(Profile::Gemini, says);
    let reply = answered(fake.attempt());
    assert_eq!(reply.text, "The report.");
    assert_eq!((fake.words().as_str(), fake.stdin().as_str()), ("--output-format json --extra", "Please review."));
    fake.agent.prompt = Some(PromptBy::Argument);
    answered(fake.attempt());
    assert_eq!((fake.words().as_str(), fake.stdin().as_str()), ("--output-format json --extra -p Please review.", ""));
}

#[test]
fn gemini_fails_in_its_own_words() {
    let error = r#"{"error":{"type":"FatalAuthenticationError","message":"Please set an Auth method","code":41}}"#;
    for place in ["", " >&2"] {
        let failure = Fake::failure(Profile::Gemini, &format!("echo '{error}'{place}; exit 41"));
        assert_eq!(failure, ("DEPENDENCY_MISSING: Please set an Auth method".to_owned(), Transience::Permanent));
    }
}

#[test]
fn opencode_answers_with_its_last_message() {
    let says = r#"{"type":"step_start","timestamp":1,"sessionID":"ses_1","part":{"type":"step-start"}}
{"type":"text","timestamp":2,"sessionID":"ses_1","part":{"messageID":"msg_1","type":"text","text":"First I look."}}
!  permission requested: bash (ls); auto-rejecting
{"type":"step_finish","timestamp":3,"sessionID":"ses_1","part":{"type":"step-finish","reason":"tool-calls","tokens":{"input":10,"output":1,"reasoning":2,"cache":{"read":100,"write":0}}}}
{"type":"text","timestamp":4,"sessionID":"ses_1","part":{"messageID":"msg_2","type":"text","text":"The"}}
{"type":"text","timestamp":5,"sessionID":"ses_1","part":{"messageID":"msg_2","type":"text","text":"report."}}
{"type":"step_finish","timestamp":6,"sessionID":"ses_1","part":{"type":"step-finish","reason":"stop","tokens":{"input":1,"output":1}}}"#;
    let fake = Fake::new(Profile::Opencode, says);
    let reply = answered(fake.attempt());
    assert_eq!(reply.text, "The\nreport.");
    assert_eq!((fake.words().as_str(), fake.stdin().as_str()), ("run --format json --extra", "Please review."));
    let error = r#"echo '{"type":"error","sessionID":"s","error":{"name":"APIError","data":{"message":"Rate limit exceeded"}}}'"#;
    let failure = Fake::failure(Profile::Opencode, error);
    assert_eq!(failure, ("PROCESSING_ERROR: Rate limit exceeded".to_owned(), Transience::Transient));
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
    assert_eq!(failure.to_string(), "DEPENDENCY_MISSING: there is no program codex");
}

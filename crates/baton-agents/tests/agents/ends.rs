//! How commands end, and what that means.

use baton_engine::failure::Transience;
use baton_protocol::workflow::{AgentFields, CommandLine, ReportFrom};
use baton_testbed::gauge::Usage;

use crate::bench::{Bench, answered, failed};

#[test]
fn report_is_on_stdout_or_in_the_file() {
    let bench = Bench::new();
    let reply = bench.answer("echo said");
    assert_eq!((reply.text.as_str(), reply.source.as_str(), reply.acknowledgment), ("said\n", "stdout", None));
    assert_eq!(
        (bench.scratch.read("attempt/report.md"), bench.scratch.read("attempt/stdout.log")),
        ("said\n".into(), "said\n".into())
    );
    assert_eq!(reply.path, Some(bench.scratch.path("attempt/report.md")), "what was said can be read again");
    let reply = bench.answer("echo chatter; echo noise >&2; echo filed > $BATON_REPORT_FILE");
    assert_eq!(reply.text, "filed\n");
    assert_eq!(reply.source, bench.scratch.path("attempt/report.md").display().to_string());
    assert_eq!(reply.path, Some(bench.scratch.path("attempt/report.md")));
    assert_eq!(bench.scratch.read("attempt/stderr.log"), "noise\n");
    let reply = bench.answer("echo said; : > $BATON_REPORT_FILE");
    assert_eq!(reply.text, "said\n", "an empty file is no report, and neither is that of the attempt before");
}

#[test]
fn report_is_taken_from_where_the_workflow_says() {
    let bench = Bench::new();
    let text = "echo said; echo filed > $BATON_REPORT_FILE";
    let from = |report| {
        bench.agent(&AgentFields {
            command: Some(CommandLine::Shell(text.to_owned())),
            report: Some(report),
            ..AgentFields::default()
        })
    };
    assert_eq!(answered(bench.attempt(&from(ReportFrom::Stdout), &bench.job())).text, "said\n");
    assert_eq!(answered(bench.attempt(&from(ReportFrom::File), &bench.job())).text, "filed\n");
    let only_said = AgentFields {
        command: Some(CommandLine::Shell("echo said".to_owned())),
        report: Some(ReportFrom::File),
        ..AgentFields::default()
    };
    let failure = failed(bench.attempt(&bench.agent(&only_said), &bench.job()));
    assert!(failure.message.contains("ended without a report"), "{failure}");
}

#[test]
fn acknowledgment_comes_with_the_report() {
    let bench = Bench::new();
    let reply = bench.answer("echo 'acknowledgment: {received: true}' > $BATON_ACKNOWLEDGMENT_FILE; echo done");
    assert_eq!(reply.acknowledgment.as_deref(), Some("acknowledgment: {received: true}\n"));
}

#[test]
fn end_without_a_report_is_no_success() {
    let bench = Bench::new();
    for silent in ["exit 0", "echo; echo '  '"] {
        let failure = bench.failure(silent);
        assert_eq!(failure.code.as_str(), "VALIDATION_FAILED", "{silent}");
        assert!(failure.message.contains("ended without a report"), "{failure}");
    }
}

#[test]
fn report_file_that_is_no_file_of_its_own_is_refused_whatever_was_said() {
    let bench = Bench::new();
    bench.scratch.write("secret", "password");
    let secret = bench.scratch.path("secret");
    let link = format!("ln -s {} $BATON_REPORT_FILE", secret.display());
    for (trick, why) in [
        ("mkfifo $BATON_REPORT_FILE", "it is a pipe"),
        (&link, "it is a symbolic link"),
        ("mkdir $BATON_REPORT_FILE", "it is a folder"),
        ("truncate -s 1G $BATON_REPORT_FILE", "it is longer than 8 MiB"),
    ] {
        let failure = bench.failure(&format!("{trick}; echo done"));
        assert_eq!(failure.code.as_str(), "VALIDATION_FAILED", "{trick}");
        let told =
            failure.message.starts_with("cannot read ") && failure.message.ends_with(&format!("report.md: {why}"));
        assert!(told, "{failure}");
        let _ = std::fs::remove_dir(bench.scratch.path("attempt/report.md"));
    }
    assert_eq!(bench.scratch.read("secret"), "password");
}

#[test]
fn two_reports_that_differ_are_refused() {
    let bench = Bench::new();
    let report = |verdict: &str| {
        format!(
            "{{\"baton\": 1, \"document\": \"report\", \"outcome\": \"complete\", \"verdict\": \"{verdict}\", \
             \"summary\": \"Read the parser for dates.\"}}"
        )
    };
    let both =
        |filed: &str, said: &str| format!("echo '{}' > $BATON_REPORT_FILE; echo '{}'", report(filed), report(said));
    let failure = bench.failure(&both("APPROVED", "REJECTED"));
    assert_eq!(failure.code.as_str(), "VALIDATION_FAILED");
    assert!(failure.message.contains("differs from the one on stdout"), "{failure}");
    assert!(bench.answer(&both("APPROVED", "APPROVED")).text.contains("APPROVED"));
}

#[test]
fn exit_code_fails_with_the_last_words() {
    let bench = Bench::new();
    let failure = bench.failure("echo said; echo filed > $BATON_REPORT_FILE; echo oh no >&2; exit 3");
    assert_eq!(failure.to_string(), "PROCESSING_ERROR: the command ended with 3; it said last:\noh no");
    assert_eq!(failure.chance, Transience::Transient);
}

#[test]
fn signal_is_named() {
    let failure = Bench::new().failure("kill -SEGV $$");
    assert_eq!(failure.to_string(), "PROCESSING_ERROR: the command was killed by signal 11 (SIGSEGV)");
}

#[test]
fn missing_program_stays_missing() {
    let bench = Bench::new();
    let of = |words: &[&str]| {
        let words = words.iter().map(|&word| word.to_owned()).collect();
        let agent = AgentFields { command: Some(CommandLine::Program(words)), ..AgentFields::default() };
        failed(bench.attempt(&bench.agent(&agent), &bench.job()))
    };
    bench.program("workflow/broken.sh", "#!/no/such/interpreter\n");
    bench.scratch.write("workflow/plain.txt", "no program");
    for words in [&["no-such-program"][..], &["./missing.sh"], &["./broken.sh"], &["./plain.txt"]] {
        let failure = of(words);
        assert_eq!((failure.code.as_str(), failure.chance), ("DEPENDENCY_MISSING", Transience::Permanent), "{failure}");
    }
    assert!(of(&["./broken.sh"]).message.ends_with("its interpreter is missing"));
    for words in [&["sh", "agents/nix.sh"][..], &["sh", "./nix.sh", "one"], &["python3", "agents/nix.py"]] {
        let failure = of(words);
        assert_eq!((failure.code.as_str(), failure.chance), ("DEPENDENCY_MISSING", Transience::Permanent), "{failure}");
    }
    // A script that misses a file of its own.
    bench.scratch.write("workspace/input", "cat /nowhere/input\n");
    assert_eq!(of(&["sh", "./input"]).chance, Transience::Transient);
    let failure = bench.failure("cat input.txt");
    assert_eq!(failure.chance, Transience::Transient, "somebody may still write it: {failure}");
    let failure = bench.failure("no-such-program");
    assert_eq!((failure.code.as_str(), failure.chance), ("DEPENDENCY_MISSING", Transience::Permanent), "{failure}");
    assert!(failure.message.contains("127"), "{failure}");
}

#[test]
fn missing_workspace_is_told_as_that() {
    let bench = Bench::new();
    let mut job = bench.job();
    job.workspace = bench.scratch.path("nowhere");
    let failure = failed(bench.attempt(&bench.shell("echo x"), &job));
    assert!(failure.message.contains("nowhere is not a folder"), "{failure}");
}

#[test]
fn binary_is_no_report() {
    let bench = Bench::new();
    let failure = bench.failure(r"printf 'a\377\376b'");
    assert_eq!(failure.code.as_str(), "VALIDATION_FAILED");
    assert!(failure.message.contains("is not text"), "{failure}");
    let failure = bench.failure(r"printf '\377' > $BATON_REPORT_FILE; echo fine");
    assert!(failure.message.contains("report.md is not text"), "{failure}");
    assert_eq!(bench.answer(r"printf '\377'; echo fine > $BATON_REPORT_FILE").text, "fine\n");
}

#[test]
fn flood_fills_neither_memory_nor_disk() {
    let bench = Bench::new();
    let before = Usage::of(std::process::id()).expect("we live").resident_bytes;
    let failure = bench.failure("head -c 1000000000 /dev/zero | tr '\\0' x; echo over");
    let after = Usage::of(std::process::id()).expect("we live").resident_bytes;
    assert_eq!(failure.to_string(), "VALIDATION_FAILED: the command wrote more than 8 MiB to stdout");
    assert!(after.saturating_sub(before) < 64 << 20, "{before} -> {after}");
    let logged = bench.scratch.path("attempt/stdout.log").metadata().expect("it is there").len();
    assert!(logged < 9 << 20, "{logged}");
}

#[test]
fn flood_of_errors_is_cut_and_the_report_counts() {
    let bench = Bench::new();
    let reply = bench.answer("head -c 80000000 /dev/zero | tr '\\0' x >&2; echo last >&2; echo done");
    assert_eq!(reply.text, "done\n");
    let log = std::fs::read(bench.scratch.path("attempt/stderr.log")).expect("it is there");
    let told = format!("[baton: cut here, after 64 MiB; {} more bytes were written]\n", 80_000_005 - (64 << 20));
    assert!(log.len() < (64 << 20) + 100 && log.ends_with(told.as_bytes()), "{}", log.len());
}

#[test]
fn report_file_is_bounded_too() {
    let bench = Bench::new();
    let failure = bench.failure("head -c 9000000 /dev/zero | tr '\\0' x > $BATON_REPORT_FILE");
    assert!(failure.message.ends_with("report.md: it is longer than 8 MiB"), "{failure}");
}

#[test]
fn prompt_that_is_not_read_does_no_harm() {
    let bench = Bench::new();
    let mut job = bench.job();
    job.prompt = "x".repeat(1 << 20);
    assert_eq!(answered(bench.attempt(&bench.shell("echo done"), &job)).text, "done\n");
}

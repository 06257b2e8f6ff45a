//! A report that is a file in the output directory, ending with the block.

use baton_engine::agent::Job;
use baton_engine::failure::Transience;
use baton_protocol::workflow::{AgentFields, CommandLine, ReportFrom};

use crate::bench::{Bench, answered, failed};

/// Shell that writes a document with a block at its end into the output directory.
fn writes(file: &str, agent: &str) -> String {
    format!(
        "mkdir -p $BATON_OUTPUT_DIRECTORY/notes; printf '%s\\n' '# Review' '' 'All of it was read.' '' '```json' \
         '{{\"agent\": \"{agent}\", \"status\": \"complete\", \"handoff\": {{\"context\": \"Read it.\"}}}}' '```' \
         > $BATON_OUTPUT_DIRECTORY/{file}; "
    )
}

#[test]
fn file_in_the_output_directory_that_ends_with_the_block_is_the_report() {
    let bench = Bench::new();
    for name in ["reviewer", "Reviewer", "@REVIEWER", "re-view_er"] {
        let reply = bench.answer(&format!("{} echo The review is written.", writes("notes/review.md", name)));
        assert!(reply.text.starts_with("# Review\n\nAll of it was read.\n"), "the prose is part of it: {}", reply.text);
        assert_eq!(reply.source, "out/notes/review.md");
        assert_eq!(reply.path, Some(bench.scratch.path("workspace/out/notes/review.md")));
    }
    assert_eq!(bench.answer(&writes("notes/review.md", "reviewer")).source, "out/notes/review.md", "also in silence");
}

#[test]
fn file_for_the_report_comes_first_then_stdout_then_the_output_directory() {
    let bench = Bench::new();
    let block = "{\"agent\": \"reviewer\", \"status\": \"complete\", \"handoff\": {}}";
    let writes = writes("review.md", "reviewer");
    let all = format!("{writes} echo '{block}' | tee $BATON_REPORT_FILE");
    assert_eq!(bench.answer(&all).source, bench.scratch.path("attempt/report.md").display().to_string());
    assert_eq!(bench.answer(&format!("{writes} echo '{block}'")).source, "stdout");
    assert_eq!(bench.answer(&format!("{writes} echo '{{\"lines\": 3}}'")).source, "out/review.md", "that is no report");
    let prose = format!("{writes} echo Done. | tee $BATON_REPORT_FILE");
    assert_eq!(bench.answer(&prose).source, "out/review.md", "and neither is prose");
}

#[test]
fn several_files_with_the_block_are_an_error_that_names_them() {
    let bench = Bench::new();
    let failure =
        bench.failure(&format!("{}{}", writes("review.md", "reviewer"), writes("notes/second.md", "reviewer")));
    assert_eq!((failure.code.as_str(), failure.chance), ("VALIDATION_FAILED", Transience::Transient));
    assert!(failure.message.contains("out/notes/second.md, out/review.md"), "{failure}");
}

#[test]
fn only_what_this_attempt_wrote_for_this_agent_counts() {
    let bench = Bench::new();
    bench.answer(&writes("review.md", "reviewer"));
    let failure = bench.failure("true");
    assert!(
        failure.message.contains("no handoff block found in BATON_REPORT_FILE, stdout, the folder out"),
        "{failure}"
    );
    let failure = bench.failure(&writes("plan.md", "architect"));
    assert!(failure.message.contains("no handoff block found"), "it names somebody else: {failure}");
    let again = bench.answer(&writes("review.md", "reviewer"));
    assert_eq!(again.source, "out/review.md", "the same text, written again");
    bench.scratch.write("elsewhere.md", again.text);
    let failure = bench.failure("ln -s ../../elsewhere.md $BATON_OUTPUT_DIRECTORY/link.md");
    assert!(failure.message.contains("no handoff block found"), "links are not followed: {failure}");
}

#[test]
fn block_without_an_agent_must_name_the_handoff() {
    let bench = Bench::new();
    let report = |id: &str| {
        format!(
            "mkdir -p $BATON_OUTPUT_DIRECTORY; echo '{{\"baton\": 1, \"document\": \"report\", \"id\": \"{id}\", \
             \"outcome\": \"complete\"}}' > $BATON_OUTPUT_DIRECTORY/report.json"
        )
    };
    assert_eq!(bench.answer(&report("hoff-1")).source, "out/report.json");
    assert!(bench.failure(&report("hoff-2")).message.contains("no handoff block found"));
}

#[test]
fn block_that_cannot_be_read_is_handed_in_so_that_it_is_told_what_is_wrong() {
    let bench = Bench::new();
    let cut = "mkdir -p $BATON_OUTPUT_DIRECTORY; printf '# Review\\n\\n```json\\n{\"agent\": \"reviewer\",' \
               > $BATON_OUTPUT_DIRECTORY/review.md; echo Done.";
    assert_eq!(bench.answer(cut).source, "out/review.md");
}

#[test]
fn prose_alone_says_where_else_was_looked() {
    let bench = Bench::new();
    let reply = bench.answer("echo The review is written.");
    assert_eq!((reply.text.as_str(), reply.source.as_str()), ("The review is written.\n", "stdout"));
    assert_eq!(reply.looked_in, ["BATON_REPORT_FILE", "the folder out"]);
}

#[test]
fn output_directory_is_not_looked_into_if_the_workflow_names_another_place() {
    let bench = Bench::new();
    for report in [ReportFrom::File, ReportFrom::Stdout] {
        let command = Some(CommandLine::Shell(writes("review.md", "reviewer")));
        let agent = bench.agent(&AgentFields { command, report: Some(report), ..AgentFields::default() });
        let failure = failed(bench.attempt(&agent, &bench.job()));
        assert!(failure.message.contains("ended without a report"), "{failure}");
    }
}

#[test]
fn large_output_directories_are_looked_through_within_bounds() {
    let bench = Bench::new();
    let many = "mkdir -p $BATON_OUTPUT_DIRECTORY; for i in $(seq 1200); do echo x > $BATON_OUTPUT_DIRECTORY/z$i.txt; \
                done; head -c 9000000 /dev/zero > $BATON_OUTPUT_DIRECTORY/large.bin; ";
    let failure = bench.failure(many);
    assert!(failure.message.contains("no handoff block found"), "{failure}");
    let job = Job { agent: "reviewer".to_owned(), ..bench.job() };
    let reply = answered(bench.attempt(&bench.shell(&writes("review.md", "reviewer")), &job));
    assert_eq!(reply.source, "out/review.md", "what was there before is not read again");
}

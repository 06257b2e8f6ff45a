//! The file that an agent writes into its output directory is its handoff.

use std::fs;
use std::process::Stdio;

use baton_engine::Fence;
use baton_engine::State;

use crate::site::{RUN_FLOW, Site, find};

/// A lead whose report must be a metadata block and who may try twice, and somebody who follows.
fn flow() -> Site {
    Site::new().workflow(
        "name: output\noutput_directory: out\n\
         agents:\n\
         \x20 frontend-lead: {command: [./lead.py], dialect: metadata-block, retry: {max_retries: 1, delay: 0s}}\n\
         \x20 dev: {command: [./dev.py]}\n\
         phases: [{id: design, agent: frontend-lead}, {id: build, agent: dev}]\nlimits: {same_failure: 9}\n",
    )
}

/// Python that ends a document of the output directory with the block.
const WRITE: &str = r##"
def design(name, **members):
    os.makedirs(os.environ["BATON_OUTPUT_DIRECTORY"], exist_ok=True)
    block = {"agent": "Frontend_Lead", "output_type": "architecture-plan", "feature_directory": "out",
             "timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 1)),
             "skills_invoked": [], "status": "complete",
             "handoff": {"next_agent": None, "context": "Three layers, described in two pages with one diagram."}}
    block.update(members)
    text = "# Architecture\n\nThree layers.\n\n```json\n" + json.dumps(block) + "\n```\n"
    write(os.path.join(os.environ["BATON_OUTPUT_DIRECTORY"], name), text)
"##;

fn lead(body: &str) -> Site {
    flow().agent("lead", &format!("{WRITE}{body}")).agent("dev", "report()")
}

#[test]
fn block_at_the_end_of_an_output_file_is_the_handoff() {
    let site = lead("design('architecture.md')\nprint('The architecture is in out/architecture.md.')");
    let ended = site.run(&[]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let run = site.told();
    let design = find(&run, "design.1");
    let report = design.report().expect("it reported");
    assert_eq!(report.from.as_ref().and_then(|from| from.agent.as_deref()), Some("Frontend_Lead"));
    let written = site.baton(&["show", "t.design.1", "--documents"]);
    assert!(written.stdout.contains("# Architecture"), "the prose around the block is kept: {written:?}");
    let prompt = site.read(site.attempt("build.1", Fence(1)).join("prompt.md"));
    assert!(prompt.contains("out/architecture.md"), "the next agent is told where it is: {prompt}");
}

#[test]
fn output_file_with_the_block_needs_no_naming() {
    let body = "write('parser.py', 'x = 1')\nos.makedirs('out')\n\
                block = {'baton': 1, 'document': 'report', 'id': os.environ['BATON_HANDOFF_ID'], 'outcome': 'complete',\n\
                \x20        'summary': 'Wrote the parser for dates and its three tests.', 'files_modified': ['parser.py']}\n\
                write('out/notes.md', '# Notes\\n\\n```json\\n' + json.dumps(block) + '\\n```\\n')";
    let flow = "name: output\noutput_directory: out\n\
                agents: {dev: {command: [./dev.py], retry: {max_retries: 0}}}\nphases: [{id: design, agent: dev}]\n";
    let site = Site::with_git().workflow(flow).agent("dev", body);
    let ended = site.run(&[]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let run = site.told();
    let seen: Vec<String> = find(&run, "design.1").examined.iter().map(|seen| format!("{seen:?}")).collect();
    let seen = seen.join("\n");
    assert!(seen.contains("every changed file is named"), "it was looked at: {seen}");
    assert!(!seen.contains("Refuted"), "{seen}");
}

#[test]
fn text_without_a_block_is_told_as_that() {
    let site = lead("print('The architecture is ready.')");
    assert_eq!(site.run(&[]).code, Some(3), "a person is asked");
    let run = site.told();
    let design = find(&run, "design.1");
    assert!(matches!(design.handoff.state, State::Failed { .. }));
    let failure = design.handoff.last_failure.as_ref().expect("it failed").to_string();
    let places = "no handoff block found in stdout, BATON_REPORT_FILE, the folder out: end";
    assert!(failure.contains(places), "{failure}");
    assert!(!failure.contains("wrong-type"), "{failure}");
    let prompt = site.read(site.attempt("design.1", Fence(2)).join("prompt.md"));
    assert!(prompt.contains("no handoff block found"), "the second attempt is told: {prompt}");
}

#[test]
fn what_baton_itself_writes_into_the_workspace_is_not_held_against_an_agent() {
    let flow = |writes: &str| {
        format!(
            "name: log\nagents: {{dev: {{command: [./dev.py], retry: {{max_retries: 0}}}}}}\nphases: [{{id: build, agent: dev{writes}}}]\n"
        )
    };
    let run = |writes: &str, more: &str| {
        let body = format!("write('b.txt', 'B')\n{more}report(files_modified=['b.txt'])");
        let site = Site::with_git().workflow(&flow(writes)).agent("dev", &body);
        let (log, mut command) = (site.scratch.path("workspace/run.log"), site.command(&RUN_FLOW));
        let log = || fs::File::options().append(true).create(true).open(&log).expect("a log");
        let ended = command.stdin(Stdio::null()).stdout(log()).stderr(log()).status().expect("it runs");
        (ended.code(), fs::read_to_string(site.scratch.path("workspace/run.log")).unwrap_or_default())
    };
    for writes in ["", ", writes: ['b.txt']"] {
        let (code, log) = run(writes, "");
        assert_eq!(code, Some(0), "{log}");
    }
    for moved in ["os.rename('run.log', 'other.py')\n", "os.rename('run.log', '../x')\nwrite('run.log', 'mine')\n"] {
        let (code, log) = run("", moved);
        assert_eq!(code, Some(3), "what an agent puts elsewhere or there is its own: {log}");
    }
}

#[test]
fn several_output_files_with_the_block_go_back_by_name() {
    let site = lead("design('architecture.md')\ndesign('plan.md')");
    assert_eq!(site.run(&[]).code, Some(3), "a person is asked");
    let run = site.told();
    let failure = find(&run, "design.1").handoff.last_failure.as_ref().expect("it failed").to_string();
    assert!(failure.contains("out/architecture.md, out/plan.md"), "{failure}");
}

//! `baton workflow check` and `baton graph`: what people see of a workflow before it runs.

use std::fs;
use std::path::{Path, PathBuf};

use insta::assert_snapshot;

use crate::sandbox::{self, BATON, Sandbox};

const GOOD: &str = "name: good\nagents: {a: {command: [sh, a.sh]}}\nphases:\n  - {id: one, agent: a}\n";

const BAD: &str = "name: bad
agents: {writer: {command: [./writer.sh]}}
phases:
  - {id: draft, agent: writter, timeuot: 5m}
  - {id: tests, check: make test, on_failure: darft}
";

fn documentation() -> String {
    fs::read_to_string(repository().join("docs/workflows.md")).expect("the page exists")
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns the whole workflow on the page.
fn example() -> String {
    block("## A large one", "```yaml\n")
}

/// Returns the first block of a kind behind a text of the page.
fn block(behind: &str, opening: &str) -> String {
    let page = documentation();
    let (_, rest) = page.split_once(behind).expect("the text stands on the page");
    let (_, rest) = rest.split_once(opening).expect("an example");
    rest.split_once("```").expect("its end").0.to_owned()
}

#[test]
fn the_first_example_of_the_page_runs_as_it_is_printed() {
    let sandbox = Sandbox::new();
    sandbox.write("team/workflow.yaml", block("## A small one", "```yaml\n"));
    sandbox.write("team/agents/developer.sh", block("`agents/developer.sh`, beside it", "```sh\n"));
    let mut shell = sandbox.command("sh");
    let folder = Path::new(BATON).parent().expect("the folder of the program");
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").expect("a search path"));
    shell.args(["-e", "-c", &block("in the folder of `workflow.yaml`", "```sh\n")]);
    shell.current_dir(sandbox.path("team")).env("PATH", path);
    let run = sandbox::run(shell, b"");
    assert_eq!(run.code, Some(0), "{run}");
    assert!(run.stdout.contains("ok: 1 of 1 file valid, 0 errors, 0 warnings"), "{run}");
    assert!(sandbox.read("project/feature.txt").contains("CSV export"));
}

#[test]
fn scripts_beside_the_workflow_are_not_in_another_workspace() {
    let sandbox = Sandbox::new();
    let retry = "retry: {max_retries: 0}, on_failure: stop";
    for (command, told) in [
        (
            "[sh, agents/a.sh]",
            "make it executable and start it itself: `[./agents/a.sh]`; or copy it into the workspace",
        ),
        ("[agents/a.sh]", "write `./agents/a.sh`"),
    ] {
        let text =
            format!("name: w\nagents: {{a: {{command: {command}}}}}\nphases:\n  - {{id: one, agent: a, {retry}}}\n");
        sandbox.write("team/workflow.yaml", text);
        sandbox.write("team/agents/a.sh", "exit 0\n").write("project/README.md", "");
        let baton = |arguments: &[&str]| {
            let mut command = sandbox.command(BATON);
            command.args(arguments).current_dir(sandbox.path("team"));
            sandbox::run(command, b"")
        };
        let fine = baton(&["workflow", "check"]);
        assert!(fine.stdout.contains("0 warnings"), "{fine}");
        let warned = baton(&["workflow", "check", "--workspace", "../project"]);
        assert!(warned.stdout.contains("warning[missing-command]") && warned.stdout.contains(told), "{warned}");
        let run = baton(&["run", "--workspace", "../project"]);
        let start = "warning: workflow.yaml:2: `agents/a.sh` is beside the workflow file";
        assert!(run.stderr.starts_with(start) && run.stderr.contains(told), "{run}");
        assert!(!run.stderr.contains("interpreter"), "{run}");
    }
}

#[test]
fn mistakes_are_shown_with_their_line_and_help() {
    let sandbox = Sandbox::new();
    sandbox.write("bad/workflow.yaml", BAD);
    assert_snapshot!(sandbox.baton(&["workflow", "check", "bad"]), @r#"
    error[missing-file]: the program `./writer.sh` does not exist
     --> bad/workflow.yaml:2:29
      |
    2 | agents: {writer: {command: [./writer.sh]}}
      |                             ^^^^^^^^^^^
      |
      = help: `./` means the folder of the workflow file

    error[unknown-agent]: unknown agent `writter`
     --> bad/workflow.yaml:4:24
      |
    4 |   - {id: draft, agent: writter, timeuot: 5m}
      |                        ^^^^^^^
      |
      = help: did you mean `writer`?

    error[unknown-workflow-field]: `timeuot` is not a field of this document
     --> bad/workflow.yaml:4:33
      |
    4 |   - {id: draft, agent: writter, timeuot: 5m}
      |                                 ^^^^^^^
      |
      = help: did you mean `timeout`?

    error[unknown-target]: unknown phase `darft`
     --> bad/workflow.yaml:5:47
      |
    5 |   - {id: tests, check: make test, on_failure: darft}
      |                                               ^^^^^
      |
      = help: did you mean `draft`?

    failed: 0 of 1 file valid, 4 errors, 0 warnings
    --- exit 1
    "#);
}

#[test]
fn a_good_file_is_good_and_a_missing_one_is_wrong_usage() {
    let sandbox = Sandbox::new();
    sandbox.write("good.yaml", GOOD).folder("empty");
    assert_snapshot!(sandbox.baton(&["workflow", "check", "./good.yaml", "good.yaml"]), @r#"
    ok: 1 of 1 file valid, 0 errors, 0 warnings
    --- exit 0
    "#);
    assert_snapshot!(sandbox.baton(&["workflow", "check", "good.yaml", "empty", "none.yaml"]), @r#"
    failed: 1 of 1 file valid, 0 errors, 0 warnings
    --- stderr
    error: empty: there is no workflow.yaml in this folder; `baton init` writes one
    error: none.yaml: there is no such file or folder
    --- exit 2
    "#);
    assert_eq!(sandbox.baton_with_input(&["workflow", "check", "-"], GOOD.as_bytes()).code, Some(0));
}

#[test]
fn warnings_fail_only_where_they_count() {
    let sandbox = Sandbox::new();
    sandbox.write("w.yaml", GOOD.replace("sh, a.sh", "no-such-program-anywhere"));
    assert_eq!(sandbox.baton(&["workflow", "check", "w.yaml"]).code, Some(0));
    assert_eq!(sandbox.baton(&["workflow", "check", "--strict", "w.yaml"]).code, Some(1));
    sandbox.write("baton.toml", "[rules]\nmissing-command = \"error\"\n");
    assert_eq!(sandbox.baton(&["workflow", "check", "w.yaml"]).code, Some(1));
}

#[test]
fn other_formats_are_those_of_check() {
    let sandbox = Sandbox::new();
    sandbox.write("bad.yaml", BAD);
    let json = sandbox.baton(&["workflow", "check", "--json", "bad.yaml"]).json();
    let file = &json["files"][0];
    assert_eq!((file["document"].as_str(), file["valid"].as_bool()), (Some("workflow"), Some(false)));
    let codes: Vec<&str> =
        file["diagnostics"].as_array().expect("a list").iter().filter_map(|found| found["code"].as_str()).collect();
    assert_eq!(codes, ["missing-file", "unknown-agent", "unknown-workflow-field", "unknown-target"]);
    let sarif = sandbox.baton(&["workflow", "check", "--format", "sarif", "bad.yaml"]).json();
    assert_eq!(sarif["runs"][0]["results"].as_array().expect("a list").len(), 4);
    let github = sandbox.baton(&["workflow", "check", "--format", "github", "bad.yaml"]).stdout;
    assert!(github.starts_with("::error file=bad.yaml,line=2,col="), "{github}");
}

#[test]
fn the_example_of_the_page_is_valid() {
    let sandbox = Sandbox::new();
    let run = sandbox.baton_with_input(&["workflow", "check", "--strict", "-"], example().as_bytes());
    assert_eq!(run.code, Some(0), "{run}");
}

#[test]
fn the_page_has_every_field() {
    let schema = Sandbox::new().baton(&["schema", "workflow"]).json();
    let page = documentation();
    let definitions = schema["$defs"].as_object().expect("definitions").values();
    for definition in definitions.chain([&schema]) {
        for field in definition["properties"].as_object().into_iter().flat_map(|members| members.keys()) {
            assert!(page.contains(&format!("`{field}`")) || page.contains(&format!("{field}:")), "{field} is missing");
        }
    }
}

#[test]
fn picture_of_a_kind_that_nobody_draws_is_refused() {
    let sandbox = Sandbox::new();
    sandbox.write("workflow.yaml", "name: w\nagents: {a: {command: [sh]}}\nphases: [{id: one, agent: a}]\n");
    let run = sandbox.baton(&["graph", "workflow.yaml", "--output", "x.png"]);
    assert_eq!(run.code, Some(2), "{run}");
    assert!(run.stderr.contains("x.png: unknown picture format") && run.stderr.contains(".svg"), "{run}");
    assert!(!sandbox.path("x.png").exists());
}

#[test]
fn the_picture_on_the_page_is_what_the_program_draws() {
    let sandbox = Sandbox::new();
    sandbox.write("workflow.yaml", example());
    let run = sandbox.baton(&["graph", "workflow.yaml", "--output", "out/workflow.svg"]);
    assert_eq!((run.code, run.stdout.as_str(), run.stderr.as_str()), (Some(0), "", ""), "{run}");
    let path = repository().join("docs/images/workflow.svg");
    let kept = fs::read_to_string(&path).expect("the picture exists");
    assert_eq!(kept, sandbox.read("out/workflow.svg"), "draw it again: baton graph --output {}", path.display());
}

#[test]
fn a_workflow_is_drawn_in_three_formats() {
    let sandbox = Sandbox::new();
    sandbox.write("workflow.yaml", GOOD).write("inner.yaml", "name: outer\nphases: [{id: in, workflow: .}]\n");
    let drawn = |arguments: &[&str]| sandbox.baton(&[&["graph", "."], arguments].concat()).stdout;
    assert!(drawn(&[]).contains("flowchart TD"));
    assert!(drawn(&["--format", "dot"]).starts_with("digraph workflow {"));
    assert!(drawn(&["--format", "svg"]).starts_with("<svg "));
    assert!(sandbox.baton(&["graph", "inner.yaml"]).stdout.contains("<b>one</b>"), "the inner workflow is drawn");
    let piped = sandbox.baton_with_input(&["graph", "-"], GOOD.as_bytes());
    assert_eq!(piped.stdout, drawn(&[]));
}

#[test]
fn what_is_no_workflow_is_not_drawn() {
    let sandbox = Sandbox::new();
    sandbox.write("list.yaml", "- a\n");
    assert_snapshot!(sandbox.baton(&["graph", "list.yaml"]), @r#"
    --- stderr
    error: list.yaml cannot be read as a workflow
    hint: baton workflow check list.yaml says why
    --- exit 2
    "#);
    assert_eq!(sandbox.baton(&["graph", "none.yaml"]).code, Some(2));
}

//! What agents are measured with lies where they cannot change it, and goes when nobody needs it.

use std::fs;
use std::path::PathBuf;

use baton_engine::Fence;
use baton_engine::RunId;

use crate::site::{LONG, RUN, Site, find};

const FLOW: &str = "name: w\nsandbox: off\nagents: {dev: {command: [./dev.py], retry: {max_retries: 0}}}\n\
                    phases: [{id: build, agent: dev, writes: ['out/**']}]";

/// Returns the folder of what the attempts of the run are measured with.
fn measures(site: &Site) -> PathBuf {
    site.state().run(&site.scratch.path("workspace"), &RunId::parse(RUN).expect("safe"))
}

/// Returns whether it is kept how the workspace was before the first attempt.
fn is_measured(site: &Site) -> bool {
    let kept = std::fs::read_dir(measures(site).join("build.1/1")).expect("a folder");
    kept.flatten().any(|file| file.file_name().to_string_lossy().starts_with("baseline-"))
}

#[test]
fn agent_that_wipes_and_forges_what_it_finds_is_measured_all_the_same() {
    let body = "import shutil\nos.makedirs('out', exist_ok=True)\nwrite('out/a.txt', 'a')\nwrite('evil.txt', 'evil')\n\
                attempt = os.path.dirname(os.environ['BATON_REPORT_FILE'])\n\
                assert not [name for _, _, names in os.walk(workspace) for name in names if 'baseline' in name]\n\
                shutil.rmtree('.baton')\nos.makedirs(attempt)\n\
                write(attempt + '/baseline.json', '{\"files\": {\"evil.txt\": {}}, \"too_many\": false}')\n\
                report(files_modified=['out/a.txt'])";
    let site = Site::with_git().workflow(FLOW).agent("dev", body);
    let ended = site.run(&[]);
    assert_eq!(ended.code, Some(3), "{ended:?}");
    let run = site.told();
    let failure = find(&run, "build.1").handoff.last_failure.as_ref().expect("it failed").to_string();
    assert!(failure.contains("evil.txt"), "{failure}");
}

#[test]
fn measures_stay_while_a_run_may_go_on_and_go_when_it_is_completed() {
    let body = "os.makedirs('out', exist_ok=True)\nwrite('out/a.txt', 'a')\nreport(files_modified=['out/a.txt'])";
    let flow = format!("{FLOW}\n").replace("]}]", "], review: blocking}]");
    let site = Site::with_git().workflow(&flow).agent("dev", body);
    assert_eq!(site.run(&[]).code, Some(3));
    assert!(is_measured(&site));
    assert!(!site.attempt("build.1", Fence(1)).join("baseline.json").exists());
    let inbox: serde_json::Value = serde_json::from_str(&site.baton(&["inbox", "--json"]).stdout).expect("JSON");
    let (id, digest) = (&inbox["waiting"][0]["id"], &inbox["waiting"][0]["digest"]);
    let [id, digest] = [id, digest].map(|text| text.as_str().unwrap_or_else(|| panic!("{inbox:#}")));
    assert_eq!(site.baton(&["approve", id, "--yes", "--shown", digest]).code, Some(0));
    assert_eq!(site.resume(&[]).code, Some(0));
    assert!(!measures(&site).exists());
}

#[test]
fn pruning_a_run_removes_what_it_was_measured_with() {
    let site = Site::with_git().workflow(FLOW).agent("dev", "write('evil.txt', 'x')\nreport()");
    assert_eq!(site.run(&[]).code, Some(3));
    assert!(measures(&site).is_dir());
    assert_eq!(site.baton(&["cancel", RUN]).code, Some(0));
    let pruned = site.baton(&["prune", "--older-than", "0s", "--no-export", "--yes"]);
    assert!(pruned.code == Some(0) && pruned.stdout.contains("1 run"), "{pruned:?}");
    assert!(!measures(&site).exists());
}

#[test]
fn whoever_claims_in_the_workspace_itself_is_measured_with_the_same() {
    let site = Site::with_git().workflow(&FLOW.replace("command: [./dev.py]", "queue: true"));
    let mut driver = site.start(&["run", "flow", "--workspace", "workspace", "--id", RUN, "--json"]);
    driver.close_input();
    driver.stdout.find("t.build.1", LONG).expect("it begins");
    driver.kill();
    let inside = |arguments: &[&str]| {
        let output = site.command(arguments).current_dir(site.scratch.path("workspace")).output().expect("it runs");
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    };
    inside(&["claim", "--agent", "w/dev"]);
    assert!(is_measured(&site));
    site.scratch.write("workspace/evil.txt", "evil");
    let report = r#"{"baton": 1, "document": "report", "id": "t.build.1", "outcome": "complete", "summary": "Wrote the parser for dates."}"#;
    site.scratch.write("report.json", report);
    inside(&["report", "t.build.1", "--fence", "1", "../report.json"]);
    site.resume(&[]);
    let run = site.told();
    let failure = find(&run, "build.1").handoff.last_failure.as_ref().expect("it is refuted").to_string();
    assert!(failure.contains("evil.txt"), "{failure}");
    assert_eq!(fs::read_to_string(site.scratch.path("workspace/.baton/.gitignore")).expect("there"), "*\n");
}

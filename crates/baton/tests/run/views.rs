//! `views`: what people and tools find on the disk while a run goes on.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use crate::site::{LONG, RUN, Site, find, listen};

const SESSION: &str = "workspace/.project/07-audit/sessions/t";

fn json_at(site: &Site, path: &str) -> Value {
    serde_json::from_str(&site.read(site.scratch.path(path))).expect("JSON")
}

fn yaml_at(site: &Site, path: &str) -> Value {
    serde_saphyr::from_str(&site.read(site.scratch.path(path))).expect("YAML")
}

/// Returns the status of every phase in a `phase-status.json`.
fn statuses(view: &Value) -> Vec<(&str, &str)> {
    let phases = view["phases"].as_array().expect("a list").iter();
    phases.map(|phase| (phase["id"].as_str().expect("an id"), phase["status"].as_str().expect("a status"))).collect()
}

#[test]
fn agent_finds_the_phase_before_it_completed_and_itself_in_progress() {
    let flow = "name: two\ndescription: Two steps\nviews: [state, manifest, phase-status]\n\
        output_directory: out/two\nagents: {dev: {command: [./dev.py]}}\n\
        phases:\n  - {id: first, title: Begin, agent: dev}\n  - {id: second, agent: dev}\n  - {id: third, check: 'true'}\n";
    // What the views say while an agent works is kept, one folder for each phase.
    let body = "import shutil\nseen = '../seen/' + os.environ['BATON_PHASE']\nos.makedirs(seen)\n\
        for view in ['state/current.json', 'out/two/MANIFEST.yaml', 'context/phase-status.json']: shutil.copy(view, seen)\n\
        write('made.txt', 'x')\nreport(artifacts=['made.txt'])";
    let site = Site::new().workflow(flow).agent("dev", body);
    let ended = site.run(&[]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);

    let current = json_at(&site, "seen/second/current.json");
    let listed: Vec<(&str, &str)> = current["handoffs"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|entry| (entry["id"].as_str().expect("an id"), entry["status"].as_str().expect("a status")))
        .collect();
    assert_eq!(listed, [("t", "claimed"), ("t.first.1", "completed"), ("t.second.1", "claimed")]);
    assert_eq!(current["workflow"]["current_step"], "second");
    assert_eq!(current["workflow"]["completed_steps"], json!(["first"]));
    assert_eq!(current["workflow"]["remaining_steps"], json!(["third"]));
    assert_eq!(current["checkpoints"][0]["handoff"], "t.first.1");

    let phases = json_at(&site, "seen/second/phase-status.json");
    let expected = [("first", "completed"), ("second", "in_progress"), ("third", "pending")];
    assert_eq!(statuses(&phases), expected, "{phases:#}");
    assert_eq!((&phases["status"], &phases["current_phase"]), (&json!("in_progress"), &json!("second")));
    let first = &phases["phases"][0];
    assert_eq!(
        (&first["title"], &first["agent"], &first["artifacts"]),
        (&json!("Begin"), &json!("dev"), &json!(["made.txt"]))
    );
    assert!(first["started_at"].is_string() && first["completed_at"].is_string(), "{first}");

    let manifest = yaml_at(&site, "seen/second/MANIFEST.yaml");
    assert_eq!((&manifest["feature_name"], &manifest["run"]), (&json!("two"), &json!("t")));
    assert_eq!((&manifest["status"], &manifest["current_phase"]), (&json!("in-progress"), &json!("second")));
    assert_eq!(manifest["phases"]["first"]["status"], "complete");
    assert_eq!(manifest["phases"]["second"]["status"], "in_progress");
    assert_eq!(manifest["agents_contributed"][0]["type"], "dev");
    assert_eq!(manifest["agents_contributed"][0]["artifacts"], json!(["made.txt"]));
    assert_eq!(manifest["artifacts"][0]["path"], "made.txt");

    // And the end is shown too.
    let phases = json_at(&site, "workspace/context/phase-status.json");
    assert_eq!(statuses(&phases), [("first", "completed"), ("second", "completed"), ("third", "completed")]);
    assert_eq!(phases["status"], "completed");
    assert_eq!(yaml_at(&site, "workspace/out/two/MANIFEST.yaml")["status"], "complete");
}

#[test]
fn readers_never_see_half_a_view() {
    let phases: Vec<String> = (1..=30).map(|number| format!("  - {{id: p{number}, check: 'true'}}\n")).collect();
    let flow = format!(
        "name: long\nviews: [state, manifest, phase-status]\noutput_directory: out\nphases:\n{}",
        phases.concat()
    );
    let site = Site::new().workflow(&flow);
    let workspace = site.scratch.path("workspace");
    let (over, reading) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    let reader = std::thread::spawn({
        let (over, reading) = (over.clone(), reading.clone());
        move || {
            let mut seen: Vec<String> = Vec::new();
            while !over.load(Ordering::Relaxed) {
                for view in ["state/current.json", "context/phase-status.json", "out/MANIFEST.yaml"] {
                    let Ok(text) = fs::read_to_string(workspace.join(view)) else { continue };
                    serde_saphyr::from_str::<Value>(&text).unwrap_or_else(|error| panic!("{view}: {error}\n{text}"));
                    assert!(text.contains("handoffs") || text.contains("phases"), "{view}: {text}");
                    if view.starts_with("context") && seen.last() != Some(&text) {
                        seen.push(text);
                    }
                }
                reading.store(true, Ordering::Relaxed);
            }
            seen
        }
    });
    while !reading.load(Ordering::Relaxed) {
        std::thread::yield_now();
    }
    let ended = site.run(&[]);
    over.store(true, Ordering::Relaxed);
    let seen = reader.join().expect("every view was whole");
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(seen.len() > 5, "the view was seen to change {} times", seen.len());
}

const PACKAGE: &str = "handoff:
  id: HO-042
  timestamp: 2026-01-13T10:00:00Z
  from: {agent: architecture, step: 1}
  to: {agent: builder, reason: The pages are designed}
  kind: sequential
  context:
    summary: Designed 3 pages and the links between them in pages.json.
    decisions:
      - {id: D-001, decision: One page for each story, rationale: Each can be built alone}
    artifacts:
      - {path: pages.json, type: spec, description: The 3 pages with their links}
    open_questions: []
";

#[test]
fn archive_holds_what_was_asked_and_the_packages_as_agents_wrote_them() {
    let flow = "name: agency\nviews: [archive]\nagents:\n  architecture: {command: [./architecture.py], dialect: package}\n  \
        builder: {command: [./builder.py]}\nphases:\n  - {id: prepare, check: 'true'}\n  - {id: design, agent: architecture, task: Design the pages of brief.md and the links between them}\n  \
        - {id: build, agent: builder, task: Build every page of pages.json in the folder site}\n";
    let architecture = format!("write('pages.json', '[]')\nwrite(os.environ['BATON_REPORT_FILE'], '''{PACKAGE}''')");
    // While the builder works, the package that it was handed is in the archive already.
    let builder = "import shutil\n\
        shutil.copy('.project/07-audit/sessions/t/handoffs/t.design.1.report.yaml', '../seen.yaml')\nreport()";
    let site = Site::new().workflow(flow).agent("architecture", &architecture).agent("builder", builder);
    let ended = site.run(&[]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert_eq!(site.read(site.scratch.path("seen.yaml")), PACKAGE);

    let asked = yaml_at(&site, &format!("{SESSION}/handoffs/t.design.1.yaml"));
    assert_eq!(asked["handoff"]["id"], "t.design.1");
    assert!(asked.to_string().contains("Design the pages of brief.md"), "{asked}");
    let answered = json_at(&site, &format!("{SESSION}/reports/t.build.1.json"));
    assert_eq!((&answered["id"], &answered["outcome"]), (&json!("t.build.1"), &json!("complete")));
    assert!(site.read(site.scratch.path(format!("{SESSION}/journal/t.design.1.yaml"))).contains("event: reported"));

    let checked = site.baton(&["check", "workspace/.project"]);
    assert_eq!(checked.code, Some(0), "{}\n{}", checked.stdout, checked.stderr);
    site.scratch.folder("exported");
    let exported = site.baton(&["audit", "export", RUN, "--to", "exported"]);
    assert_eq!(exported.code, Some(0), "{}", exported.stderr);
    let folder = "exported/.project/07-audit/sessions/t";
    for file in ["handoffs/t.design.1.yaml", "handoffs/t.design.1.report.yaml", "reports/t.build.1.json"] {
        let (exported, kept) = (site.scratch.path(format!("{folder}/{file}")), format!("{SESSION}/{file}"));
        assert_eq!(site.read(exported), site.read(site.scratch.path(kept)), "{file}");
    }
}

#[test]
fn after_a_kill_the_views_are_whole_and_after_resume_they_are_current() {
    let flow = "name: killed\nviews: [state, archive, manifest, phase-status]\noutput_directory: out\n\
        agents: {dev: {command: [./dev.py], retry: {max_retries: 3, delay: 0s}}}\n\
        phases: [{id: first, agent: dev}, {id: second, agent: dev}]\n";
    let site = Site::new().workflow(flow);
    let pipe = site.pipe("works");
    // The second phase says that it works, and waits for as long as its first attempt lives.
    let body = format!(
        "if os.environ['BATON_PHASE'] == 'second' and not os.path.exists('../killed'):\n    \
         pipe = open('{pipe}', 'w')\n    print('works', file=pipe, flush=True)\n    signal.pause()\nreport()"
    );
    let site = site.agent("dev", &body);
    let mut process = site.start(&["run", "flow", "--workspace", "workspace", "--id", RUN, "--no-input"]);
    let works = listen(&pipe);
    assert_eq!(works.next(LONG).expect("a line"), "works");
    process.kill();
    let phases = json_at(&site, "workspace/context/phase-status.json");
    assert_eq!(statuses(&phases), [("first", "completed"), ("second", "in_progress")]);
    site.scratch.write("killed", "");

    // Whatever became of the files meanwhile, they are written again.
    fs::remove_dir_all(site.scratch.path("workspace/.project")).expect("it was there");
    site.scratch.write("workspace/state/current.json", "{");
    let ended = site.resume(&[]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let phases = json_at(&site, "workspace/context/phase-status.json");
    assert_eq!(statuses(&phases), [("first", "completed"), ("second", "completed")]);
    assert_eq!(json_at(&site, "workspace/state/current.json")["workflow"]["status"], "completed");
    assert_eq!(yaml_at(&site, "workspace/out/MANIFEST.yaml")["phases"]["second"]["status"], "complete");
    assert!(site.scratch.contains(format!("{SESSION}/reports/t.first.1.json")));

    // Resuming what has ended writes them again as well.
    fs::remove_file(site.scratch.path("workspace/out/MANIFEST.yaml")).expect("it was there");
    let _ = site.resume(&[]);
    assert_eq!(yaml_at(&site, "workspace/out/MANIFEST.yaml")["status"], "complete");
}

#[test]
fn person_who_is_waited_for_is_shown_and_a_decision_made_elsewhere_after_resume() {
    let flow = "name: gated\nviews: [state, phase-status]\nphases:\n  \
        - {id: look, gate: {type: blocking, items: [The plan]}}\n  - {id: go, check: 'true'}\n";
    let site = Site::new().workflow(flow);
    assert_eq!(site.run(&[]).code, Some(3));
    let phases = json_at(&site, "workspace/context/phase-status.json");
    assert_eq!(phases["status"], "awaiting_person");
    assert_eq!(statuses(&phases), [("look", "awaiting_person"), ("go", "pending")]);
    let current = json_at(&site, "workspace/state/current.json");
    assert_eq!(
        (&current["gates_pending"][0]["id"], &current["gates_pending"][0]["step"]),
        (&json!("t.look.1"), &json!("look"))
    );

    let shown: Value = serde_json::from_str(&site.baton(&["inbox", "--json"]).stdout).expect("JSON");
    let digest = shown["waiting"][0]["digest"].as_str().unwrap_or_else(|| panic!("no digest in {shown:#}")).to_owned();
    let approved = site.baton(&["approve", "t.look.1", "--shown", &digest, "--yes"]);
    assert_eq!(approved.code, Some(0), "{}", approved.stderr);
    assert_eq!(site.resume(&[]).code, Some(0));
    assert_eq!(json_at(&site, "workspace/state/current.json")["gates_pending"], json!([]));
    let phases = json_at(&site, "workspace/context/phase-status.json");
    assert_eq!(statuses(&phases), [("look", "completed"), ("go", "completed")]);
}

#[test]
fn views_that_change_while_an_agent_works_are_not_blamed_on_it() {
    let flow = "name: both\nviews: [state, archive, manifest, phase-status, registry]\n\
        output_directory: out\nagents: {dev: {command: [./dev.py]}}\nphases:\n  - id: both\n    parallel:\n      \
        - {id: one, agent: dev, writes: ['one/**']}\n      - {id: two, agent: dev, writes: ['two/**']}\n";
    // The first one goes on only when it has seen in the view that the second one has finished.
    let body = "name = os.environ['BATON_PHASE'].split('/')[1]\n\
        def finished():\n    phases = json.load(open('context/phase-status.json'))['phases'][0]['phases']\n    \
        return phases[1]['status'] == 'completed'\n\
        start = time.time()\n\
        while name == 'one' and not finished() and time.time() < start + 60: pass\n\
        os.makedirs(name)\nwrite(name + '/made.txt', 'x')\n\
        report(artifacts=[name + '/made.txt'], files_modified=[name + '/made.txt'])";
    let site = Site::with_git().workflow(flow).agent("dev", body);
    let ended = site.run(&[]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let run = site.told();
    assert_eq!((find(&run, "both.one.1").attempts, find(&run, "both.two.1").attempts), (1, 1), "{}", ended.stderr);
}

#[test]
fn registry_tells_phase_agent_status_and_dependencies_and_keeps_what_others_listed() {
    let flow = "name: made\nviews: [registry]\nagents: {dev: {command: [./dev.py]}}\n\
        phases: [{id: design, agent: dev}, {id: build, agent: dev}]\n";
    let body = "name = os.environ['BATON_PHASE'] + '.txt'\nwrite(name, 'x')\n\
        report(artifacts=[{'path': name, 'type': 'code', 'description': 'A text that was made'}])";
    let site = Site::new().workflow(flow).agent("dev", body);
    let foreign = json!({ "artifact_id": "a-1", "path": "theirs.txt", "handoff_id": "h", "sha256": "0", "bytes": 1,
        "created_at": "2026-01-13T10:00:00Z", "note": "kept" });
    site.scratch
        .write("workspace/artifacts/registry.json", json!({ "version": 1, "artifacts": [foreign] }).to_string());
    let ended = site.run(&[]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let registry = json_at(&site, "workspace/artifacts/registry.json");
    assert_eq!(registry["artifacts"][0], foreign);
    let built = &registry["artifacts"][2];
    let told = ["path", "type", "run", "phase", "agent", "status", "handoff_id"].map(|member| built[member].as_str());
    let expected = ["build.txt", "code", "t", "build", "dev", "approved", "t.build.1"].map(Some);
    assert_eq!(told, expected, "{registry:#}");
    assert_eq!(built["dependencies"], json!(["design.txt"]));
    assert_eq!(built["sha256"].as_str().map(str::len), Some(64));
}

#[test]
fn view_that_cannot_be_written_is_told_once_and_the_run_goes_on() {
    let flow =
        "name: stuck\nviews: [state, phase-status]\nphases: [{id: one, check: 'true'}, {id: two, check: 'true'}]\n";
    let site = Site::new().workflow(flow);
    // One stands where a folder should be; the other leads outside.
    site.scratch.write("workspace/state", "a file").folder("elsewhere");
    symlink(site.scratch.path("elsewhere"), site.scratch.path("workspace/context")).expect("a link");
    let ended = site.run(&[]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    for view in ["state", "phase-status"] {
        let note = format!("the view `{view}` cannot be written");
        assert_eq!(ended.stderr.matches(&note).count(), 1, "{}", ended.stderr);
    }
    assert!(ended.stderr.contains("workspace/context is a symbolic link, not a folder"), "{}", ended.stderr);
    let outside: Vec<_> = fs::read_dir(site.scratch.path("elsewhere")).expect("a folder").collect();
    assert!(outside.is_empty(), "{outside:?}");
    assert!(Path::new(&site.scratch.path("workspace/state")).is_file());
}

#[test]
fn view_stands_in_the_folder_that_the_workflow_names() {
    let flow = "name: placed\nviews: [{phase-status: exchange}, {manifest: .}]\nphases: [{id: one, check: 'true'}]\n";
    let site = Site::new().workflow(flow);
    assert_eq!(site.run(&[]).code, Some(0));
    assert_eq!(statuses(&json_at(&site, "workspace/exchange/context/phase-status.json")), [("one", "completed")]);
    assert_eq!(yaml_at(&site, "workspace/MANIFEST.yaml")["phases"]["one"]["status"], "complete");
}

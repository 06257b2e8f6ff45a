//! What the author of a workflow says about places, names and skills reaches the agents as it was meant.

use serde_json::json;

use crate::play::{Act, Play};

fn flow(top: &str, phases: &str) -> String {
    format!("name: f\n{top}\nagents: {{a: {{command: [./a]}}, b: {{command: [./b]}}}}\nphases:\n{phases}")
}

#[test]
fn output_goes_to_a_folder_of_date_time_and_slug() {
    let top = "inputs: {title: {default: 'Fix: the login page!'}}\noutput_directory: 'out/{{ run.started_at }}-{{ inputs.title | slug }}'";
    let play = Play::of(&flow(top, "  - {id: one, agent: a}")).recording().play();
    let prompt = &play.prompt("one.1").text;
    assert!(prompt.contains("OUTPUT_DIRECTORY: out/2026-01-05-090000-fix-the-login-page\n"), "{prompt}");
}

#[test]
fn every_item_of_a_list_has_a_place_of_its_own() {
    let top = "output_directory: 'out/{% if tool is defined %}tools/{{ tool | slug }}{% endif %}'";
    let phases = "  - {id: each, foreach: \"['Get Issue', 'list']\", as: tool, phases: [{id: make, agent: a}]}";
    let play = Play::of(&flow(top, phases)).recording().play();
    assert!(play.prompt("each.Get-Issue.make.1").text.contains("OUTPUT_DIRECTORY: out/tools/get-issue\n"));
    assert!(play.prompt("each.list.make.1").text.contains("OUTPUT_DIRECTORY: out/tools/list\n"));
}

#[test]
fn a_mandatory_skill_is_told_with_its_purpose() {
    let phases = "  - {id: one, agent: a, mandatory_skills: [tdd: write the tests first, plain, 'quoted: as text']}";
    let play = Play::of(&flow("", phases)).recording().play();
    let prompt = &play.prompt("one.1").text;
    for line in ["- tdd: write the tests first\n", "- plain\n", "- quoted: as text\n"] {
        assert!(prompt.contains(line), "{line} is not in {prompt}");
    }
}

#[test]
fn a_phase_may_have_a_number_with_a_point() {
    let phases = "  - {id: 4, agent: a}\n  - {id: 4.5, agent: b, task: \"{{ phases['4'].summary }}\"}\n  - {id: 5, parallel: [{id: 5, agent: a}]}";
    let play = Play::of(&flow("", phases))
        .recording()
        .tell("4", [Act::Says(json!({"outcome": "complete", "summary": "w"}))])
        .play();
    assert!(play.story().ends_with("completed"), "{}", play.story());
    assert_eq!(play.find("4-5.1").step.phase, "4.5");
    assert_eq!(play.find("5.5.1").step.phase, "5/5");
}

#[test]
fn a_task_keeps_its_identifier_and_its_specification_through_all_phases() {
    let top = "inputs: {spec_path: {default: specs/x.md}}";
    let phases = "  - {id: research, agent: a}\n  - {id: write, agent: b}\n  - {id: validate, agent: a}";
    let text = flow(top, phases)
        .replace("command: [./a]", "command: [./a], dialect: task")
        .replace("command: [./b]", "command: [./b], dialect: task");
    let found = json!({"existing_implementations": [{"file": "src/w-found.rs", "description": "d"}]});
    let made = json!({"files_created": [{"path": "src/w-made.rs"}], "files_modified": [{"path": "src/w-changed.rs"}]});
    let says = |findings| {
        Act::Says(json!({"outcome": "complete", "decision": "PROCEED", "summary": "s", "findings": findings}))
    };
    let play = Play::of(&text).recording().tell("research", [says(found)]).tell("write", [says(made)]).play();
    for (step, files) in
        [("write.1", vec!["src/w-found.rs"]), ("validate.1", vec!["src/w-made.rs", "src/w-changed.rs"])]
    {
        let request = play.find(step).asked().unwrap();
        assert_eq!(request.id.as_deref(), Some("r"), "{step}");
        let context = request.context.as_ref().unwrap();
        assert_eq!(context.spec_path.as_deref(), Some("specs/x.md"), "{step}");
        assert_eq!(context.relevant_files, files, "{step}");
        assert!(play.prompt(step).text.contains(files[0]), "{step}");
    }
}

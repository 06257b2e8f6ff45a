//! Runs that stand still: one that was interrupted goes on, and one that has failed begins again where somebody says.

use crate::browser::{Driver, Settings};
use crate::person::Person;
use crate::stage::{GATE, Stage};

#[test]
fn interrupted_run_is_resumed_from_the_page() {
    let stage = Stage::new();
    // Somebody begins it at a terminal and walks away: a server does not take such a run by itself.
    let arguments = ["run", "flow", "--workspace", "workspace", "--id", "t", "--no-input"];
    let (code, _, stderr) = stage.premises.run(&arguments);
    assert_eq!(code, Some(3), "{stderr}");
    let driver = Driver::start();
    let ana = driver.open("ana", &Settings::default());
    ana.log_in(&stage.url("/inbox/t.ok.1"), &stage.ana);
    ana.click("#decide-approve button");
    ana.until("#run-state", "interrupted");
    ana.click("form[action='/runs/t/resume'] button");
    ana.until("#run-state", "completed");
    assert_eq!(ana.complaints(), Vec::<String>::new());
}

#[test]
fn failed_run_is_done_again_from_a_phase_with_a_note() {
    let agent = "case $BATON_HANDOFF_ID in *.build.*) grep -q 'tool is there' \"$BATON_NOTES_FILE\" || { echo no tool >&2; exit 3; };; esac\nreport";
    let stage = Stage::with(GATE, agent);
    stage.start("t");
    stage.until_run_is("t", "failed");
    let driver = Driver::start();
    let ana = driver.open("ana", &Settings::default());
    ana.log_in(&stage.url("/runs/t"), &stage.ana);
    ana.until(".cause", "no tool");
    ana.until(".cause", "baton retry t");
    ana.click(".cause a[href='#retry-from']");
    ana.click("#retry option[value=build]");
    ana.write("#retry textarea", "The tool is there now.");
    ana.click("#retry button");
    ana.until("#run-state", "waiting for a person");
    let journal = stage.journal("t");
    assert!(journal.iter().any(|event| event.to_string().contains("The tool is there now.")), "{journal:#?}");
    // A run that goes on has no button that would be refused.
    assert_eq!((ana.count("#retry"), ana.count("form[action='/runs/t/resume']")), (0, 0));
}

#[test]
fn completed_run_is_not_repeated_and_a_refused_form_keeps_what_was_typed() {
    let stage =
        Stage::with("name: gates\nagents: {dev: {command: [./dev.sh]}}\nphases: [{id: build, agent: dev}]\n", "report");
    stage.start("t");
    stage.until_run_is("t", "completed");
    let client = stage.stranger();
    let mut ana = Person::logged_in(&client, &stage.ana);
    let page = ana.get("/runs/t").text;
    assert!(!page.contains("/runs/t/retry"), "{page}");
    assert!(
        page.contains(
            "A completed run cannot be repeated; <a href=\"/start?workflow=gates&amp;like=t\">start a new one</a>"
        ),
        "{page}"
    );
    // It may have ended while somebody was typing.
    for (form, field) in [("retry", "note"), ("cancel", "reason")] {
        let refused = ana.send("/runs/t", &format!("/runs/t/{form}"), &[(field, "Mind the leap years.")]);
        assert_eq!(refused.status, 409, "{form}");
        assert!(refused.text.contains("Not done: ") && refused.text.contains("Mind the leap years."), "{form}");
    }
}

#[test]
fn phase_that_does_not_exist_is_told_beside_the_note() {
    let stage = Stage::with(GATE, "exit 3");
    stage.start("t");
    stage.until_run_is("t", "failed");
    let client = stage.stranger();
    let mut ana = Person::logged_in(&client, &stage.ana);
    let refused = ana.send("/runs/t", "/runs/t/retry", &[("from", "shop"), ("note", "The tool is there.")]);
    assert_eq!(refused.status, 422);
    assert!(
        refused.text.contains("<textarea name=\"note\" required>The tool is there.</textarea>"),
        "{}",
        refused.text
    );
    assert!(refused.text.contains("the phases are build, ok, ship"), "{}", refused.text);
    // What joins emoji is sent back as it was typed, and lines end as they did.
    let refused =
        ana.send("/runs/t", "/runs/t/retry", &[("from", "shop"), ("note", "\u{1f468}\u{200d}\u{1f469} <go>\r\non")]);
    assert!(refused.text.contains("required>\u{1f468}&#x200d;\u{1f469} &lt;go&gt;\non</textarea>"), "{}", refused.text);
}

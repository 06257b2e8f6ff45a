//! Runs that stand still: one that was interrupted goes on, and one that has failed begins again where somebody says.

use crate::browser::{Driver, Settings};
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
    ana.click("#retry summary");
    ana.click("#retry option[value=build]");
    ana.write("#retry textarea", "The tool is there now.");
    ana.click("#retry button");
    ana.until("#run-state", "waiting for a person");
    let journal = stage.journal("t");
    assert!(journal.iter().any(|event| event.to_string().contains("The tool is there now.")), "{journal:#?}");
    // A run that goes on has no button that would be refused.
    assert_eq!((ana.count("#retry"), ana.count("form[action='/runs/t/resume']")), (0, 0));
}

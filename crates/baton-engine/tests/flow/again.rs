//! A person lets a run begin again from a phase: what came after it is done again, with what is known by then.

use baton_engine::flow::{self, NoWayBack, Restart};
use baton_engine::lifecycle::{Command, Decision, Refusal, Release, Requeue};

use crate::play::{Act, Play};
use crate::telling::{answers, complete, verdict};

const LINE: &str = "name: f
agents: {dev: {command: [./a], retry: {max_retries: 0}}}
phases:
  - {id: design, agent: dev}
  - {id: build, agent: dev, on_failure: stop}
  - {id: review, agent: dev}";

fn ended(play: &Play) -> String {
    play.run.root().handoff.state.name().to_string()
}

#[test]
fn failed_run_tries_the_phase_again_where_it_ended_and_then_goes_on() {
    let script = [Act::Fails("no space left"), complete("built")];
    let mut play = Play::of(LINE).recording().tell("build", script).play();
    assert_eq!(ended(&play), "failed");
    assert_eq!(play.begin_again(None, Some("the disk is larger now")).unwrap(), "build");
    let play = play.play();
    assert_eq!(ended(&play), "completed", "{}", play.story());
    assert_eq!(play.run.visits("design"), 1, "what came before is not done again");
    let told = &play.prompt("build.2").text;
    assert!(told.contains("no space left") && told.contains("the disk is larger now"), "{told}");
    assert_eq!(play.find("build.2").step.after, play.find("build.1").step.after);
}

#[test]
fn whatever_came_after_the_phase_is_done_again() {
    let mut play = Play::of(LINE).tell("review", [Act::Fails("exit 3")]).play();
    // A person is asked what to do about the review; going back to the design answers that as well.
    assert!(play.run.waiting().next().is_some());
    play.begin_again(Some("design"), None).unwrap();
    assert_eq!(play.run.waiting().count(), 0, "the question is taken back");
    let play = play.play();
    assert_eq!(ended(&play), "completed", "{}", play.story());
    let visits = ["design", "build", "review"].map(|phase| play.run.visits(phase));
    assert_eq!(visits, [2, 2, 2]);
}

#[test]
fn group_is_done_again_as_a_whole() {
    let text = "name: f
agents: {dev: {command: [./a], retry: {max_retries: 0}}}
phases:
  - {id: tools, foreach: '[1, 2]', phases: [{id: build, agent: dev, on_failure: stop}], on_failure: stop}";
    let mut play = Play::of(text).tell("tools/item-2/build", [Act::Fails("exit 3")]).play();
    assert_eq!(ended(&play), "failed", "{}", play.story());
    let inside = play.begin_again(Some("tools/item-2/build"), None).unwrap_err();
    assert_eq!(inside, NoWayBack::Inside { given: "tools/item-2/build".to_owned(), phase: "tools".to_owned() });
    play.begin_again(None, None).unwrap();
    let play = play.play();
    assert_eq!((ended(&play).as_str(), play.run.visits("tools/item-1/build")), ("completed", 2), "{}", play.story());
}

#[test]
fn counting_starts_anew() {
    let text = format!("{LINE}\nlimits: {{visits_per_phase: 1}}");
    let mut play = Play::of(&text).tell("review", [verdict("CHANGES_REQUESTED", "no")]).play();
    assert!(play.story().contains("limit"), "{}", play.story());
    play.begin_again(Some("build"), None).unwrap();
    assert_eq!(ended(&play.play()), "completed");
}

#[test]
fn phase_that_was_never_entered_goes_on_from_the_one_before() {
    let mut play = Play::of(LINE).tell("build", [Act::Fails("exit 3")]).play();
    play.begin_again(Some("review"), None).unwrap();
    let play = play.play();
    assert_eq!(ended(&play), "completed");
    assert_eq!(play.find("review.1").step.after.as_ref().unwrap(), &play.find("build.1").handoff.id);
}

const GATED: &str = "name: f
agents: {dev: {command: [./a], retry: {max_retries: 0}}}
phases:
  - {id: design, agent: dev}
  - {id: sign-off, gate: {items: [the design], choices: {go: next, no: stop}}}
  - {id: build, agent: dev, on_failure: stop}
  - {id: test, agent: dev, on_failure: design}
  - {id: ship, agent: dev}";

#[test]
fn gate_that_nobody_has_passed_is_not_walked_around() {
    let mut play = Play::of(GATED).tell("design", [Act::Fails("exit 3")]).play();
    for behind in ["build", "test", "ship"] {
        let refused = play.begin_again(Some(behind), None).unwrap_err();
        assert_eq!(refused, NoWayBack::NotReached { given: behind.to_owned(), at: "design".to_owned() });
    }
    let mut play = Play::of(GATED).tell("sign-off?", [answers("no")]).play();
    assert_eq!(ended(&play), "failed", "{}", play.story());
    let refused = play.begin_again(Some("build"), None).unwrap_err();
    assert_eq!(refused, NoWayBack::NotReached { given: "build".to_owned(), at: "sign-off".to_owned() });
    assert_eq!(play.begin_again(None, None).unwrap(), "sign-off", "the gate itself is asked again");
}

#[test]
fn gate_that_was_passed_once_guards_what_follows_when_it_is_asked_again() {
    let script = [verdict("CHANGES_REQUESTED", "it leaks")];
    let mut play = Play::of(GATED).tell("sign-off?", [answers("go"), answers("no")]).tell("test", script).play();
    assert_eq!(ended(&play), "failed", "{}", play.story());
    for behind in ["build", "test"] {
        let refused = play.begin_again(Some(behind), None).unwrap_err();
        assert_eq!(refused, NoWayBack::Guarded { given: behind.to_owned(), gate: "sign-off".to_owned() });
    }
    play.begin_again(Some("design"), None).unwrap();
}

#[test]
fn approval_is_void_when_the_work_before_the_gate_was_done_again() {
    let script = [complete("designed"), Act::Fails("exit 3")];
    let text = GATED.replace("{id: test, agent: dev, on_failure: design}", "{id: test, agent: dev, on_failure: stop}");
    let play = Play::of(&text).tell("design", script).tell("sign-off?", [answers("go")]);
    let mut play = play.tell("test", [Act::Fails("exit 1")]).play();
    assert_eq!(ended(&play), "failed", "{}", play.story());
    play.begin_again(Some("design"), None).unwrap();
    let mut play = play.play();
    for behind in ["build", "test"] {
        let refused = play.begin_again(Some(behind), None).unwrap_err();
        assert_eq!(refused, NoWayBack::Guarded { given: behind.to_owned(), gate: "sign-off".to_owned() });
    }
}

#[test]
fn approval_is_void_when_the_run_was_given_other_inputs_since() {
    let text = GATED.replace("agents:", "inputs: {target: {default: test}}\nagents:");
    let text = text.replace("agent: dev, on_failure: design", "agent: dev, on_failure: stop");
    let inputs = [("target".to_owned(), "production".into())].into_iter().collect();
    let other =
        |from: &str| Restart { from: Some(from.to_owned()), inputs: Clone::clone(&inputs), ..Restart::default() };
    for failed in ["build", "test"] {
        let play = Play::of(&text).tell("sign-off?", [answers("go")]).tell(failed, [Act::Fails("exit 1")]);
        let mut play = play.play();
        assert_eq!(ended(&play), "failed", "{}", play.story());
        for behind in ["build", "test"] {
            let refused = play.restart(&other(behind)).unwrap_err();
            assert_eq!(refused, NoWayBack::Unseen { given: behind.to_owned(), gate: "sign-off".to_owned() });
        }
        // It was stopped before it did anything with them.
        play.restart(&other("design")).unwrap();
        play.cancel();
        play.later(60);
        for behind in ["build", "test"] {
            let refused = play.begin_again(Some(behind), None).unwrap_err();
            assert_eq!(refused, NoWayBack::Unseen { given: behind.to_owned(), gate: "sign-off".to_owned() });
        }
        play.begin_again(Some("sign-off"), None).unwrap();
    }
}

#[test]
fn other_inputs_do_not_lead_around_a_gate_that_was_left_out_with_those_before() {
    let gates = [
        "{id: ok, when: 'inputs.target == \"production\"', gate: {items: [the build]}}",
        "{id: ok, when: 'inputs.target == \"production\"', agent: dev, review: blocking}",
        "{id: ok, foreach: inputs.list, as: item, phases: [{id: each, gate: {items: [it]}}]}",
        "{id: ok, when: 'inputs.target == \"production\"', parallel: [{id: one, agent: dev}, {id: two, agent: dev, review: blocking}]}",
    ];
    for gate in gates {
        let text = format!(
            "name: w\ninputs: {{target: {{default: test}}, list: {{default: []}}}}\nagents: {{dev: {{command: [./dev], retry: {{max_retries: 0}}}}}}\n\
             phases:\n  - {{id: build, agent: dev}}\n  - {gate}\n  - {{id: ship, agent: dev, on_failure: stop}}\n"
        );
        let mut play = Play::of(&text).tell("ship", [Act::Fails("exit 1")]).play();
        assert_eq!(ended(&play), "failed", "{}", play.story());
        let restart = |from: &str, target: &str| Restart {
            from: Some(from.to_owned()),
            inputs: [("target".to_owned(), target.into())].into_iter().collect(),
            ..Restart::default()
        };
        let refused = play.restart(&restart("ship", "production")).unwrap_err();
        assert_eq!(refused, NoWayBack::Unseen { given: "ship".to_owned(), gate: "ok".to_owned() }, "{gate}");
        // What it has already is not another input.
        play.restart(&restart("ship", "test")).unwrap();
        play.cancel();
        play.later(60);
        play.restart(&restart("build", "production")).unwrap();
        play.cancel();
        play.later(60);
        let refused = play.begin_again(Some("ship"), None).unwrap_err();
        assert_eq!(refused, NoWayBack::Unseen { given: "ship".to_owned(), gate: "ok".to_owned() }, "{gate}");
        assert_eq!(play.begin_again(None, None).as_deref(), Ok("build"), "{gate}");
    }
}

#[test]
fn gate_that_was_left_out_the_first_time_is_not_jumped_over_on_the_second_way() {
    let text = "name: w
agents: {dev: {command: [./dev], retry: {max_retries: 0}}}
phases:
  - {id: design, agent: dev}
  - {id: scan, agent: dev, on_failure: stop}
  - {id: sign-off, when: \"'high' in phases.design.summary\", gate: {items: [the design]}}
  - {id: ship, agent: dev, on_failure: stop}";
    let play = Play::of(text).tell("design", [complete("a low risk"), complete("a high risk")]);
    let mut play =
        play.tell("scan", [complete("clean"), Act::Fails("exit 1")]).tell("ship", [Act::Fails("exit 1")]).play();
    assert_eq!(ended(&play), "failed", "{}", play.story());
    play.begin_again(Some("design"), None).unwrap();
    let mut play = play.play();
    assert_eq!((ended(&play).as_str(), play.run.visits("scan")), ("failed", 2), "{}", play.story());
    let refused = play.begin_again(Some("ship"), None).unwrap_err();
    assert_eq!(refused, NoWayBack::Guarded { given: "ship".to_owned(), gate: "sign-off".to_owned() });
    play.begin_again(Some("scan"), None).unwrap();
}

#[test]
fn no_other_way_leads_around_a_gate_that_was_left_out_the_first_time() {
    let agents = "agents: {dev: {command: [./dev], retry: {max_retries: 0}}}";
    // Inside of the group that the run stands in, behind a phase that is not on the usual way, and off that way itself.
    let group = format!(
        "name: w\n{agents}\nphases:\n  - {{id: g, foreach: '[1]', phases: [{{id: build, agent: dev, on_failure: stop}}, \
         {{id: sign, when: 'false', gate: {{items: [it]}}}}], on_failure: stop}}\n  - {{id: ship, agent: dev, on_failure: stop}}\n"
    );
    let branch = format!(
        "name: w\n{agents}\nphases:\n  - {{id: build, agent: dev, next: sign, on_failure: stop}}\n  - {{id: hot, agent: dev, next: ship, on_failure: stop}}\n  \
         - {{id: sign, when: 'false', gate: {{items: [it]}}}}\n  - {{id: ship, agent: dev, on_failure: hot}}\n"
    );
    let fails = || Act::Fails("exit 1");
    let play = Play::of(&group).tell("g/item-1/build", [complete("built"), fails()]).tell("ship", [fails()]);
    let mut play = play.play();
    assert_eq!(ended(&play), "failed", "{}", play.story());
    play.begin_again(Some("g"), None).unwrap();
    let mut play = play.play();
    let refused = play.begin_again(Some("ship"), None).unwrap_err();
    assert_eq!(refused, NoWayBack::Guarded { given: "ship".to_owned(), gate: "g".to_owned() }, "{}", play.story());
    let play =
        Play::of(&branch).tell("build", [complete("built"), fails()]).tell("ship", [fails()]).tell("hot", [fails()]);
    let mut play = play.play();
    assert_eq!(ended(&play), "failed", "{}", play.story());
    play.begin_again(Some("build"), None).unwrap();
    let mut play = play.play();
    let refused = play.begin_again(Some("hot"), None).unwrap_err();
    assert_eq!(refused, NoWayBack::Guarded { given: "hot".to_owned(), gate: "sign".to_owned() }, "{}", play.story());
    // Back to the beginning is always a way.
    play.begin_again(Some("build"), None).unwrap();
}

#[test]
fn gate_of_the_next_round_is_no_guard_of_what_came_before_it_in_this_one() {
    let text = "name: w
agents: {dev: {command: [./dev], retry: {max_retries: 0}}}
phases:
  - {id: build, agent: dev}
  - {id: sign, gate: {items: [it]}}
  - {id: ship, agent: dev}
  - {id: verify, agent: dev, on_failure: stop, next: END}
";
    let approved = || Act::Decides(Decision::Approve, None);
    let sent_back = text.replace(", on_failure: stop, next: END", ", review: blocking, on_failure: build");
    let play = Play::of(&sent_back).tell("sign?", [approved()]);
    let mut play = play.play();
    assert_eq!(play.begin_again(Some("ship"), None).as_deref(), Ok("ship"), "{}", play.story());
    let circle = text.replace("{id: ship, agent: dev}", "{id: ship, agent: dev, next: build, on_failure: stop}");
    let circle = circle.replace(", next: END", "");
    let play = Play::of(&circle).tell("sign?", [approved()]).tell("build", [complete("one"), Act::Fails("exit 1")]);
    let mut play = play.play();
    let refused = play.begin_again(Some("ship"), None).unwrap_err();
    assert_eq!(refused, NoWayBack::Guarded { given: "ship".to_owned(), gate: "sign".to_owned() }, "{}", play.story());
}

#[test]
fn in_a_circle_the_gate_that_the_run_comes_to_first_guards_wherever_it_is_written() {
    let text = "name: w
inputs: {target: {default: test}}
agents: {dev: {command: [./dev], retry: {max_retries: 0}}}
phases:
  - {id: build, agent: dev, next: sign, on_failure: stop}
  - {id: ship, agent: dev, next: build, on_failure: stop}
  - {id: sign, gate: {items: [it]}, next: ship}
";
    let approved = Act::Decides(Decision::Approve, None);
    let mut play = Play::of(text).tell("sign?", [approved]).play();
    let refused = play.begin_again(Some("ship"), None).unwrap_err();
    assert_eq!(refused, NoWayBack::Guarded { given: "ship".to_owned(), gate: "sign".to_owned() }, "{}", play.story());
}

#[test]
fn work_that_a_person_chose_in_a_circle_is_not_led_around_the_gate_behind_it() {
    let text = "name: w
agents: {dev: {command: [./dev], retry: {max_retries: 0}}}
phases:
  - {id: build, agent: dev}
  - {id: ship, agent: dev}
  - {id: decide, gate: {items: [more?], choices: {more: risky, done: end}}}
  - {id: risky, agent: dev}
  - {id: sign, gate: {items: [it]}, next: ship}
";
    let mut play = Play::of(text).play();
    // Nothing was done since that nobody has seen.
    assert_eq!(play.begin_again(Some("ship"), None).as_deref(), Ok("ship"), "{}", play.story());
    let more = Act::Decides(Decision::Answer { answers: "more".to_owned() }, None);
    let mut play = play.play().tell("decide?", [more]).play();
    for from in ["ship", "decide"] {
        let refused = play.begin_again(Some(from), None).unwrap_err();
        assert_eq!(refused, NoWayBack::Guarded { given: from.to_owned(), gate: "sign".to_owned() }, "{}", play.story());
    }
    play.begin_again(Some("build"), None).unwrap();
}

#[test]
fn gate_that_chooses_the_phase_is_not_gone_around() {
    let text = "name: w
agents: {dev: {command: [./dev], retry: {max_retries: 0}}}
phases:
  - {id: plan, agent: dev, next: work}
  - {id: ship, agent: dev, next: work}
  - {id: work, parallel: [{id: build, agent: dev}]}
  - {id: sign, gate: {items: [it], choices: {again: work, go: ship, done: end}}}
";
    let go = Act::Decides(Decision::Answer { answers: "go".to_owned() }, None);
    let mut play = Play::of(text).tell("sign?", [go]).play();
    let refused = play.begin_again(Some("ship"), None).unwrap_err();
    assert_eq!(refused, NoWayBack::Guarded { given: "ship".to_owned(), gate: "sign".to_owned() }, "{}", play.story());
    // Nor does the first phase lead around one if it is part of the circle.
    let circle = "name: w
agents: {dev: {command: [./dev], retry: {max_retries: 0}}}
phases: [{id: ship, agent: dev}, {id: build, agent: dev}, {id: sign, gate: {items: [it]}, next: ship}]";
    let mut play = Play::of(circle).play();
    let refused = play.begin_again(Some("ship"), None).unwrap_err();
    assert_eq!(refused, NoWayBack::Guarded { given: "ship".to_owned(), gate: "sign".to_owned() }, "{}", play.story());
}

#[test]
fn phase_that_the_run_came_to_by_itself_is_done_again_whatever_was_asked_before_it() {
    let text = "name: w
agents: {dev: {command: [./dev], retry: {max_retries: 0}}}
phases:
  - {id: g, foreach: '[1, 2]', phases: [{id: build, agent: dev}, {id: sign, gate: {items: [it]}}]}
  - {id: rev, agent: dev, on_failure: g}
  - {id: ship, agent: dev, on_failure: stop}";
    let play = Play::of(text)
        .tell("g/item-1/sign?", [Act::Decides(Decision::Approve, None), Act::Decides(Decision::Approve, None)]);
    let play =
        play.tell("g/item-2/sign?", [Act::Decides(Decision::Approve, None), Act::Decides(Decision::Approve, None)]);
    let mut play =
        play.tell("rev", [Act::Fails("exit 1"), complete("fine")]).tell("ship", [Act::Fails("exit 1")]).play();
    assert_eq!(ended(&play), "failed", "{}", play.story());
    assert_eq!(play.run.visits("g"), 2, "{}", play.story());
    assert_eq!(play.begin_again(None, None).as_deref(), Ok("ship"), "{}", play.story());
}

#[test]
fn going_on_after_a_failure_is_decided_for_the_inputs_as_they_were() {
    let text = "name: w
inputs: {target: {default: test}}
agents: {dev: {command: [./dev], retry: {max_retries: 0}}}
phases:
  - {id: scan, agent: dev}
  - {id: ship, agent: dev, on_failure: stop}";
    let play = Play::of(text).tell("scan", [Act::Fails("exit 1")]).tell("scan?failure", [answers("continue")]);
    let mut play = play.tell("ship", [Act::Fails("exit 1")]).play();
    assert_eq!(ended(&play), "failed", "{}", play.story());
    let inputs = [("target".to_owned(), "production".into())].into_iter().collect();
    let refused = play.restart(&Restart { from: Some("ship".to_owned()), inputs, note: None }).unwrap_err();
    assert_eq!(refused, NoWayBack::Unseen { given: "ship".to_owned(), gate: "scan".to_owned() });
}

#[test]
fn whoever_has_looked_at_an_earlier_state_does_not_begin_it_again() {
    let play = Play::of(LINE).tell("build", [Act::Fails("exit 3")]).play();
    let root = play.run.root().handoff.clone();
    let requeue = |seen| Requeue { by: "ana".to_owned(), from: Some("build".to_owned()), seen, ..Requeue::default() };
    let mut draft = play.draft();
    let refused = draft.apply(&root.id, Command::Requeue(requeue(Some(root.version - 1)))).unwrap_err();
    assert_eq!(refused, Refusal::NotAsSeen);
    draft.apply(&root.id, Command::Requeue(requeue(Some(root.version)))).unwrap();
}

#[test]
fn whoever_begins_it_again_twice_begins_it_once() {
    let mut play = Play::of(LINE).tell("build", [Act::Fails("exit 3")]).play();
    play.begin_again(None, None).unwrap();
    let written = play.ledger.events.len();
    let mut draft = play.draft();
    let root = play.run.root().handoff.clone();
    draft.apply(&root.id, Command::Release(Release { fence: root.fence, why: "stopped".to_owned() })).unwrap();
    let steps = draft.steps.len();
    flow::begin_again(&mut draft, &Restart::default(), "ben").unwrap();
    assert_eq!((draft.steps.len(), play.ledger.events.len()), (steps, written));
}

#[test]
fn run_that_is_done_or_has_no_such_phase_does_not_begin_again() {
    let mut play = Play::of(LINE).play();
    let refused = play.begin_again(None, None).unwrap_err();
    assert!(matches!(refused, NoWayBack::Refused(_)), "{refused}");
    let mut play = Play::of(LINE).tell("build", [Act::Fails("exit 3")]).play();
    let unknown = play.begin_again(Some("biuld"), None).unwrap_err();
    let phases = ["design", "build", "review"].map(str::to_owned).to_vec();
    assert_eq!(unknown, NoWayBack::Unknown { given: "biuld".to_owned(), phases });
    assert_eq!(ended(&play), "failed", "and nothing has changed");
}

//! Blocked agents: delegation, return, escalation, and the partial work that is not lost.

use baton_engine::door::Door;
use baton_engine::journal::Fact;
use baton_engine::known::Decider;
use baton_engine::lifecycle::{self, Command, Decision, Refusal};
use baton_engine::people::Response;
use serde_json::json;

use crate::play::{Act, Play};
use crate::telling::{answers, asks, assert_story, blocked, complete, delegates, rejects};

const FLOW: &str = "name: f
agents:
  integration-developer: {command: [./d]}
  backend-security: {command: [./s], retry: {max_retries: 0}}
  ops: {command: [./o]}
phases: [{id: build, agent: integration-developer}, {id: ship, agent: ops}]
routes:
  - {agent: backend-security, reason: no_access, to: ops}
  - {agent: ops, reason: no_access, to: human}
  - {agent: ops, reason: lost, to: nobody}
";

#[test]
fn delegation_returns_to_the_blocked_agent_with_the_resolution() {
    let partial = Act::Says(json!({
        "outcome": "blocked", "blocked_reason": "security_concern", "attempted": ["read the guide"],
        "artifacts": ["draft.py"], "next": {"context": "May I store tokens?"},
    }));
    let play = Play::of(FLOW)
        .tell("build", [partial, complete("done")])
        .tell("build>backend-security", [complete("Encrypt them.")])
        .play();
    assert_story(
        &play,
        "build.1 to integration-developer
         build.1 -> backend-security
         build.backend-security.1 to backend-security
         build.1 resumed by backend-security
         build.backend-security.1 -> r.build.1
         build.1 -> ship
         ship.1 to ops
         ship.1 -> end
         completed",
    );
    let asked = play.find("build.backend-security.1").asked().unwrap();
    let told = format!("{:?} {:?}", asked.instructions, asked.context);
    for part in ["security_concern", "May I store tokens?", "read the guide", "draft.py"] {
        assert!(told.contains(part), "{part} is missing: {told}");
    }
    let notes = play.notes("build.1");
    assert!(
        notes[0].starts_with("Resolution by backend-security: ") && notes[0].contains("Encrypt them."),
        "{notes:?}"
    );
}

#[test]
fn delegation_can_be_delegated() {
    let play = Play::of(FLOW)
        .tell("build", [blocked("security_concern")])
        .tell("build>backend-security", [blocked("no_access"), complete("Encrypt them.")])
        .tell("build>ops", [complete("Access granted.")])
        .play();
    assert_story(
        &play,
        "build.1 to integration-developer
         build.1 -> backend-security
         build.backend-security.1 to backend-security
         build.backend-security.1 -> ops
         build.ops.2 to ops
         build.backend-security.1 resumed by ops
         build.ops.2 -> r.build.backend-security.1
         build.1 resumed by backend-security
         build.backend-security.1 -> r.build.1
         build.1 -> ship
         ship.1 to ops
         ship.1 -> end
         completed",
    );
}

#[test]
fn agent_that_was_helped_can_be_blocked_again() {
    let play = Play::of(FLOW).tell("build", [blocked("security_concern"), blocked("security_concern")]).play();
    assert_story(
        &play,
        "build.1 to integration-developer
         build.1 -> backend-security
         build.backend-security.1 to backend-security
         build.1 resumed by backend-security
         build.backend-security.1 -> r.build.1
         build.1 -> backend-security
         build.backend-security.2 to backend-security
         build.1 resumed by backend-security
         build.backend-security.2 -> r.build.1
         build.1 -> ship
         ship.1 to ops
         ship.1 -> end
         completed",
    );
}

#[test]
fn help_that_fails_returns_too() {
    let play = Play::of(FLOW)
        .tell("build", [blocked("security_concern")])
        .tell("build>backend-security", [Act::Fails("no network")])
        .play();
    assert_story(
        &play,
        "build.1 to integration-developer
         build.1 -> backend-security
         build.backend-security.1 to backend-security
         build.backend-security.1 fails
         build.1 resumed by backend-security
         build.backend-security.1 -> r.build.1
         build.1 -> ship
         ship.1 to ops
         ship.1 -> end
         completed",
    );
    assert!(play.notes("build.1")[0].contains("no network"), "{:?}", play.notes("build.1"));
}

#[test]
fn agent_names_its_helper_itself() {
    let flow = FLOW.replace("{id: build, agent: integration-developer}", "{id: build, agent: ops}");
    let play = Play::of(&flow).tell("build", [delegates("Backend_Security")]).play();
    assert_story(
        &play,
        "build.1 to ops
         build.1 -> backend-security
         build.backend-security.1 to backend-security
         build.1 resumed by backend-security
         build.backend-security.1 -> r.build.1
         build.1 -> ship
         ship.1 to ops
         ship.1 -> end
         completed",
    );
}

#[test]
fn helper_who_is_not_in_the_workflow_is_a_question_to_a_person() {
    let play = Play::of(FLOW).tell("build", [delegates("cryptographer")]).play();
    assert_story(
        &play,
        "build.1 to integration-developer
         build.1 -> human
         build.question.1 to human
         build.question.1 waits for a person",
    );
    let why = &play.find("build.1").route.as_ref().unwrap().why;
    assert!(why.contains("cryptographer, who is not in the workflow"), "{why}");
    let flow = FLOW.replace("{id: build, agent: integration-developer}", "{id: build, agent: ops}");
    let play = Play::of(&flow).tell("build", [blocked("lost")]).play();
    assert!(play.story().ends_with("build.question.1 waits for a person"), "{}", play.story());
}

#[test]
fn nobody_helps_themselves() {
    let play = Play::of(FLOW).tell("build", [delegates("integration-developer")]).play();
    assert!(play.story().ends_with("build.question.1 waits for a person"), "{}", play.story());
}

#[test]
fn person_answers_a_blocked_agent() {
    let flow = || Play::of(FLOW).tell("build", [blocked("missing_requirements"), complete("done")]);
    let play = flow().tell("build?question", [answers("Use OAuth.")]).play();
    assert_story(
        &play,
        "build.1 to integration-developer
         build.1 -> human
         build.question.1 to human
         build.question.1 answered: Use OAuth.
         build.1 resumed by ana
         build.question.1 -> r.build.1
         build.1 -> ship
         ship.1 to ops
         ship.1 -> end
         completed",
    );
    assert_eq!(play.notes("build.1"), ["Resolution by ana: Use OAuth."]);
    // To ask back or to say no is an answer as well: the agent goes on with it.
    let told =
        [(asks("Which provider?"), "The person asks: Which provider?"), (rejects("Not now."), "Rejected: Not now.")];
    for (act, told) in told {
        let play = flow().tell("build?question", [act.clone()]).play();
        assert!(play.story().ends_with("ship.1 -> end\ncompleted"), "{act:?}\n{}", play.story());
        assert_eq!(play.notes("build.1"), [format!("Resolution by ana: {told}")]);
    }
}

#[test]
fn a_blocked_agent_is_answered_never_approved() {
    let play = Play::of(FLOW).tell("build", [blocked("missing_requirements")]).play();
    let waiting = play.find("build.question.1").handoff.clone();
    let question = baton_engine::flow::question(&play.run, play.find("build.question.1")).unwrap();
    let said = |decision| Response { decision, note: None, by: Decider::account("ana", None), door: Door::CommandLine };
    let approve = Command::Decide(question.decided(said(Decision::Approve)));
    assert_eq!(lifecycle::apply(&waiting, approve.clone(), play.now), Err(Refusal::Unanswered));
    // A journal from the time when it was possible is still read.
    assert!(lifecycle::replay(Some(waiting), Fact::Happened(approve), play.now).is_ok());
}

#[test]
fn question_and_answer_of_a_blocked_agent_travel_together() {
    let asks = json!({"outcome": "blocked", "blocked_reason": "missing_requirements", "attempted": ["reading"],
        "summary": "The parser is written.", "questions": [{"question": "Which store?", "options": ["SQLite", "PostgreSQL"]}]});
    let flow = || Play::of(FLOW).tell("build", [Act::Says(asks.clone()), complete("done")]);
    let waiting = flow().play();
    let question = baton_engine::flow::question(&waiting.run, waiting.find("build.question.1")).unwrap();
    assert_eq!(question.choices, [("SQLite".to_owned(), String::new()), ("PostgreSQL".to_owned(), String::new())]);
    let play = flow().tell("build?question", [answers("Neither: a file.")]).play();
    let note = play.find("build.1").handoff.notes.last().unwrap().clone();
    assert_eq!(note.question.as_deref(), Some("Which store?"));
    assert_eq!((note.from.as_str(), note.text.as_str()), ("ana", "Neither: a file."));
}

#[test]
fn person_who_is_asked_the_same_again_sees_the_earlier_answer() {
    let blocked = json!({"outcome": "blocked", "blocked_reason": "missing_requirements", "attempted": ["reading"],
        "questions": ["Which\nstore?"]});
    let play = Play::of(FLOW)
        .tell("build", [Act::Says(blocked.clone()), Act::Says(blocked)])
        .tell("build?question", [answers("A file.")])
        .play();
    let question = |name| baton_engine::flow::question(&play.run, play.find(name)).unwrap();
    assert_eq!(question("build.question.2").decided_before, ["ana answered “Which store?”: A file."]);
    let unclear = json!({"outcome": "needs_clarification", "questions": ["Which store?"]});
    let play = Play::of(FLOW)
        .tell("build", [Act::Says(unclear.clone()), Act::Says(unclear)])
        .tell("build?", [answers("A file.")])
        .play();
    let again = baton_engine::flow::question(&play.run, play.find("build.1")).unwrap();
    assert_eq!(again.decided_before, ["ana answered “Which store?”: A file."]);
}

#[test]
fn unknown_reason_goes_to_a_person() {
    let play = Play::of(FLOW).tell("build", [blocked("bad_weather")]).play();
    assert!(play.story().ends_with("build.question.1 waits for a person"), "{}", play.story());
    let question = baton_engine::flow::question(&play.run, play.find("build.question.1")).unwrap();
    assert!(question.title.contains("bad_weather"), "{}", question.title);
    assert!(question.questions[0].text.contains("scope of the token"), "{:?}", question.questions);
}

#[test]
fn row_of_the_workflow_comes_before_the_built_in_table() {
    let flow = FLOW.replace("routes:\n", "routes:\n  - {agent: '*', reason: security_concern, to: ops}\n");
    let play = Play::of(&flow).tell("build", [blocked("security_concern")]).play();
    assert!(play.story().contains("build.1 -> ops\nbuild.ops.1 to ops\nbuild.1 resumed by ops"), "{}", play.story());
}

const BACK_TO_DESIGN: &str = "name: f
agents: {lead: {command: [./l]}, frontend-dev: {command: [./d]}, frontend-ops: {command: [./o]}}
phases: [{id: design, agent: lead}, {id: build, agent: frontend-dev}, {id: ship, agent: frontend-ops}]
limits: {visits_per_phase: 2}
routes:
  - {agent: 'frontend-*', reason: 'design*', phase: design}
";

#[test]
fn blocked_report_can_be_routed_to_a_phase_which_goes_on_in_its_place() {
    let play = Play::of(BACK_TO_DESIGN).tell("build", [blocked("design_gap"), complete("done")]).play();
    assert_story(
        &play,
        "design.1 to lead
         design.1 -> build
         build.1 to frontend-dev
         build.1 cancelled
         build.1 -> design
         design.2 to lead
         design.2 -> build
         build.2 to frontend-dev
         build.2 -> ship
         ship.1 to frontend-ops
         ship.1 -> end
         completed",
    );
    let asked = play.find("design.2").asked().unwrap();
    assert_eq!(asked.from.as_ref().and_then(|from| from.agent.as_deref()), Some("frontend-dev"));
    let context = asked.context.as_ref().unwrap();
    assert_eq!(context.summary.as_deref(), Some("I need the scope of the token."));
    assert_eq!(context.handed_over[0].handoff.as_deref(), Some("r.build.1"));
}

#[test]
fn way_of_a_blocked_report_to_a_phase_is_limited() {
    let play = Play::of(BACK_TO_DESIGN)
        .tell("build", [blocked("design_gap"), blocked("design_gap"), complete("done")])
        .tell("build?limit", [answers("continue")])
        .play();
    let story = play.story();
    assert!(story.contains("build.limit.1 to human") && story.contains("build.2 cancelled"), "{story}");
    assert!(story.contains("design.3 to lead"), "{story}");
}

#[test]
fn phase_that_cannot_be_reached_from_a_blocked_agent_leaves_it_to_a_person() {
    let flow = "name: f
agents: {lead: {command: [./l]}, dev: {command: [./d]}, ops: {command: [./o]}}
phases: [{id: design, agent: lead}, {id: work, parallel: [{id: build, agent: dev}, {id: docs, agent: ops}]}]
routes: [{agent: dev, reason: gap, phase: docs}, {agent: ops, reason: gap, phase: design}]
";
    let play = Play::of(flow).tell("work/build", [blocked("gap")]).play();
    assert!(play.story().contains("work.build.1 -> human"), "{}", play.story());
}

#[test]
fn item_of_a_foreach_goes_on_elsewhere_and_still_passes() {
    let flow = "name: f
agents: {lead: {command: [./l]}, dev: {command: [./d]}}
phases:
  - id: tools
    foreach: '[\"x\"]'
    phases: [{id: design, agent: lead}, {id: build, agent: dev}]
routes: [{agent: dev, reason: gap, phase: design}]
";
    let play = Play::of(flow).tell("tools/x/build", [blocked("gap"), complete("done")]).play();
    let story = play.story();
    assert!(story.contains("build.1 cancelled") && story.contains("design.2 to lead"), "{story}");
    assert!(story.ends_with("completed"), "{story}");
}

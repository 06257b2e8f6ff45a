//! Limits: a person is asked before it goes on, counters persist, and only "revise" resets them.

use std::time::Duration;

use serde_json::json;

use crate::play::{Act, Play};
use crate::telling::{answers, assert_story, blocked, complete, verdict};

const AGENTS: &str = "agents: {dev: {command: [./d], retry: {max_retries: 9, delay: 0s}}, rev: {command: [./r]}}";
const LOOP: &str = "phases: [{id: build, agent: dev}, {id: review, agent: rev}]";

fn flow(limits: &str) -> String {
    format!("name: f\n{AGENTS}\n{LOOP}\nlimits: {{{limits}}}")
}

fn never_content(times: usize) -> Vec<Act> {
    vec![verdict("CHANGES_REQUESTED", "Again."); times]
}

/// How often a person was asked at a limit.
fn gates(play: &Play) -> usize {
    let of = |role| move |tracked: &&baton_engine::run::TrackedHandoff| tracked.step.role == role;
    play.run.handoffs().filter(of(baton_engine::step::Role::Limit)).count()
}

#[test]
fn visits_of_a_phase_are_limited() {
    let play = Play::of(&flow("visits_per_phase: 2, ping_pong: 0")).tell("review", never_content(9)).play();
    assert_story(
        &play,
        "build.1 to dev
         build.1 -> review
         review.1 to rev
         review.1 -> build
         build.2 to dev
         build.2 -> review
         review.2 to rev
         review.2 -> human
         review.limit.1 to human
         review.limit.1 waits for a person",
    );
    let question = baton_engine::flow::question(&play.run, play.find("review.limit.1")).unwrap();
    assert!(question.title.contains("the phase build was visited 2 times; the limit is 2"), "{}", question.title);
    assert!(question.text.contains("review #2 (rev): completed"), "{}", question.text);
    let words: Vec<&str> = question.choices.iter().map(|(word, _)| word.as_str()).collect();
    assert_eq!(words, ["continue", "revise", "stop"]);
}

#[test]
fn every_review_has_rounds_of_its_own() {
    let never_passes = |review: &str, fit: u64| {
        let phases = format!(
            "phases: [{{id: build, agent: dev, visits: 9}}, {{id: fit, agent: rev, visits: {fit}}}, {{id: quality, agent: rev, visits: 4}}]"
        );
        let text = format!("name: f\n{AGENTS}\n{phases}\nlimits: {{ping_pong: 0}}");
        let play = Play::of(&text).tell(review, never_content(9)).play();
        let limit = play.run.handoffs().find(|tracked| tracked.step.role == baton_engine::step::Role::Limit);
        baton_engine::flow::question(&play.run, limit.expect("a person is asked")).unwrap().title
    };
    let title = never_passes("fit", 2);
    assert!(title.contains("the phase fit was visited 2 times; the limit is 2"), "{title}");
    let title = never_passes("quality", 9);
    assert!(title.contains("the phase quality was visited 4 times; the limit is 4"), "{title}");
}

#[test]
fn person_at_a_limit_continues_revises_or_stops() {
    let decided = |words: &[&str]| {
        Play::of(&flow("visits_per_phase: 2, ping_pong: 0"))
            .tell("review", never_content(9))
            .tell("review?limit", words.iter().map(|word| answers(word)))
            .tell("build?limit", words.iter().map(|word| answers(word)))
            .play()
    };
    let stopped = decided(&["stop"]);
    assert!(
        stopped.story().ends_with("review.limit.1 -> stop\nfailed: ana chose stop at the limit"),
        "{}",
        stopped.story()
    );
    // One more round, and then the limit again: nothing was reset.
    let once = decided(&["continue"]);
    assert!(
        once.story().ends_with(
            "review.limit.1 answered: continue\nreview.limit.1 -> build\nbuild.3 to dev\nbuild.3 -> review\n\
             review.3 to rev\nreview.3 -> human\nreview.limit.2 to human\nreview.limit.2 waits for a person"
        ),
        "{}",
        once.story()
    );
    let revised = decided(&["revise"]);
    assert!(
        revised.story().ends_with(
            "review.limit.1 answered: revise\nreview.limit.1 -> build\nbuild.3 to dev\nbuild.3 -> review\n\
             review.3 to rev\nreview.3 -> build\nbuild.4 to dev\nbuild.4 -> review\nreview.4 to rev\n\
             review.4 -> human\nreview.limit.2 to human\nreview.limit.2 waits for a person"
        ),
        "{}",
        revised.story()
    );
}

#[test]
fn one_continue_is_enough_for_a_round_with_everything_inside_it() {
    let phases =
        "phases: [{id: build, agent: dev}, {id: reviews, parallel: [{id: safe, agent: rev}, {id: fast, agent: rev}]}]";
    let text = format!("name: f\n{AGENTS}\n{phases}\nlimits: {{visits_per_phase: 1, ping_pong: 0, handoffs: 0}}");
    let play = Play::of(&text)
        .tell("reviews/safe", never_content(9))
        .tell("reviews?limit", vec![answers("continue"); 2])
        .play();
    assert_eq!(gates(&play), 3, "once per round:\n{}", play.story());
    assert!(play.story().ends_with("reviews.limit.3 waits for a person"), "{}", play.story());
}

#[test]
fn one_continue_is_enough_for_two_agents_to_exchange_work_once_more() {
    let rounds = |words: usize| {
        let play = Play::of(&flow("visits_per_phase: 0, ping_pong: 1"))
            .tell("review", never_content(20))
            .tell("review?limit", vec![answers("continue"); words])
            .tell("build?limit", vec![answers("continue"); words])
            .play();
        (play, words)
    };
    let (first, _) = rounds(0);
    let (before, asked) = (first.run.visits("build") + first.run.visits("review"), gates(&first));
    assert_eq!(asked, 1, "{}", first.story());
    let (once, _) = rounds(1);
    let after = once.run.visits("build") + once.run.visits("review");
    assert!(after >= before + 2, "both have had their turn:\n{}", once.story());
}

#[test]
fn what_a_person_says_about_one_item_does_not_count_for_the_others() {
    let phases = "phases: [{id: each, foreach: inputs.names, at_once: 1, phases: [{id: build, agent: dev}, {id: review, agent: rev}]}]";
    let text = format!(
        "name: f\n{AGENTS}\ninputs: {{names: {{default: [a, b]}}}}\n{phases}\nlimits: {{visits_per_phase: 1, ping_pong: 0}}"
    );
    let refused_once = || [verdict("CHANGES_REQUESTED", "Again."), verdict("APPROVED", "Good.")];
    let play = Play::of(&text)
        .tell("each/a/review", refused_once())
        .tell("each/b/review", refused_once())
        .tell("each/a/review?limit", [answers("continue")])
        .play();
    assert!(play.story().ends_with("each.b.review.limit.1 waits for a person"), "{}", play.story());
    assert_eq!(gates(&play), 2, "{}", play.story());
}

#[test]
fn note_at_a_limit_reaches_the_next_agent() {
    let revise = baton_engine::lifecycle::Decision::Answer { answers: "revise".to_owned() };
    let play = Play::of(&flow("visits_per_phase: 1, ping_pong: 0"))
        .tell("review", never_content(1))
        .tell("review?limit", [Act::Decides(revise, Some("Leave the names alone."))])
        .play();
    let notes = play.notes("build.2");
    assert_eq!(notes[0], "Feedback by rev: verdict: CHANGES_REQUESTED\nAgain.");
    assert_eq!(notes[1], "Feedback by ana: Leave the names alone.");
}

#[test]
fn handoffs_of_a_run_are_limited() {
    let play =
        Play::of(&flow("handoffs: 5, visits_per_phase: 0, ping_pong: 0")).tell("review", never_content(9)).play();
    assert!(
        play.story()
            .ends_with("build.3 to dev\nbuild.3 -> human\nbuild.limit.1 to human\nbuild.limit.1 waits for a person"),
        "{}",
        play.story()
    );
    assert_eq!(play.run.counted.handoffs, 5);
}

#[test]
fn two_agents_cannot_hand_work_to_each_other_for_ever() {
    let play = Play::of(&flow("visits_per_phase: 0, ping_pong: 2")).tell("review", never_content(9)).play();
    assert!(play.story().ends_with("waits for a person"), "{}", play.story());
    assert_eq!(gates(&play), 1);
    let reached = play.run.waiting().next().unwrap();
    let question = baton_engine::flow::question(&play.run, reached).unwrap();
    assert!(question.title.contains("two agents handed work to each other"), "{}", question.title);
}

#[test]
fn help_back_and_forth_is_limited_too() {
    let text = flow("visits_per_phase: 0, ping_pong: 2") + "\nroutes: [{agent: dev, reason: lost, to: rev}]";
    let play = Play::of(&text).tell("build", vec![blocked("lost"); 30]).play();
    assert!(play.story().ends_with("build.limit.1 waits for a person"), "{}", play.story());
    let stopped =
        Play::of(&text).tell("build", vec![blocked("lost"); 30]).tell("build?limit", [answers("stop")]).play();
    assert!(stopped.story().contains("\nfailed: "), "{}", stopped.story());
    let revised =
        Play::of(&text).tell("build", vec![blocked("lost"); 3]).tell("build?limit", [answers("revise")]).play();
    assert!(revised.story().ends_with("completed"), "{}", revised.story());
}

#[test]
fn same_failure_again_and_again_is_not_tried_again() {
    let play = Play::of(&flow("same_failure: 3")).tell("build", vec![Act::Fails("exit 3"); 9]).play();
    assert_eq!(play.find("build.1").attempts, 3);
    assert!(play.story().ends_with("build.failure.1 waits for a person"), "{}", play.story());
    let lies = Play::of(&flow("same_failure: 2")).tell("build", vec![Act::Lies("a.txt is not there"); 9]).play();
    assert_eq!(lies.find("build.1").attempts, 2);
    let others = vec![Act::Fails("exit 1"), Act::Fails("exit 2"), Act::Fails("exit 3"), Act::Fails("exit 1")];
    let others = Play::of(&flow("same_failure: 3")).tell("build", others).play();
    assert!(others.story().ends_with("completed"), "{}", others.story());
}

#[test]
fn time_of_a_run_is_limited() {
    let slow = [Act::Takes(Duration::from_secs(3600)), complete("late")];
    let play = Play::of(&flow("wall_clock: 1h")).tell("build", slow.clone()).play();
    assert!(
        play.story().ends_with("build.1 -> human\nbuild.limit.1 to human\nbuild.limit.1 waits for a person"),
        "{}",
        play.story()
    );
    let play =
        Play::of(&flow("wall_clock: 1h")).tell("build", slow.clone()).tell("build?limit", [answers("revise")]).play();
    assert!(play.story().ends_with("review.1 -> end\ncompleted"), "{}", play.story());
    let play = Play::of(&flow("wall_clock: 2h")).tell("build", slow).play();
    assert_eq!(gates(&play), 0);
}

#[test]
fn tokens_of_a_run_are_limited() {
    let used = |tokens: u64| Act::Says(json!({"outcome": "complete", "tokens_used": tokens}));
    let play = Play::of(&flow("tokens: 1000")).tell("build", [used(990)]).play();
    assert!(play.story().ends_with("build.limit.1 waits for a person"), "{}", play.story());
    assert_eq!(play.run.counted.used.tokens, 1000);
    let play = Play::of(&flow("tokens: 1000")).tell("build", [used(989)]).play();
    assert_eq!(gates(&play), 0);
}

#[test]
fn zero_is_without_limit() {
    let text = flow("visits_per_phase: 0, ping_pong: 0, handoffs: 0, tokens: 0, wall_clock: 0s");
    let play = Play::of(&text).tell("review", never_content(60)).play();
    assert_eq!(play.run.visits("build"), 61);
    assert!(play.story().ends_with("completed"));
}

#[test]
fn limits_hold_although_none_are_given() {
    let play = Play::of(&format!("name: f\n{AGENTS}\n{LOOP}")).tell("review", never_content(60)).play();
    assert!(play.story().ends_with("waits for a person"), "{}", play.story());
}

#[test]
fn counters_survive_a_process_that_was_killed() {
    let begin = || Play::of(&flow("visits_per_phase: 2, ping_pong: 0")).tell("review", never_content(9));
    let mut killed = begin();
    while killed.advance() {
        killed.forget();
    }
    assert_eq!(killed.story(), begin().play().story());
    assert_eq!(killed.run.counted.visits("build"), 2);
}

#[test]
fn members_of_a_group_count() {
    let text = format!(
        "name: f\n{AGENTS}\ninputs: {{names: {{default: [a, b, c, d, e, f]}}}}\n\
         phases: [{{id: each, foreach: inputs.names, at_once: 2, phases: [{{id: build, agent: dev}}]}}]\nlimits: {{handoffs: 4}}"
    );
    let play = Play::of(&text).play();
    assert!(play.story().ends_with("each.limit.1 waits for a person"), "{}", play.story());
    let play = Play::of(&text).tell("each?limit", [answers("stop")]).play();
    assert!(play.story().contains("\nfailed: ana chose stop at the limit"), "{}", play.story());
    let play = Play::of(&text).tell("each?limit", [answers("revise")]).play();
    assert!(play.story().ends_with("completed"), "{}", play.story());
    assert_eq!(gates(&play), 1);
    let play = Play::of(&text).tell("each?limit", vec![answers("continue"); 9]).play();
    assert!(play.story().ends_with("completed"), "{}", play.story());
    assert!(gates(&play) > 1, "once more is not for ever:\n{}", play.story());
}

#[test]
fn continue_at_a_limit_lets_one_more_item_begin() {
    let names: Vec<String> = (0..20).map(|number| format!("n{number}")).collect();
    let text = format!(
        "name: f\n{AGENTS}\ninputs: {{names: {{default: {names:?}}}}}\n\
         phases: [{{id: each, foreach: inputs.names, at_once: 0, phases: [{{id: build, agent: dev}}]}}]\nlimits: {{handoffs: 5}}"
    );
    let begun = |words: usize| {
        let play = Play::of(&text).tell("each?limit", vec![answers("continue"); words]).play();
        assert!(play.story().ends_with(&format!("each.limit.{} waits for a person", words + 1)), "{}", play.story());
        play.run.handoffs().filter(|tracked| tracked.step.phase.starts_with("each/")).count()
    };
    assert_eq!((begun(0), begun(1), begun(2), begun(3)), (4, 5, 6, 7));
}

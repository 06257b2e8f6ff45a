//! What the four programs really printed, case by case: answers, skills, spending, refusals and failures.

use baton_engine::agent::{Activity, AfterFailure, EndedTurn, TurnEnd, Update};
use baton_engine::failure::Transience;
use baton_engine::session::Spent;
use baton_protocol::workflow::Profile;
use jiff::tz::TimeZone;

use crate::bench::{answered, failed};
use crate::profiles::Fake;

const ALL: [Profile; 4] = [Profile::Claude, Profile::Codex, Profile::Gemini, Profile::Opencode];

fn turn(profile: Profile, case: &str) -> EndedTurn {
    Fake::recorded(profile, case).attempt()
}

/// Names in a word what follows a recorded failure.
fn follows(profile: Profile, case: &str) -> (String, String) {
    let fake = Fake::recorded(profile, case);
    let fake = if case == "session-lost" { fake.goes_on("lost") } else { fake };
    let (failure, after) = match fake.attempt().end {
        TurnEnd::Failed(failure, after) => (failure, after),
        TurnEnd::Answered(reply) => panic!("{profile:?} {case}: {reply:?}"),
    };
    let word = match (after, failure.chance) {
        (AfterFailure::Wait { .. }, _) => "wait",
        (AfterFailure::FreshSession, _) => "fresh",
        (AfterFailure::Policy | AfterFailure::Pause { .. }, Transience::Transient) => "again",
        (AfterFailure::Policy | AfterFailure::Pause { .. }, Transience::Permanent) => "stop",
    };
    (word.to_owned(), failure.to_string())
}

#[test]
fn each_recorded_failure_is_tried_again_or_not() {
    let table = [
        ("unauthorized", ["stop", "stop", "stop", "stop"]),
        ("forbidden", ["stop", "stop", "stop", "stop"]),
        ("rate-limited", ["again", "again", "again", "again"]),
        ("overloaded", ["again", "again", "again", "again"]),
        ("server-error", ["again", "again", "again", "again"]),
        ("out-of-credit", ["stop", "stop", "stop", "stop"]),
        ("model-not-found", ["stop", "stop", "stop", "stop"]),
        ("context-too-long", ["stop", "stop", "stop", "-"]),
        ("limit-with-reset", ["again", "wait", "stop", "-"]),
        ("missing-key", ["stop", "stop", "stop", "-"]),
        ("stream-cut", ["-", "again", "again", "-"]),
        ("unknown-flag", ["stop", "stop", "stop", "stop"]),
        ("untrusted", ["-", "stop", "stop", "-"]),
        ("session-lost", ["fresh", "fresh", "fresh", "fresh"]),
        ("subscription-limit", ["wait", "-", "-", "-"]),
        ("first-start", ["-", "-", "-", "again"]),
    ];
    let mut told = String::new();
    for (case, expected) in table {
        for (profile, expected) in ALL.into_iter().zip(expected).filter(|(_, expected)| *expected != "-") {
            let (word, message) = follows(profile, case);
            assert_eq!(word, expected, "{profile:?} {case}: {message}");
            told.push_str(&format!("{} {case}: {word}: {message}\n", profile.as_str()));
        }
    }
    insta::assert_snapshot!(told);
}

#[test]
fn context_that_is_too_long_begins_a_fresh_session_if_it_was_an_old_one() {
    for profile in [Profile::Claude, Profile::Codex, Profile::Gemini] {
        let ended = Fake::recorded(profile, "context-too-long").goes_on("old").attempt();
        assert!(matches!(ended.end, TurnEnd::Failed(_, AfterFailure::FreshSession)), "{profile:?}: {ended:?}");
    }
}

#[test]
fn limit_is_waited_for_until_it_ends() {
    let until = |profile, case| match turn(profile, case).end {
        TurnEnd::Failed(_, AfterFailure::Wait { until }) => until,
        other => panic!("{other:?}"),
    };
    assert_eq!(until(Profile::Claude, "subscription-limit").as_second(), 1_794_846_718);
    let local = until(Profile::Codex, "limit-with-reset").to_zoned(TimeZone::system());
    assert_eq!((local.hour(), local.minute()), (16, 26), "it tells the time of this machine");
}

#[test]
fn good_turns_answer_and_tell_what_they_spent() {
    let priced = Some(10_080);
    let spent =
        [(Profile::Claude, priced), (Profile::Codex, None), (Profile::Gemini, None), (Profile::Opencode, Some(7_620))];
    for (profile, cost_micros) in spent {
        let ended = turn(profile, "good");
        assert_eq!(ended.spent, Some(Spent { input: 2000, cached: 400, output: 100, cost_micros }), "{profile:?}");
        assert_eq!(ended.skills, Some(Vec::new()), "{profile:?}");
        let text = answered(ended).text;
        assert!(text.starts_with("The design is in DESIGN.md.") && text.contains("\"architect\""), "{text}");
    }
}

#[test]
fn resumed_turn_spent_only_what_it_added() {
    let before = Spent { input: 2000, cached: 400, output: 100, cost_micros: None };
    for (profile, cost_micros) in [
        (Profile::Claude, Some(5_040)),
        (Profile::Codex, None),
        (Profile::Gemini, None),
        (Profile::Opencode, Some(3_810)),
    ] {
        let mut fake = Fake::recorded(profile, "resumed-2").goes_on("session");
        fake.spent_before = before;
        let spent = fake.attempt().spent;
        assert_eq!(spent, Some(Spent { input: 1000, cached: 200, output: 50, cost_micros }), "{profile:?}");
    }
}

#[test]
fn killed_turn_counts_what_it_spent_as_far_as_its_program_told() {
    let spent = [Profile::Claude, Profile::Opencode].map(|profile| {
        let ended = turn(profile, "killed");
        let spent = ended.spent.map(|spent| spent.input);
        failed(ended);
        spent
    });
    assert_eq!(spent, [Some(2000), Some(1000)]);
}

#[test]
fn skill_counts_if_its_call_succeeded() {
    for profile in ALL {
        let seen = turn(profile, "skill").skills.unwrap_or_default();
        assert!(seen.len() == 1 && seen[0].contains("designing"), "{profile:?}: {seen:?}");
        assert_eq!(turn(profile, "skill-unknown").skills, Some(Vec::new()), "{profile:?}: a failed call is no use");
    }
}

#[test]
fn report_before_a_subagent_ends_is_found_and_its_skill_and_tokens_count() {
    let ended = turn(Profile::Claude, "subagent");
    assert_eq!(ended.skills, Some(vec!["designing".to_owned()]));
    assert_eq!(ended.spent, Some(Spent { input: 6000, cached: 1200, output: 300, cost_micros: Some(30_240) }));
    assert!(answered(ended).text.starts_with("The design is in DESIGN.md."));
}

#[test]
fn skills_of_subagents_that_nobody_sees_are_not_denied() {
    for profile in [Profile::Codex, Profile::Opencode] {
        assert_eq!(turn(profile, "subagent").skills, None, "{profile:?}");
    }
}

#[test]
fn refused_permission_is_named_with_what_would_allow_it_and_not_tried_again() {
    let refused = [
        (Profile::Claude, "permission-refused"),
        (Profile::Claude, "permission-asked"),
        (Profile::Gemini, "permission-refused"),
        (Profile::Opencode, "permission-refused"),
        (Profile::Opencode, "permission-asked"),
    ];
    let mut told = String::new();
    for (profile, case) in refused {
        let (ended, updates) = Fake::recorded(profile, case).heard();
        let refusals = updates.iter().filter(|update| matches!(update, Update::Activity(Activity::Refused { .. })));
        assert_eq!(refusals.count(), 1, "{profile:?} {case}: {updates:?}");
        let failure = failed(ended);
        assert_eq!(failure.chance, Transience::Permanent, "{profile:?} {case}");
        told.push_str(&format!("{failure}\n"));
    }
    insta::assert_snapshot!(told, @"
    DEPENDENCY_MISSING: claude gave no report; it was not allowed to use `Write DESIGN.md`
    help: allow it with `arguments: [--permission-mode, acceptEdits]`
    DEPENDENCY_MISSING: claude gave no report; it was not allowed to use `Write DESIGN.md`
    help: allow it with `arguments: [--permission-mode, acceptEdits]`
    DEPENDENCY_MISSING: gemini gave no report; it was not allowed to use `write_file DESIGN.md`
    help: allow it with `arguments: [--approval-mode, auto_edit]`
    DEPENDENCY_MISSING: opencode gave no report; it was not allowed to use `write DESIGN.md`
    help: a rule of opencode forbids it: change `--agent`, or `permission` in its configuration
    DEPENDENCY_MISSING: opencode gave no report; it was not allowed to use `write DESIGN.md`
    help: allow it with `arguments: [--auto]`
    ");
}

#[test]
fn failed_command_is_no_reason_to_fail() {
    for profile in ALL {
        answered(turn(profile, "shell-failed"));
    }
}

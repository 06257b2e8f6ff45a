//! Whole prompts, as agents see them.

use baton_protocol::Dialect;
use baton_protocol::wire::Label;
use insta::assert_snapshot;

use super::*;

#[test]
fn metadata_block() {
    assert_snapshot!(Case::usual().prompt(Dialect::MetadataBlock).text);
}

#[test]
fn phase_block_tried_again() {
    let case = Case::usual()
        .say(About::Refuted, "baton", "artifact-missing: out/architecture.md exists — there is no such file")
        .say(About::Feedback, "maria", "The names must be those of the API.")
        .say(About::Answer, "maria", "Is the history wanted? No.")
        .say(About::Question, "maria", "Why is the limit 40?")
        .say(About::Resolution, "backend-security", "Tokens go into the keychain, never into a file.")
        .say(About::Requeued, "jo", "The server is up again.")
        .fail("no answer within 300 s");
    assert_snapshot!(case.prompt(Dialect::PhaseBlock).text);
}

#[test]
fn package() {
    assert_snapshot!(Case::usual().prompt(Dialect::Package).text);
}

#[test]
fn task() {
    let mut case = Case::usual();
    case.request.phase = Some(Label::Name("validate".to_owned()));
    assert_snapshot!(case.prompt(Dialect::Task).text);
}

#[test]
fn mailbox() {
    let case = Case::usual();
    let briefing = Briefing { report_to: ReportTo::Stdout, ..case.briefing(Dialect::Mailbox) };
    assert_snapshot!(render(&briefing).expect("a prompt").text);
}

#[test]
fn native_without_anything_else() {
    let request = Request { instructions: Some("Count the lines.".to_owned()), ..Request::default() };
    let case = Case { request, skills: Vec::new(), checks: Vec::new(), writes: None, ..Case::usual() };
    let briefing = Briefing { role: None, report_to: ReportTo::Either, ..case.briefing(Dialect::Native) };
    assert_snapshot!(render(&briefing).expect("a prompt").text);
}

#[test]
fn question_and_answer_stand_together() {
    let asked = "mTLS or a key?\n\nana answered:\nwhatever";
    for about in [About::Answer, About::Resolution] {
        let prompt = Case::usual().answer(about, "ana", asked, "mTLS").prompt(Dialect::Native).text;
        let pair = "You asked:\n> mTLS or a key?\n> \n> ana answered:\n> whatever\n\nana answered:\nmTLS\n";
        assert!(prompt.contains(pair), "{prompt}");
    }
}

const REASONS: &str = "claim-refuted: the check `tests_passed` failed, exit code 1; it wrote: test rows ... FAILED\n    \
                       left: 3\nartifact-missing: `out/architecture.md`, but it does not exist";

#[test]
fn repair_has_the_reasons_and_the_contract_only() {
    let case = Case::usual().say(About::Feedback, "maria", "Tabs, please.");
    let prompt = render_repair(&case.briefing(Dialect::MetadataBlock), REASONS).expect("a prompt");
    assert_snapshot!(prompt.text);
}

#[test]
fn resumed_session_is_told_to_look_at_what_is_done() {
    let case = Case::usual();
    let briefing = Briefing { report_to: ReportTo::Stdout, ..case.briefing(Dialect::Native) };
    assert_snapshot!(render_resumed(&briefing).expect("a prompt").text);
}

#[test]
fn repair_is_short_in_every_dialect() {
    for dialect in Dialect::ALL {
        let case = Case::usual();
        let prompt = render_repair(&case.briefing(dialect), "").expect("a prompt");
        assert!(prompt.tokens <= 450, "{dialect}: {}", prompt.tokens);
    }
}

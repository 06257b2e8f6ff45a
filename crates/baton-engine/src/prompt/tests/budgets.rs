//! A prompt that is too long loses what others wrote, the oldest and longest first, and never the task.

use baton_protocol::{Dialect, tokens};
use insta::assert_snapshot;
use proptest::prelude::*;

use super::*;
use crate::prompt::PromptFault;

fn long(word: &str, times: usize) -> String {
    vec![word; times].join(" ")
}

fn limited(case: &Case, budget_tokens: u64) -> Result<Prompt, PromptFault> {
    render(&Briefing { budget_tokens: Some(budget_tokens), ..case.briefing(Dialect::PhaseBlock) })
}

fn noted() -> Case {
    Case::usual()
        .say(About::Feedback, "maria", &long("oldest", 200))
        .say(About::Answer, "maria", &long("middle", 200))
        .say(About::Requeued, "maria", &long("newest", 200))
}

#[test]
fn what_fits_is_not_touched() {
    let whole = noted().prompt(Dialect::PhaseBlock);
    assert_eq!(whole.tokens, tokens::count(&whole.text));
    assert_eq!(limited(&noted(), whole.tokens as u64), Ok(whole));
}

#[test]
fn the_oldest_notes_go_first() {
    let case = noted();
    let whole = case.prompt(Dialect::PhaseBlock).tokens as u64;
    let once = limited(&case, whole - 1).expect("it fits");
    assert_eq!(
        once.shortened,
        ["left out: feedback, from maria (in .baton/runs/run-7/get-issue.implementation/1/notes.json)"]
    );
    assert!(!once.text.contains("oldest") && once.text.contains("middle") && once.text.contains("newest"));
    assert!(once.text.contains("Older notes that were left out: 1."));
    let twice = limited(&case, whole - 300).expect("it fits");
    assert_eq!(twice.shortened.len(), 2);
    assert!(!twice.text.contains("middle") && twice.text.contains("newest"));
}

#[test]
fn then_what_is_long_is_cut_with_a_mark() {
    let case = noted().summary(&long("summary", 2_000));
    let whole = case.prompt(Dialect::PhaseBlock).tokens as u64;
    let cut = limited(&case, whole - 1_500).expect("it fits");
    assert_snapshot!(cut.shortened.join("\n"), @"
    left out: feedback, from maria (in .baton/runs/run-7/get-issue.implementation/1/notes.json)
    left out: answers, from maria (in .baton/runs/run-7/get-issue.implementation/1/notes.json)
    cut: summary, from tool-lead (in .baton/runs/run-7/get-issue.implementation/1/request.json)
    ");
    assert!(cut.text.contains(&long("newest", 200)), "what was said last is still whole");
    assert!(cut.text.contains("nobody reads the rest"), "what is short is still whole");
    assert!(cut.text.contains("[cut by Baton to fit the budget: "));
    // Nearly all of the budget is used.
    assert!(cut.tokens as u64 <= whole - 1_500 && cut.tokens as u64 > whole - 1_600, "{}", cut.tokens);
}

#[test]
fn what_was_said_last_is_cut_last() {
    let case = Case::usual().say(About::Refuted, "baton", &long("refuted", 3_000)).fail(&long("failed", 3_000));
    let cut = limited(&case, 2_500).expect("it fits");
    assert_snapshot!(cut.shortened.join("\n"), @"
    cut: summary, from tool-lead (in .baton/runs/run-7/get-issue.implementation/1/request.json)
    cut: decisions, from tool-lead (in .baton/runs/run-7/get-issue.implementation/1/request.json)
    cut: input data, from earlier phases and the start of the run (in .baton/runs/run-7/get-issue.implementation/1/request.json)
    cut: quoted by Baton (in .baton/runs/run-7/get-issue.implementation/1/notes.json)
    cut: message of the failure TIMEOUT (in .baton/runs/run-7/get-issue.implementation/1/notes.json)
    ");
}

#[test]
fn too_much_is_a_fault_that_says_by_how_much() {
    let mut case = noted();
    case.request.instructions = Some(long("task", 3_000));
    let fault = limited(&case, 1_000).expect_err("the task stays");
    let PromptFault::OverBudget { tokens, budget } = fault else { panic!("{fault}") };
    assert_eq!(budget, 1_000);
    assert!(tokens > 4_000);
    assert_eq!(
        fault_text(&case, 1_000),
        format!(
            "the prompt has {tokens} tokens with everything cut that may be, {} more than the 1000 that it may have",
            tokens - 1_000
        )
    );
}

fn fault_text(case: &Case, budget: u64) -> String {
    limited(case, budget).expect_err("too much").to_string()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]
    #[test]
    fn a_prompt_keeps_its_budget_and_its_task(
        texts in proptest::collection::vec("[a-z0-9{}\n ]{1,40}|\\PC{1,40}", 1..6),
        times in 1usize..60,
        budget in 1_000u64..4_000,
    ) {
        let mut case = Case::usual();
        for text in &texts {
            case = case.say(About::Feedback, "maria", &text.repeat(times));
        }
        let case = case.summary(&texts[0].repeat(times)).fail(&texts[texts.len() - 1].repeat(times));
        match limited(&case, budget) {
            Ok(prompt) => {
                prop_assert!(prompt.tokens as u64 <= budget);
                prop_assert_eq!(prompt.tokens, tokens::count(&prompt.text));
                let whole = case.prompt(Dialect::PhaseBlock);
                prop_assert_eq!(prompt.shortened.is_empty(), whole.text == prompt.text);
                for kept in ["Implement the wrapper for get-issue", "- developing-with-tdd", "\"skills_invoked\""] {
                    prop_assert!(prompt.text.contains(kept));
                }
            }
            Err(PromptFault::OverBudget { tokens, .. }) => prop_assert!(tokens as u64 > budget && tokens < 2_500),
            Err(fault) => prop_assert!(false, "{fault}"),
        }
    }
}

//! Pages whose outline is remembered, beside the same pages rendered from their template.

use baton_protocol::tokens;
use baton_protocol::workflow::Profile;
use proptest::prelude::*;

use super::*;
use crate::Fence;
use crate::id::HandoffId;

/// Texts of other prompts must not come back, and what is empty decides what is left out.
fn texts() -> impl Strategy<Value = Option<String>> {
    let said = prop_oneof![Just(String::new()), "[a-zA-Z0-9 .,`<>{}%/\n]{1,60}", Just("\u{1}3\u{2}".to_owned())];
    prop::option::of(said)
}

proptest! {
    #[test]
    fn built_in_page_is_what_its_template_renders(
        text in prop::collection::vec(texts(), 8),
        number in 0_usize..6,
        (has_writes, is_asked, fetches, count) in (any::<bool>(), any::<bool>(), any::<bool>(), 0_usize..3),
    ) {
        let mut case = Case { handovers: Vec::new(), ..Case::usual() };
        let words = |at: usize| text[at].clone().unwrap_or_default();
        case.request.instructions.clone_from(&text[0]);
        let expected = case.request.expectations.get_or_insert_default();
        (expected.deliverable, expected.schema) = (text[1].clone(), text[2].clone());
        expected.constraints = vec![words(3); count];
        if is_asked {
            case = case.summary(&words(4)).say(About::Feedback, "maria", &words(5)).fail(&words(6));
            case.handovers.push(Handover { label: words(3), from: None, text: words(7), file: None });
        }
        case.writes = has_writes.then(|| vec!["src/**".to_owned(); count]);
        let id = HandoffId::parse("run-7.review.1").expect("a safe id");
        let queue = ReportTo::Queue { handoff: &id, fence: Fence(2), lease_seconds: fetches.then_some(60) };
        let places = [ReportTo::Folder, ReportTo::Answer, ReportTo::File, ReportTo::Stdout, ReportTo::Either, queue];
        for dialect in Dialect::ALL {
            let built_in = Briefing {
                role: text[7].as_deref(),
                report_to: places[number],
                profile: is_asked.then_some(Profile::Claude),
                fetches_files: fetches,
                acknowledge: fetches,
                ..case.briefing(dialect)
            };
            let same = Briefing { template: Some("{% include 'prompt' %}"), ..built_in };
            let (page, rendered) = (render(&built_in), render(&same));
            prop_assert_eq!(&page, &rendered);
            let page = page.expect("a prompt");
            prop_assert_eq!(page.tokens, tokens::count(&page.text));
        }
    }
}

//! One prompt before it is printed: the template, what is in it as it is, and what is fenced.

use std::sync::LazyLock;

use baton_protocol::Dialect;
use baton_protocol::model::request::Expectations;
use baton_protocol::tokens;
use minijinja::Environment;
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;

use super::example::{self, Example};
use super::fence::{self, PromptFence};
use super::material::{self, Material, Piece, Refused};
use super::outline::{self, Printed};
use super::view::{Blank, CheckView, ClaimView, Members, NoteView, Steps, View, blanks};
use super::words::{self, is_block};
use super::{Briefing, PromptFault, ReportTo};
use crate::expression::{self, ExpressionFault};

/// The name of the workflow's own template in messages.
const OWN: &str = "template";

/// The built-in blocks; a template of the workflow may include each of them.
pub(super) const BLOCKS: &[(&str, &str)] = &[
    ("prompt", include_str!("templates/prompt.md.jinja")),
    ("task", include_str!("templates/task.md.jinja")),
    ("notice", include_str!("templates/notice.md.jinja")),
    ("before", include_str!("templates/before.md.jinja")),
    ("context", include_str!("templates/context.md.jinja")),
    ("skills", include_str!("templates/skills.md.jinja")),
    ("place", include_str!("templates/place.md.jinja")),
    ("verification", include_str!("templates/verification.md.jinja")),
    ("acknowledgment", include_str!("templates/acknowledgment.md.jinja")),
    ("contract", include_str!("templates/contract.md.jinja")),
    ("report", include_str!("templates/report.md.jinja")),
    ("contract-metadata-block", include_str!("templates/contract-metadata-block.md.jinja")),
    ("contract-phase-block", include_str!("templates/contract-phase-block.md.jinja")),
    ("contract-package", include_str!("templates/contract-package.md.jinja")),
    ("contract-task", include_str!("templates/contract-task.md.jinja")),
    ("contract-mailbox", include_str!("templates/contract-mailbox.md.jinja")),
    ("reasons", include_str!("templates/reasons.md.jinja")),
    ("contract-short", include_str!("templates/contract-short.md.jinja")),
    ("repair", include_str!("templates/repair.md.jinja")),
    ("resumed", include_str!("templates/resumed.md.jinja")),
    ("contract-native", include_str!("templates/contract-native.md.jinja")),
];

static ENVIRONMENT: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut environment = expression::environment();
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).keep_trailing_newline(true).build();
    environment.set_syntax(syntax.expect("the usual marks of a template"));
    for (name, text) in BLOCKS {
        environment.add_template(name, text).expect("the built-in templates can be read");
    }
    environment
});

/// What is left out of a page to make it shorter.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Cuts {
    /// How many of the oldest notes.
    pub(super) notes_dropped: usize,
    /// How many tokens each piece of the context keeps.
    pub(super) context_tokens: Option<usize>,
    /// How many tokens each note and the last failure keep.
    pub(super) said_tokens: Option<usize>,
}

/// One prompt before it is printed.
pub(super) struct Page<'a> {
    briefing: &'a Briefing<'a>,
    /// The built-in template, where the workflow's own does not count.
    template: Option<&'static str>,
    fence: PromptFence<'a>,
    material: Material,
    example: Example,
    handoff: Option<String>,
    from: Option<String>,
}

impl<'a> Page<'a> {
    pub(super) fn of(briefing: &'a Briefing<'a>) -> Result<Self, PromptFault> {
        let fence = PromptFence::new(briefing.delimiter)?;
        let sender = briefing.request.from.as_ref().and_then(|from| from.agent.as_deref());
        Ok(Page {
            briefing,
            template: None,
            fence,
            material: Material::of(briefing, fence),
            example: example::of(briefing),
            handoff: briefing.handoff.map(|id| fence.origin(id)),
            from: sender.map(|agent| fence.origin(agent)),
        })
    }

    /// Takes a built-in template whatever the workflow has, and says why the last report was not accepted.
    pub(super) fn of_template(
        briefing: &'a Briefing<'a>,
        template: &'static str,
        reasons: &str,
    ) -> Result<Self, PromptFault> {
        let mut page = Page::of(briefing)?;
        page.template = Some(template);
        page.material.refused = Refused::of(reasons, briefing, page.fence);
        Ok(page)
    }

    /// Returns how many notes there are.
    pub(super) fn notes(&self) -> usize {
        self.material.notes.len()
    }

    /// Returns how many tokens the longest piece has.
    pub(super) fn longest(&self) -> usize {
        self.pieces().map(|piece| tokens::count(&piece.text)).max().unwrap_or_default()
    }

    fn pieces(&self) -> impl Iterator<Item = &Piece> {
        let Material { context, members: _, index, memory, refused, notes, failure } = &self.material;
        let notes = notes.iter().filter_map(|said| said.piece.as_ref());
        context.iter().chain(index).chain(memory).chain(&refused.quoted).chain(notes).chain(failure)
    }

    /// Returns the workflow's own template, where that counts.
    fn own_template(&self) -> Option<&str> {
        self.briefing.template.filter(|_| self.template.is_none())
    }

    /// Renders the template.
    pub(super) fn print(&self, cuts: &Cuts) -> Result<Printed, PromptFault> {
        let view = self.view(cuts);
        let environment: &Environment<'_> = &ENVIRONMENT;
        let rendered = match self.own_template() {
            Some(text) => {
                environment.render_named_str(OWN, text, Serde(view)).map(|text| Printed::of(outline::ended(text)))
            }
            None => outline::render(environment, self.template.unwrap_or("prompt"), view),
        };
        rendered.map_err(|error| {
            // Only of the workflow's own template does a line say anything to whoever wrote it.
            let line = error.line().filter(|_| error.name() == Some(OWN));
            PromptFault::Template(ExpressionFault::new(line, &error))
        })
    }

    /// Names what was too long for any prompt.
    pub(super) fn bounded(&self) -> Vec<String> {
        self.pieces().filter(|piece| piece.bounded).map(|piece| gone("cut", piece)).collect()
    }

    /// Names what the cuts took away from the text.
    pub(super) fn shortened(&self, cuts: &Cuts, text: &str) -> Vec<String> {
        let dropped = self.material.notes.iter().take(cuts.notes_dropped);
        let mut names: Vec<String> =
            dropped.filter_map(|said| said.piece.as_ref()).map(|piece| gone("left out", piece)).collect();
        let notes = self.material.notes.iter().skip(cuts.notes_dropped).filter_map(|said| said.piece.as_ref());
        let Material { context, index, memory, refused, .. } = &self.material;
        let limited = (context.iter().chain(index).chain(memory).map(|piece| (piece, cuts.context_tokens))).chain(
            refused.quoted.iter().chain(notes).chain(&self.material.failure).map(|piece| (piece, cuts.said_tokens)),
        );
        for (piece, limit) in limited {
            let is_cut = limit.is_some_and(|limit| fence::cut(&piece.text, limit, None).is_some());
            // A template may have no place for a piece.
            if (is_cut || piece.bounded) && text.contains(&self.fenced(piece, limit)) {
                names.push(gone("cut", piece));
            }
        }
        names
    }

    fn fenced(&self, piece: &Piece, limit: Option<usize>) -> String {
        let shorter = limit.and_then(|limit| fence::cut(&piece.text, limit, piece.file.as_deref()));
        self.fence.around(&piece.label, shorter.as_deref().unwrap_or(&piece.text))
    }

    /// Returns the variables of the template.
    pub(super) fn view(&self, cuts: &Cuts) -> View {
        let briefing = self.briefing;
        let request = briefing.request;
        let expected = request.expectations.as_ref().unwrap_or(&NOTHING_EXPECTED);
        let text = |text: Option<&str>| text.map(Blank::from);
        let shown = |piece: &Piece| Blank(self.fenced(piece, cuts.context_tokens));
        let said = |piece: &Piece| Blank(self.fenced(piece, cuts.said_tokens));
        let joined =
            |pieces: &[&Piece]| Blank(pieces.iter().map(|piece| shown(piece).0).collect::<Vec<_>>().join("\n\n"));
        let may_change = briefing.writes.is_none_or(|patterns| !patterns.is_empty());
        let handed: Vec<&Piece> = self.material.context.iter().filter(|piece| piece.name == "handover").collect();
        View {
            workflow: briefing.workflow.into(),
            phase: briefing.phase.into(),
            agent: briefing.agent.into(),
            role: text(briefing.role.map(str::trim)),
            dialect: briefing.dialect.as_str(),
            handoff: text(self.handoff.as_deref()),
            from: text(self.from.as_deref()),
            attempt: briefing.attempt,
            task: request.instructions.as_deref().unwrap_or_default().trim_end().into(),
            deliverable: text(expected.deliverable.as_deref()),
            constraints: blanks(expected.constraints.iter().map(String::as_str)),
            success_criteria: blanks(expected.success_criteria.iter().map(String::as_str)),
            schema: text(expected.schema.as_deref()),
            steps: Steps::of(request.workflow.as_ref(), briefing.phase),
            mandatory_skills: blanks(briefing.mandatory_skills.iter().map(ToString::to_string)),
            skills_by: briefing.profile.map(words::skills_by).unwrap_or_default(),
            output_directory: example::output_directory(briefing).unwrap_or_default().into(),
            writes: briefing.writes.map(|patterns| blanks(patterns.iter().map(String::as_str))),
            checks: briefing.checks.iter().map(|check| CheckView::of(&check.name, &check.words)).collect(),
            acknowledge: briefing.acknowledge,
            acknowledge_within: text(briefing.acknowledge_within),
            acknowledgment: self.example.acknowledgment.as_str().into(),
            owed: example::owed(briefing).iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ").into(),
            example: self.example.report.as_str().into(),
            echoes: self.example.echoes,
            form: self.example.form,
            whole: !is_block(briefing.dialect),
            tells_skills: is_block(briefing.dialect) || briefing.dialect == Dialect::Native,
            reasons: words::reasons(briefing.dialect, briefing.reasons).into(),
            reviews: example::reviews(briefing),
            changes_in: if may_change { words::changes_in(briefing.dialect) } else { "" },
            alone: !matches!(briefing.report_to, ReportTo::Folder | ReportTo::Queue { .. }),
            stuck: words::stuck(briefing.dialect),
            report_file: words::file(briefing, "report.md", "BATON_REPORT_FILE").into(),
            acknowledgment_file: words::file(briefing, "acknowledgment.yaml", "BATON_ACKNOWLEDGMENT_FILE").into(),
            notes_file: material::whole_notes(briefing).into(),
            fetches_files: briefing.fetches_files,
            report_to: report_to(briefing.report_to),
            claim: match briefing.report_to {
                ReportTo::Queue { handoff, fence, lease_seconds } => {
                    Some(ClaimView { id: handoff.in_shell().as_ref().into(), fence, lease_seconds })
                }
                ReportTo::Folder | ReportTo::Answer | ReportTo::File | ReportTo::Stdout | ReportTo::Either => None,
            },
            delimiter: briefing.delimiter.into(),
            members: self.members(cuts),
            handovers: joined(&handed),
            context: joined(&self.material.context.iter().collect::<Vec<_>>()),
            index: self.material.index.as_ref().map(shown),
            memory: self.material.memory.as_ref().map(shown),
            older_notes: cuts.notes_dropped,
            notes: self.notes_view(cuts),
            failure: self.material.failure.as_ref().map(said),
            reasons_found: self.material.refused.found.as_str().into(),
            reasons_quoted: self.material.refused.quoted.as_ref().map(said),
        }
    }

    /// Returns the members of the request, which no built-in template shows.
    fn members(&self, cuts: &Cuts) -> Members {
        if self.own_template().is_none() {
            return Members::default();
        }
        let named = |name: &str| {
            let member = self.material.members.iter().find(|piece| piece.name == name);
            member.map(|piece| Blank(self.fenced(piece, cuts.context_tokens))).unwrap_or_default()
        };
        Members {
            summary: named("summary"),
            files: named("files"),
            artifacts: named("artifacts"),
            decisions: named("decisions"),
            questions: named("questions"),
            facts: named("facts"),
            input: named("input"),
        }
    }

    fn notes_view(&self, cuts: &Cuts) -> Vec<NoteView> {
        let kept = self.material.notes.iter().skip(cuts.notes_dropped);
        kept.map(|said| NoteView {
            about: said.about,
            from: said.from.as_str().into(),
            meaning: said.meaning.as_str().into(),
            text: said.piece.as_ref().map(|piece| self.fenced(piece, cuts.said_tokens)).unwrap_or_default().into(),
        })
        .collect()
    }
}

fn report_to(place: ReportTo<'_>) -> &'static str {
    match place {
        ReportTo::Folder => "folder",
        ReportTo::Answer => "answer",
        ReportTo::File => "file",
        ReportTo::Stdout => "stdout",
        ReportTo::Either => "either",
        ReportTo::Queue { .. } => "queue",
    }
}

static NOTHING_EXPECTED: LazyLock<Expectations> = LazyLock::new(Expectations::default);

/// Names what a prompt does not have whole, and where it is.
fn gone(how: &str, piece: &Piece) -> String {
    let file = piece.file.as_ref().map(|file| format!(" (in {file})")).unwrap_or_default();
    format!("{how}: {}{file}", piece.label)
}

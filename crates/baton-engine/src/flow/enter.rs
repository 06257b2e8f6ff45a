//! Entering a phase: a handoff to its agent, its command, its person or its members.

use baton_protocol::model::Document;
use baton_protocol::wire::same_word;
use baton_protocol::workflow::{AgentFields, Duration, Phase};

use super::gates::deciding_checks;
use super::limits::{self, Next};
use super::turn::holds;
use super::{FlowFault, UnfitDocument, complete, gate_evidence, join, requests};
use crate::definition::LocatedPhase;
use crate::draft::Draft;
use crate::handoff::{About, Note, Terms, WrittenDocument};
use crate::handover;
use crate::id::{HandoffId, RunId, UnsafeId};
use crate::lifecycle::Accept;
use crate::retry::{Policy, RETRIES_MAX};
use crate::run::{Known, RecordFault, Run};
use crate::step::{CHECK, GROUP, HUMAN, Role, Step};

/// The longest part of an identifier that names the phase; longer ones are cut and told apart by a digest.
const NAME_BYTES_MAX: usize = 72;

/// How many digits of the digest tell cut names apart. Of a million of them no two meet.
const DIGEST_DIGITS: usize = 24;

/// Begins the run with its first phase.
pub(super) fn begin(draft: &mut Draft) -> Result<(), FlowFault> {
    let definition = draft.run.definition.clone();
    let root = draft.run.root().handoff.id.clone();
    for phase in &definition.workflow.phases {
        if holds(&draft.run, phase.id(), phase.when.as_deref())? {
            return enter(draft, phase.id(), Some(root), None, Vec::new());
        }
    }
    complete(draft, "every phase was left out")
}

/// Returns whether a phase is not left out.
pub(super) fn is_wanted(run: &Run, located: &LocatedPhase<'_>, index: usize) -> Result<bool, FlowFault> {
    let phase = &located.siblings[index];
    holds(run, &located.path_of(phase), phase.when.as_deref())
}

/// Returns the limit that forbids entering a phase, if there is one.
pub(super) fn limit(draft: &Draft, path: &str) -> Option<String> {
    let located = draft.run.definition.locate(path)?;
    let phase = located.phase();
    let next = Next { role: role(phase), phase: path, agent: phase.agent.as_deref() };
    limits::reached(&draft.run, &next, draft.at)
}

fn role(phase: &Phase) -> Role {
    match phase {
        Phase { agent: Some(_), .. } => Role::Work,
        Phase { check: Some(_), .. } => Role::Check,
        Phase { gate: Some(_), .. } => Role::Gate,
        _ => Role::Group,
    }
}

/// Enters a phase.
pub(super) fn enter(
    draft: &mut Draft,
    path: &str,
    within: Option<HandoffId>,
    previous: Option<&HandoffId>,
    notes: Vec<Note>,
) -> Result<(), FlowFault> {
    let definition = draft.run.definition.clone();
    let located = definition.locate(path).ok_or_else(|| FlowFault::NoPhase(path.to_owned()))?;
    let phase = located.phase();
    let visit = draft.run.visits(path) + 1;
    let id = identifier(&draft.run.id, path, visit)?;
    let after = previous.cloned();
    let step = Step { role: role(phase), phase: path.to_owned(), visit, within, about: None, after };
    let sender = previous.and_then(|previous| draft.run.find(previous));
    let from = sender.map_or_else(|| draft.run.root().handoff.terms.from.clone(), requests::voice);
    let givers = handover::givers(&draft.run, &step);
    let asking =
        requests::Asking { run: &draft.run, located: &located, path, id: &id, from: &from, givers, at: draft.at };
    let (mut terms, request) = match step.role {
        Role::Work => {
            let name = phase.agent.as_deref().unwrap_or_default();
            let agent = located.definition.workflow.agent(name).ok_or_else(|| FlowFault::NoAgent(name.to_owned()))?;
            let mut terms = Terms::between(&*from, name);
            terms.verify = true;
            // Folders have timeouts and retries of their own.
            let timeout = phase.timeout.or(agent.timeout).filter(|_| agent.directory.is_none());
            terms.timeout_ms = timeout.map(|timeout| timeout.milliseconds);
            terms.retry = Policy::of_workflow(phase.retry.as_ref().or(agent.retry.as_ref()));
            agree(&mut terms, agent, located.definition.name());
            terms.approval = phase.review.as_ref().and_then(|review| located.definition.approval(&review.gate));
            (terms, asking.work(name, agent)?)
        }
        Role::Check => {
            let mut terms = Terms::between(&*from, CHECK);
            // A command that fails has done its work; only a crash makes another attempt necessary.
            terms.retry = Policy { max_retries: RETRIES_MAX, ..Policy::NEVER };
            (terms, asking.check()?)
        }
        Role::Gate => {
            let mut terms = Terms::between(&*from, HUMAN);
            terms.choices = phase.gate.iter().flat_map(|gate| gate.choices.keys().cloned()).collect();
            terms.approval = phase.gate.as_ref().and_then(|gate| located.definition.approval(gate));
            let has_checks = phase.gate.as_ref().is_some_and(|gate| !deciding_checks(gate).is_empty());
            terms.look_first = has_checks || gate_evidence::has_files(&draft.run, &step);
            (terms, asking.gate()?)
        }
        _ => (Terms::between(&*from, GROUP), join::request(&asking)?),
    };
    let known = known(&request).map_err(|fault| FlowFault::Request { phase: path.to_owned(), fault })?;
    terms.step = Some(step);
    let run = draft.run.id.clone();
    let notes = [answers_before(&draft.run, path), notes].concat();
    draft.accept_known(Accept { id, run, terms, request, notes }, known);
    Ok(())
}

/// Returns what was answered in the visit of a phase before: an agent that is sent back must not ask the same again.
fn answers_before(run: &Run, path: &str) -> Vec<Note> {
    let is_answer = |note: &&Note| matches!(note.about, About::Answer | About::Resolution) && note.question.is_some();
    let before = run.latest(path).filter(|before| before.step.role == Role::Work);
    before.map(|before| before.handoff.notes.iter().filter(is_answer).cloned().collect()).unwrap_or_default()
}

/// Reads a request that we wrote, as everybody will read it; the error says why nobody could.
fn known(request: &WrittenDocument) -> Result<Known, UnfitDocument> {
    Ok(match requests::read_back(request)? {
        Document::Request(request) => Known::Request(request),
        Document::Report(_) | Document::Acknowledgment(_) => Known::Nothing,
    })
}

/// Makes the identifier of a visit: the run, the phase and the number.
fn identifier(run: &RunId, path: &str, number: u32) -> Result<HandoffId, UnsafeId> {
    // A point in the name of a phase, as in `4.5`, must not look like a phase inside another.
    let name = path.replace('.', "-").replace('/', ".");
    let cut = name.floor_char_boundary(NAME_BYTES_MAX.min(name.len()));
    // Two long names that begin alike must not meet.
    let tail = if cut < name.len() {
        format!("-{}", &crate::handoff::Digest::of(name.as_bytes()).0[..DIGEST_DIGITS])
    } else {
        String::new()
    };
    HandoffId::parse(format!("{run}.{}{tail}.{number}", &name[..cut]))
}

/// Agrees who may take the work, how soon they must come for it, and say that they understood.
pub(super) fn agree(terms: &mut Terms, agent: &AgentFields, workflow: &str) {
    terms.queue = Some(Terms::queue_for(workflow, &terms.to, agent));
    // Nobody acknowledges in folders, and whoever watches them knows how long to wait there.
    if agent.directory.is_some() {
        return;
    }
    let milliseconds = |time: Duration| time.milliseconds;
    terms.acknowledge = agent.must_acknowledge();
    terms.acknowledge_within_ms = agent.acknowledge_within().map(milliseconds);
    terms.pick_up_within_ms = agent.pick_up_within.filter(|_| agent.queue == Some(true)).map(milliseconds);
}

/// Finds an agent of the workflow that a phase belongs to, by its name without regard to case, `-` and `_`.
pub(super) fn agent_named<'d>(located: &LocatedPhase<'d>, name: &str) -> Option<(&'d str, &'d AgentFields)> {
    located.definition.workflow.agents.iter().find(|(known, _)| same_word(known, name))
}

/// Accepts a handoff that is not a visit of a phase: help for somebody, or a question to a person.
pub(super) fn aside(
    draft: &mut Draft,
    about: &HandoffId,
    role: Role,
    terms: Terms,
    request: WrittenDocument,
) -> Result<(), FlowFault> {
    beside(draft, about, about, role, terms, request)
}

/// Does the same where it is beside one handoff, but is about another.
pub(super) fn beside(
    draft: &mut Draft,
    place: &HandoffId,
    about: &HandoffId,
    role: Role,
    mut terms: Terms,
    request: WrittenDocument,
) -> Result<(), FlowFault> {
    let place = draft.run.find(place).ok_or(RecordFault::Gone("what it is about"))?;
    let (phase, within) = (place.step.phase.clone(), place.step.within.clone());
    let word = match role {
        Role::Delegation => terms.to.clone(),
        Role::Escalation => "question".to_owned(),
        Role::Limit => "limit".to_owned(),
        _ => "failure".to_owned(),
    };
    let visit = draft.run.beside(role, &phase) + 1;
    let id = identifier(&draft.run.id, &format!("{phase}/{word}"), visit)?;
    let known = known(&request).map_err(|fault| FlowFault::Question { phase: phase.clone(), fault })?;
    terms.step = Some(Step { role, phase, visit, within, about: Some(about.clone()), after: None });
    let run = draft.run.id.clone();
    draft.accept_known(Accept { id, run, terms, request, notes: Vec::new() }, known);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_that_begin_alike_are_told_apart_by_a_long_digest() {
        let run = crate::id::RunId::parse("r").expect("safe");
        let name = |last: &str| identifier(&run, &format!("{}/{last}", "long-name".repeat(12)), 1).expect("safe");
        let (one, other) = (name("one").to_string(), name("other").to_string());
        assert_ne!(one, other);
        let digits = one.trim_end_matches(".1").rsplit('-').next().unwrap_or_default();
        assert!(digits.len() >= 24 && digits.chars().all(|digit| digit.is_ascii_hexdigit()), "{one}");
        assert_eq!(identifier(&run, "tools/4.5", 2).expect("safe").as_str(), "r.tools.4-5.2");
    }
}

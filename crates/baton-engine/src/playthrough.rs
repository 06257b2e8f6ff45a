//! Plays a workflow through without a store and without anybody working: agents that only pretend, commands that pass and
//! fail, people who say each thing that they can. Whatever was not said yet at a place is said there once, so that every
//! way is gone that an answer opens.

mod line;
mod pretence;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use baton_protocol::model::terms::Outcome;
use baton_protocol::workflow::Phase;
use jiff::Timestamp;
use serde_json::{Value, json};

use self::line::{Line, lines};
use crate::definition::Definition;
use crate::door::Door;
use crate::draft::Draft;
use crate::failure::{Code, Failure, Transience};
use crate::flow::{self, FlowFault};
use crate::handoff::{State, Terms, WrittenDocument};
use crate::id::{HandoffId, RunId};
use crate::journal::{Fact, Head};
use crate::known::HowKnown;
use crate::lifecycle::{Accept, Command, Decide, Decision, Ending, Fail, HandIn, Refusal, Verdict, Verify};
use crate::run::{JournalFault, Run, TrackedHandoff};
use crate::step::{ORCHESTRATOR, Role, Step};

/// How many ways are tried at most; a workflow with more is shown only that far.
const PLAYS_MAX: usize = 2_000;

/// After so many answers that were all given before at their place, a way is the same as one that was gone already.
const KNOWN_MAX: usize = 30;

/// How many acts one way has at most.
const ACTS_MAX: usize = 2_000;

/// Who works in a phase that holds others.
const GROUP: &str = "group";

/// What a group says that is not content.
const NOT_PASSED: &str = "not passed";

/// What came of playing a workflow through.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Playthrough {
    /// Every phase of the workflow, in the order of the file; those inside others are behind them.
    pub phases: Vec<PlayedPhase>,
    /// The routes that are about reports which nobody gives here.
    pub untried: Vec<String>,
    /// How runs ended, and how many did so. What went on as another one before is not followed to its end.
    pub endings: BTreeMap<String, usize>,
    /// How many runs were played.
    pub plays: usize,
    /// Whether there were more ways than were gone.
    pub is_cut: bool,
}

/// A phase, and where it led.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlayedPhase {
    /// Its path; `*` stands for the items of a list.
    pub path: String,
    /// Who works there.
    pub who: String,
    /// Whether it was entered.
    pub is_reached: bool,
    /// What was said there, and where it went.
    pub ways: Vec<PlayedWay>,
}

/// What follows from an answer.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct PlayedWay {
    /// What was said: `done`, `fails`, `approve`.
    pub said: String,
    /// Where it went: a phase, `human`, `end`, `stop`, an agent.
    pub to: String,
    /// The phases that were left out on the way.
    pub skipped: Vec<String>,
    /// The group whose member ended with `end` or `stop`; without one that was the end of the run.
    pub group: Option<String>,
}

/// Why a workflow cannot be played.
#[derive(Debug, thiserror::Error)]
pub enum PlayFault {
    /// Its run cannot begin.
    #[error(transparent)]
    Run(#[from] JournalFault),
    /// Its run cannot go on.
    #[error(transparent)]
    Flow(#[from] FlowFault),
    /// The lifecycle does not allow what somebody says.
    #[error(transparent)]
    Refused(#[from] Refusal),
}

/// A run in the middle of a play.
#[derive(Clone)]
struct Scene {
    draft: Draft,
    /// How many handoffs there were before the one that something else was said about.
    forked_at: usize,
    /// What was said last about each handoff.
    said: HashMap<HandoffId, Line>,
    /// What each agent was blocked by that got help.
    reasons: HashMap<HandoffId, String>,
    /// The group in whose first visit nobody is content.
    failing: Option<String>,
}

impl Scene {
    /// Returns whether a handoff is work or a check in the first visit of the group in which nobody is content.
    fn is_failing(&self, tracked: &TrackedHandoff) -> bool {
        let run = &self.draft.run;
        let outer = |tracked: &&TrackedHandoff| tracked.step.within.as_ref().and_then(|within| run.find(within));
        let is_first = |group: &TrackedHandoff| {
            let path = pretence::declared(&run.definition, &group.step.phase);
            group.step.visit == 1 && self.failing.as_ref() == Some(&path)
        };
        let says = matches!(tracked.step.role, Role::Work | Role::Check)
            && !matches!(tracked.handoff.state, State::AwaitingPerson { .. });
        says && self.failing.is_some() && std::iter::successors(Some(tracked), outer).any(is_first)
    }
}

/// Plays a workflow through.
pub fn play(definition: &Definition, at: Timestamp) -> Result<Playthrough, PlayFault> {
    let mut playing = Playing::default();
    playing.go_every_way(&pretence::of(definition, None), at)?;
    // Phases that are left out by a condition: once with all of them, once without.
    if pretence::has_conditions(definition) {
        playing.go_every_way(&pretence::of(definition, Some("false")), at)?;
    }
    // One member that says no does not stop a majority.
    let is_group = |phase: &PlayedPhase| phase.who == GROUP && phase.is_reached;
    for group in playing.phases(definition).into_iter().filter(is_group) {
        if !group.ways.iter().any(|way| way.said == NOT_PASSED) {
            playing.go_every_way_of(&pretence::of(definition, None), at, Some(group.path))?;
        }
    }
    let phases = playing.phases(definition);
    let untried = untried(definition);
    Ok(Playthrough { phases, untried, endings: playing.endings, plays: playing.plays, is_cut: playing.is_cut })
}

/// Returns the routes of a workflow and of those inside of it that are about reports which nobody gives here.
fn untried(definition: &Definition) -> Vec<String> {
    let is_tried = |status: &Outcome| matches!(status, Outcome::Blocked | Outcome::Complete);
    let routes = definition.workflow.routes.iter().enumerate();
    let own = routes.filter_map(|(index, route)| {
        let status = route.status.filter(|status| !is_tried(status))?;
        Some(format!("{}: route {} (status {})", definition.name(), index + 1, status.as_str()))
    });
    own.chain(definition.nested.values().flat_map(untried)).collect()
}

#[derive(Default)]
struct Playing {
    /// What was said where.
    said: BTreeSet<(String, Line)>,
    reached: BTreeSet<String>,
    /// Where each phase led; what is more likely comes first.
    ways: BTreeMap<String, BTreeSet<(u8, PlayedWay)>>,
    endings: BTreeMap<String, usize>,
    plays: usize,
    is_cut: bool,
}

impl Playing {
    fn go_every_way(&mut self, definition: &Definition, at: Timestamp) -> Result<(), PlayFault> {
        self.go_every_way_of(definition, at, None)
    }

    /// Goes every way that is still open; in the first visit of a group that is named nobody is content.
    fn go_every_way_of(
        &mut self,
        definition: &Definition,
        at: Timestamp,
        failing: Option<String>,
    ) -> Result<(), PlayFault> {
        let (draft, said, reasons) = (begin(definition, at)?, HashMap::new(), HashMap::new());
        let mut open = vec![Scene { draft, forked_at: 0, said, reasons, failing }];
        while let Some(scene) = open.pop() {
            if self.plays >= PLAYS_MAX {
                self.is_cut = true;
                return Ok(());
            }
            self.plays += 1;
            self.go_on(scene, &mut open)?;
        }
        Ok(())
    }

    /// Plays to the end; at each place where more can be said, that is kept for later.
    fn go_on(&mut self, mut scene: Scene, open: &mut Vec<Scene>) -> Result<(), PlayFault> {
        let mut known = 0;
        for _ in 0..ACTS_MAX {
            // Nobody carries out what was drafted.
            scene.draft = Draft::new(&scene.draft.run, scene.draft.at);
            if let Err(fault) = flow::settle(&mut scene.draft) {
                self.look(&scene);
                *self.endings.entry(format!("cannot continue: {fault}")).or_default() += 1;
                return Ok(());
            }
            let run = &scene.draft.run;
            if run.is_finished() {
                let ending = match run.root().handoff.state {
                    State::Completed { .. } => "completed",
                    _ => "stopped",
                };
                self.look(&scene);
                *self.endings.entry(ending.to_owned()).or_default() += 1;
                return Ok(());
            }
            let Some(tracked) = run.waiting().next().or_else(|| flow::work(run).next()) else {
                self.look(&scene);
                *self.endings.entry("stuck".to_owned()).or_default() += 1;
                return Ok(());
            };
            let (id, place, lines) = (tracked.handoff.id.clone(), place(run, tracked), lines(run, tracked));
            let mut fresh = lines.iter().filter(|line| self.said.insert((place.clone(), (*line).clone())));
            let first = fresh.next();
            known = if first.is_some() { 0 } else { known + 1 };
            if known > KNOWN_MAX {
                self.look(&scene);
                return Ok(());
            }
            let first = if scene.is_failing(tracked) {
                Line::SaysNo
            } else {
                first.or(lines.first()).cloned().unwrap_or(Line::Done)
            };
            for other in fresh {
                let mut later = scene.clone();
                later.forked_at = run.handoffs().position(|tracked| tracked.handoff.id == id).unwrap_or_default();
                say(&mut later, &id, other)?;
                open.push(later);
            }
            say(&mut scene, &id, &first)?;
        }
        self.look(&scene);
        *self.endings.entry("endless".to_owned()).or_default() += 1;
        Ok(())
    }

    /// Takes down where a run has been.
    fn look(&mut self, scene: &Scene) {
        let run = &scene.draft.run;
        // What was before the last fork was looked at with the way that it was said on; groups end later.
        let is_new =
            |(place, tracked): &(usize, &TrackedHandoff)| *place >= scene.forked_at || tracked.step.role == Role::Group;
        let group = |tracked: &TrackedHandoff| {
            let within = run.find(tracked.step.within.as_ref()?).filter(|group| group.step.role == Role::Group)?;
            // A person who says stop means the run.
            let is_members = !matches!(tracked.step.role, Role::Failure | Role::Limit);
            is_members.then(|| pretence::declared(&run.definition, &within.step.phase))
        };
        let handoffs = run.handoffs().enumerate().filter(is_new).map(|(_, tracked)| tracked);
        for tracked in handoffs.filter(|tracked| tracked.step.role != Role::Run) {
            let path = pretence::declared(&run.definition, &tracked.step.phase);
            self.reached.insert(path.clone());
            let Some(route) = &tracked.route else { continue };
            let to = pretence::declared(&run.definition, &route.to);
            let skipped = route.skipped.iter().map(|skipped| skipped.phase.clone()).collect();
            let group = group(tracked).filter(|_| matches!(to.as_str(), "end" | "stop"));
            let way = |said: String, to: String| PlayedWay { said, to, skipped, group };
            let way = match (scene.said.get(&tracked.handoff.id), tracked.step.role) {
                (_, Role::Delegation | Role::Escalation) => {
                    let reason = tracked.step.about.as_ref().and_then(|about| scene.reasons.get(about));
                    let said = Line::Blocked(reason.cloned().unwrap_or_default()).words();
                    (3, way(said, tracked.handoff.terms.to.clone()))
                }
                (Some(line), Role::Failure | Role::Limit) => (4, way(format!("after a failure: {}", line.words()), to)),
                (Some(line @ (Line::Fails | Line::SaysNo | Line::Rejects)), _) => (2, way(line.words(), to)),
                (Some(line), _) => (1, way(line.words(), to)),
                (None, _) if tracked.passed() => (1, way("passed".to_owned(), to)),
                (None, _) => (2, way(NOT_PASSED.to_owned(), to)),
            };
            self.ways.entry(path).or_default().insert(way);
        }
    }

    fn phases(&self, definition: &Definition) -> Vec<PlayedPhase> {
        let mut found = Vec::new();
        self.collect(definition, &definition.workflow.phases, "", &mut found);
        found
    }

    fn collect(&self, definition: &Definition, phases: &[Phase], prefix: &str, found: &mut Vec<PlayedPhase>) {
        for phase in phases {
            let path = format!("{prefix}{}", phase.id());
            let who = match phase {
                Phase { agent: Some(agent), .. } => agent.clone(),
                Phase { check: Some(_), .. } => "check".to_owned(),
                Phase { gate: Some(_), .. } => "a person".to_owned(),
                _ => GROUP.to_owned(),
            };
            let ways = self.ways.get(&path).into_iter().flatten().map(|(_, way)| way.clone()).collect();
            found.push(PlayedPhase { is_reached: self.reached.contains(&path), who, ways, path: path.clone() });
            self.collect(definition, &phase.parallel, &format!("{path}/"), found);
            self.collect(definition, &phase.phases, &format!("{path}/*/"), found);
            if let Some(inner) = phase.workflow.as_ref().and_then(|name| definition.nested.get(name)) {
                self.collect(inner, &inner.workflow.phases, &format!("{path}/"), found);
            }
        }
    }
}

fn begin(definition: &Definition, at: Timestamp) -> Result<Draft, PlayFault> {
    let id = RunId::parse("play").expect("a safe id");
    let root = HandoffId::parse(id.as_str()).expect("a safe id");
    let mut terms = Terms::between("user", ORCHESTRATOR);
    terms.step = Some(Step { role: Role::Run, phase: String::new(), visit: 1, within: None, about: None, after: None });
    let request = definition.request(&id, "user");
    let accept = Accept { id: root.clone(), run: id.clone(), terms, request, notes: Vec::new() };
    let event = Head::START.next(&id, &root, 1, at, &Fact::Accepted(Box::new(accept)));
    let mut draft = Draft::new(&Run::begin(&event)?, at);
    flow::claim(&mut draft, &root)?;
    Ok(draft)
}

/// Where something is said: the phase, and what a person is asked beside it.
fn place(run: &Run, tracked: &TrackedHandoff) -> String {
    let path = pretence::declared(&run.definition, &tracked.step.phase);
    let asks = matches!(tracked.handoff.state, State::AwaitingPerson { .. });
    format!("{path} {:?} {} {asks}", tracked.step.role, tracked.handoff.terms.to)
}

/// Lets somebody say something about a handoff.
fn say(scene: &mut Scene, id: &HandoffId, line: &Line) -> Result<(), PlayFault> {
    scene.said.insert(id.clone(), line.clone());
    let draft = &mut scene.draft;
    let Some(tracked) = draft.run.find(id) else { return Ok(()) };
    if let State::AwaitingPerson { .. } = tracked.handoff.state {
        return Ok(decide(draft, id, line)?);
    }
    if matches!(tracked.handoff.state, State::Verifying) {
        // A gate looks at files before it asks.
        return Ok(verify(draft, id, true)?);
    }
    if matches!(tracked.handoff.state, State::Pending { .. }) {
        flow::claim(draft, id)?;
    }
    let Some(tracked) = draft.run.find(id) else { return Ok(()) };
    let (fence, role, phase) = (tracked.handoff.fence, tracked.step.role, tracked.step.phase.clone());
    let report = |members: Value| WrittenDocument::new(baton_protocol::Dialect::Native, members.to_string());
    let told = "This is what an agent says that only pretends.";
    let (ending, document) = match line {
        Line::Fails if role != Role::Check => {
            let failure = Failure { chance: Transience::Permanent, ..Failure::new(Code::processing_error(), told) };
            return Ok(draft.apply(id, Command::Fail(Fail::new(fence, failure, 0.0)))?);
        }
        Line::Fails | Line::SaysNo => {
            let verdict = if role == Role::Check { "failed" } else { "CHANGES_REQUESTED" };
            (Ending::Complete, report(said("complete", told, &json!({ "verdict": verdict }))))
        }
        Line::Blocked(reason) => {
            scene.reasons.insert(id.clone(), reason.clone());
            let ending = Ending::Blocked { reason: reason.clone() };
            (ending, report(said("blocked", told, &json!({ "blocked_reason": reason }))))
        }
        Line::Verdict(verdict) => (Ending::Complete, report(said("complete", told, &json!({ "verdict": verdict })))),
        _ => (Ending::Complete, report(said("complete", told, &json!({ "verdict": "APPROVED" })))),
    };
    let is_done = ending == Ending::Complete;
    draft.apply(id, Command::Report(HandIn::new(fence, ending, document)))?;
    let is_verified = draft.run.find(id).is_some_and(|tracked| matches!(tracked.handoff.state, State::Verifying));
    if is_done && is_verified {
        let located = draft.run.definition.locate(&phase);
        let review = role == Role::Work && located.is_some_and(|located| located.phase().review.is_some());
        verify(draft, id, review)?;
    }
    Ok(())
}

/// Finds that everything is as it should be; with a review, a person is asked all the same.
fn verify(draft: &mut Draft, id: &HandoffId, review: bool) -> Result<(), Refusal> {
    let fence = draft.run.find(id).map_or(crate::Fence(1), |tracked| tracked.handoff.fence);
    let (verdict, examined, kept) = (Verdict::Verified, Vec::new(), Vec::new());
    let verify = Verify { fence, verdict, examined, evidence: None, kept, review, repair: false, dice: 0.0 };
    draft.apply(id, Command::Verify(verify))
}

fn said(outcome: &str, summary: &str, more: &Value) -> Value {
    let mut report = json!({ "baton": 1, "document": "report", "outcome": outcome, "summary": summary });
    if let (Some(report), Some(more)) = (report.as_object_mut(), more.as_object()) {
        report.extend(more.clone());
    }
    report
}

fn decide(draft: &mut Draft, id: &HandoffId, line: &Line) -> Result<(), Refusal> {
    let decision = match line {
        Line::Rejects => Decision::Reject { feedback: "not like this".to_owned() },
        Line::Chooses(word) => Decision::Answer { answers: word.clone() },
        Line::Answers => Decision::Answer { answers: "as you like".to_owned() },
        _ => Decision::Approve,
    };
    let Some(shown) = draft.run.find(id).and_then(|tracked| tracked.handoff.shown()) else { return Ok(()) };
    let (by, known, door) = ("a person".to_owned(), HowKnown::Account, Door::Rehearsal);
    let decide = Decide { by, known, label: None, door, shown, decision, note: None, asked: None };
    draft.apply(id, Command::Decide(decide))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory;

    fn played(text: &str) -> Playthrough {
        play(&memory::definition(text), Timestamp::UNIX_EPOCH).expect("it can be played")
    }

    fn ways(played: &Playthrough, path: &str) -> Vec<String> {
        let phase = played.phases.iter().find(|phase| phase.path == path).expect("a phase");
        phase.ways.iter().map(|way| format!("{} → {}", way.said, way.to)).collect()
    }

    const TEAM: &str = "name: w
agents: {dev: {command: [./dev]}, ops: {queue: true}}
phases:
  - {id: build, agent: dev, when: inputs.x}
  - {id: each, foreach: phases.build.output.parts, phases: [{id: test, check: 'true'}]}
  - {id: review, agent: ops, kind: review, on_failure: build}
  - {id: ship, gate: {choices: {go: end, again: build, no: stop}}}
routes: [{agent: dev, reason: no_key, to: ops}]
inputs: {x: {required: true}}
";

    #[test]
    fn every_answer_is_given_once_and_every_way_is_gone() {
        let played = played(TEAM);
        assert!(played.phases.iter().all(|phase| phase.is_reached), "{played:?}");
        let build = ways(&played, "build");
        for way in ["done → each", "fails → human", "blocked: no_key → ops", "after a failure: stop → stop"] {
            assert!(build.iter().any(|known| known == way), "{way}: {build:?}");
        }
        assert_eq!(ways(&played, "ship"), ["again → build", "go → end", "no → stop"]);
        assert!(ways(&played, "review").contains(&"says no → build".to_owned()));
        assert!(!ways(&played, "each/*/test").is_empty(), "lists are made up");
        assert!(played.endings.keys().all(|ending| ending == "completed" || ending == "stopped"), "{played:?}");
        assert!(!played.is_cut && played.plays < 60, "{}", played.plays);
    }

    #[test]
    fn groups_that_need_several_refusals_and_the_built_in_routes_are_tried() {
        let text = "name: w
agents: {integration-developer: {queue: true}, backend-security: {queue: true}, ops: {queue: true}}
phases:
  - {id: build, agent: integration-developer}
  - id: vote
    pass_when: majority_pass
    parallel: [{id: a, agent: ops, kind: review}, {id: b, agent: ops, kind: review}, {id: c, agent: ops, kind: review}]
    on_failure: build
  - {id: each, foreach: \"['x', 'y']\", pass_when: any_pass, phases: [{id: test, check: 'true', on_failure: stop}], on_failure: build}
routes:
  - {agent: ops, status: complete, verdict: WAIVED, to: human}
  - {agent: ops, status: partial, to: human}
";
        let played = played(text);
        assert!(ways(&played, "build").contains(&"blocked: security_concern → backend-security".to_owned()));
        for group in ["vote", "each"] {
            let ways = ways(&played, group);
            assert!(ways.iter().any(|way| way == "not passed → build"), "{group}: {ways:?}");
            assert!(ways.iter().any(|way| way.starts_with("passed → ")), "{group}: {ways:?}");
        }
        let member = played.phases.iter().find(|phase| phase.path == "vote/a").expect("a phase");
        let ends = |way: &&PlayedWay| matches!(way.to.as_str(), "end" | "stop") && !way.said.starts_with("after");
        assert!(member.ways.iter().filter(ends).all(|way| way.group.as_deref() == Some("vote")), "{member:?}");
        assert!(ways(&played, "vote/a").iter().any(|way| way.starts_with("verdict: WAIVED")), "{played:?}");
        assert_eq!(played.untried, ["w: route 2 (status partial)"]);
        assert!(!played.is_cut && played.plays < 300, "{}", played.plays);
    }

    #[test]
    fn ways_around_a_phase_with_a_condition_name_it() {
        let text = "name: w\nagents: {dev: {queue: true}}\ninputs: {x: {}}\nphases: [{id: a, agent: dev}, {id: b, agent: dev, when: inputs.x}, {id: c, agent: dev}]\n";
        let played = played(text);
        let around = played.phases[0].ways.iter().find(|way| way.said == "done" && way.to == "c").expect("a way");
        assert_eq!(around.skipped, ["b"]);
    }

    #[test]
    fn gate_that_looks_at_files_first_asks_then() {
        let text = "name: w\nagents: {dev: {queue: true}}\nphases: [{id: a, agent: dev, writes: [a.md]}, {id: ok, gate: {}}]\n";
        assert_eq!(ways(&played(text), "ok"), ["approve → end", "reject → a"]);
    }

    #[test]
    fn phase_that_nothing_leads_to_is_named() {
        let text = "name: w\nagents: {dev: {queue: true}}\nphases: [{id: a, agent: dev, next: c}, {id: b, agent: dev}, {id: c, agent: dev}]\n";
        let played = played(text);
        let missed: Vec<&str> =
            played.phases.iter().filter(|phase| !phase.is_reached).map(|phase| phase.path.as_str()).collect();
        assert_eq!(missed, ["b"]);
    }
}

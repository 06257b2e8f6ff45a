//! What is worth telling about an event of a run while it goes on, in one sentence; and what is going on.

use std::time::Duration;

use baton_engine::evidence::{self, ClaimFinding, ExaminedClaim};
use baton_engine::failure::{Code, Failure};
use baton_engine::flow;
use baton_engine::handoff::{Ask, State};
use baton_engine::journal::{Event, Fact};
use baton_engine::lifecycle::{
    Command, Decide, Decision, Ending, Fail, HandIn, RefusedCommand, Requeue, Route, Verdict, Verify,
};
use baton_engine::run::{NextTurn, Run, TrackedHandoff};
use baton_engine::step::{HUMAN, Role};

use crate::step_name::StepName;
use crate::words::{briefly, cut, lapses, one_line, span, with_inputs};

/// The longest reason in a line.
const REASON_MAX: usize = 160;

/// What a line is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SentenceSign {
    /// Somebody begins to work.
    Begins,
    /// Something is done.
    Done,
    /// Something has failed or was refuted.
    Failed,
    /// Work goes back to somebody before.
    Back,
    /// Somebody wants it to begin again.
    Again,
    /// Something waits for a person, or for somebody else.
    Waits,
    /// Somebody else is asked, or what they made comes back.
    Delegated,
    /// A person has decided.
    Decided,
    /// Something was left out, or not followed.
    Skipped,
    /// A report counts, but something is wrong with it, or with the program that it is from.
    Warned,
}

impl SentenceSign {
    /// Returns the sign for a terminal.
    pub fn mark(self) -> &'static str {
        match self {
            SentenceSign::Begins => "▸",
            SentenceSign::Done => "✓",
            SentenceSign::Failed => "✗",
            SentenceSign::Back | SentenceSign::Again => "⟲",
            SentenceSign::Waits => "‖",
            SentenceSign::Delegated => "→",
            SentenceSign::Decided => "●",
            SentenceSign::Skipped => "↷",
            SentenceSign::Warned => "!",
        }
    }

    /// Returns the word for plain lines.
    pub fn word(self) -> &'static str {
        match self {
            SentenceSign::Begins => "begins",
            SentenceSign::Done => "done",
            SentenceSign::Failed => "failed",
            SentenceSign::Back => "back",
            SentenceSign::Again => "again",
            SentenceSign::Waits => "waits",
            SentenceSign::Delegated => "delegated",
            SentenceSign::Decided => "decided",
            SentenceSign::Skipped => "skipped",
            SentenceSign::Warned => "warned",
        }
    }
}

/// A line about something that happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventSentence {
    /// What it is about.
    pub sign: SentenceSign,
    /// The phase, and who helps in it.
    pub place: String,
    /// What happened.
    pub text: String,
    /// How long it took, where something is done.
    pub took: Option<Duration>,
}

/// Returns the sentences that an event is worth. The run is as the event left it.
pub fn sentences(run: &Run, event: &Event) -> Vec<EventSentence> {
    let (Some(tracked), Ok(fact)) = (run.find(&event.handoff), event.fact()) else { return Vec::new() };
    let told = |sign, text: String| vec![sentence(sign, tracked, text)];
    if tracked.step.role == Role::Run {
        let Fact::Happened(Command::Requeue(Requeue { by, from: Some(phase), inputs, .. })) = fact else {
            return Vec::new();
        };
        let text = format!("starts again{}, requested by {by}", with_inputs(&inputs));
        return vec![EventSentence { place: phase, ..sentence(SentenceSign::Again, tracked, text) }];
    }
    match fact {
        // Where files are looked at first, that is told when the person is asked.
        Fact::Accepted(accept) if tracked.step.role == Role::Gate && !accept.terms.look_first => {
            told(SentenceSign::Waits, format!("a person must decide{}", or_silence(run, tracked)))
        }
        Fact::Accepted(_) if tracked.step.role == Role::Limit => limited(run, tracked),
        Fact::Accepted(_) => Vec::new(),
        Fact::Refused(RefusedCommand { by: Some(by), why, .. }) => {
            told(SentenceSign::Warned, format!("a decision of {by} was refused: {why}"))
        }
        Fact::Refused(refused) => {
            told(SentenceSign::Skipped, format!("a late {} was refused: {}", refused.command, refused.why))
        }
        Fact::Happened(command) => match command {
            // What is in a group has begun before it.
            Command::Claim(_) if tracked.step.role == Role::Group => Vec::new(),
            Command::Claim(_) => told(SentenceSign::Begins, begun(tracked)),
            Command::Report(report) => {
                let warned = warned(&report.document.warnings);
                let warned = warned.map(|text| sentence(SentenceSign::Warned, tracked, text));
                warned.into_iter().chain(reported(tracked, &report)).collect()
            }
            Command::Fail(fail) => {
                // Whoever repairs it in the same session is warned of the same again.
                let warned = if is_repaired(tracked) { None } else { warned(warnings_of(&fail)) };
                let warned = warned.map(|text| sentence(SentenceSign::Warned, tracked, text));
                warned.into_iter().chain(told(SentenceSign::Failed, failed_with(tracked, &fail.failure))).collect()
            }
            Command::Expire(_) => {
                let why = tracked.handoff.last_failure.as_ref().map(|failure| failed_with(tracked, failure));
                told(SentenceSign::Failed, why.unwrap_or_else(|| failed(tracked, "time limit reached")))
            }
            Command::Verify(verify) => verified(run, tracked, &verify),
            Command::Decide(decide) => decided(tracked, &decide),
            Command::Resume(resume) => {
                let by = if resume.by == HUMAN { "a person" } else { &resume.by };
                told(SentenceSign::Delegated, format!("continues with the answer of {by}"))
            }
            Command::Route(route) => routed(run, tracked, &route),
            Command::Cancel(cancel) => {
                let why = cancel.reason.map(|reason| format!(": {reason}")).unwrap_or_default();
                told(SentenceSign::Failed, format!("cancelled by {}{why}", cancel.by))
            }
            Command::Requeue(requeue) => told(SentenceSign::Again, format!("requeued by {}", requeue.by)),
            Command::Acknowledge(acknowledge) if !acknowledge.understood => {
                told(SentenceSign::Waits, format!("{} does not understand the request", tracked.handoff.terms.to))
            }
            Command::Acknowledge(_) | Command::Heartbeat(_) | Command::Release(_) => Vec::new(),
        },
    }
}

fn sentence(sign: SentenceSign, tracked: &TrackedHandoff, text: String) -> EventSentence {
    let ended = tracked.handoff.state.finished_at().filter(|_| sign == SentenceSign::Done);
    let took = ended.map(|ended| tracked.took(ended));
    let (name, visit) = (StepName::of(tracked), tracked.step.visit);
    let is_again = visit > 1 && tracked.step.role.is_phase();
    let place = if is_again { format!("{name} #{visit}") } else { name.to_string() };
    EventSentence { sign, place, text: one_line(&text), took }
}

/// Makes a text of several lines a short one.
fn brief(text: &str) -> String {
    let mut lines = text.trim().lines().map(str::trim).filter(|line| !line.is_empty());
    let mut first = lines.next().unwrap_or_default().to_owned();
    if first.ends_with(':')
        && let Some(second) = lines.next()
    {
        // A line that only announces others says less than one of them; what stands before it is its kind.
        let kind = first.split_once(": ").map(|(kind, _)| format!("{kind}: ")).unwrap_or_default();
        first = format!("{kind}{second}");
    }
    with_more(&first, lines.count())
}

/// Makes a line short, and says how many others there are.
fn with_more(line: &str, others: usize) -> String {
    let line = cut(&one_line(line), REASON_MAX);
    match others {
        0 => line,
        more => format!("{} (and {more} more)", line.trim_end_matches('.')),
    }
}

/// Returns why an attempt failed, what follows, and what helps: advice is never cut.
fn failed_with(tracked: &TrackedHandoff, failure: &Failure) -> String {
    let said = failure.output.as_ref().and_then(|output| Some((output.text(), output.telling_line()?)));
    let why = match said {
        Some((text, line)) => {
            let others = text.lines().filter(|line| !line.trim().is_empty()).count() - 1;
            with_more(&format!("{}: {line}", failure.code), others)
        }
        None => brief(&format!("{}: {}", failure.code, failure.message)),
    };
    let help = failure.help.as_ref().map(|help| format!("; hint: {help}")).unwrap_or_default();
    format!("{}{help}", attempt_failed(tracked, &why))
}

fn begun(tracked: &TrackedHandoff) -> String {
    let agent = &tracked.handoff.terms.to;
    match tracked.attempts {
        0 | 1 => agent.clone(),
        attempt => format!("{agent}, attempt {attempt}"),
    }
}

fn reported(tracked: &TrackedHandoff, report: &HandIn) -> Vec<EventSentence> {
    let told = |sign, text: String| vec![sentence(sign, tracked, text)];
    let agent = &tracked.handoff.terms.to;
    match (&report.ending, &tracked.handoff.state) {
        (Ending::Blocked { reason }, _) => {
            let needs = tracked.report().and_then(|report| report.next_context().or(report.summary.as_deref()));
            let needs = needs.map(|needs| format!(": {}", brief(needs))).unwrap_or_default();
            told(SentenceSign::Waits, format!("{agent} is blocked ({reason}){needs}"))
        }
        (Ending::NeedsClarification, _) => told(SentenceSign::Waits, format!("{agent} has questions")),
        // What must be verified is told when it is.
        (Ending::Complete | Ending::NeedsReview, State::Verifying) => Vec::new(),
        (Ending::NeedsReview, _) => told(SentenceSign::Waits, format!("{agent} asks for a review")),
        (Ending::Complete, State::Completed { .. }) if !tracked.passed() => {
            told(SentenceSign::Failed, not_good(tracked))
        }
        (Ending::Complete, State::Completed { .. }) => told(SentenceSign::Done, outcome(tracked, &[])),
        (Ending::Complete, _) => Vec::new(),
    }
}

/// Returns when it continues without an answer, if it does.
fn or_silence(run: &Run, tracked: &TrackedHandoff) -> String {
    flow::lapses_at(run, tracked).map(|at| format!("; {}", lapses(at))).unwrap_or_default()
}

/// Returns what is warned of with a failure.
pub(crate) fn warnings_of(fail: &Fail) -> &[String] {
    fail.document.as_ref().map_or(&fail.warnings, |document| &document.warnings)
}

/// Returns what is warned of in a report: by its program first, then by rules.
pub(crate) fn warned(warnings: &[String]) -> Option<String> {
    let first = brief(warnings.first()?);
    match warnings.len() - 1 {
        0 => Some(first),
        more => Some(format!("{first} (and {more} more)")),
    }
}

fn not_good(tracked: &TrackedHandoff) -> String {
    let report = tracked.report();
    let summary = report.and_then(|report| report.summary.as_deref().or(report.next_context())).map(brief);
    let verdict = report.and_then(|report| report.verdict.clone()).filter(|_| tracked.step.role == Role::Work);
    match (verdict, summary) {
        (Some(verdict), Some(summary)) => format!("{verdict}: {summary}"),
        (Some(text), None) | (None, Some(text)) => text,
        (None, None) => "it did not pass".to_owned(),
    }
}

/// Returns how a visit ended well, and what was seen of its claims.
fn outcome(tracked: &TrackedHandoff, examined: &[ExaminedClaim]) -> String {
    let mut parts = Vec::new();
    match tracked.step.role {
        Role::Work => parts.push(tracked.handoff.terms.to.clone()),
        Role::Delegation => parts.push("has answered".to_owned()),
        Role::Group => {
            let summary = tracked.report().and_then(|report| report.summary.as_deref());
            // The line begins with its name already.
            let name = format!("{}: ", tracked.step.phase);
            parts.extend(summary.map(|summary| brief(summary.strip_prefix(&name).unwrap_or(summary))));
        }
        Role::Check => parts.push("passed".to_owned()),
        Role::Run | Role::Gate | Role::Escalation | Role::Failure | Role::Limit => {}
    }
    parts.extend(Some(verdicts(examined)).filter(|text| !text.is_empty()));
    parts.join(", ")
}

/// Counts verdicts: `5 verified, 1 refuted`.
pub(crate) fn verdicts(examined: &[ExaminedClaim]) -> String {
    let (allowed, counted): (Vec<&ExaminedClaim>, Vec<&ExaminedClaim>) =
        examined.iter().partition(|examined| examined.allowed.is_some());
    let count = |verdict: ClaimFinding| counted.iter().filter(|examined| examined.verdict == verdict).count();
    let counts = [
        (count(ClaimFinding::Verified), "verified"),
        (count(ClaimFinding::Refuted), "refuted"),
        (count(ClaimFinding::Unverifiable), "unverifiable"),
        (allowed.len(), "refuted but allowed"),
    ];
    let told: Vec<String> =
        counts.iter().filter(|(count, _)| *count > 0).map(|(count, word)| format!("{count} {word}")).collect();
    told.join(", ")
}

fn is_repaired(tracked: &TrackedHandoff) -> bool {
    tracked.session.as_ref().is_some_and(|session| session.next == NextTurn::Repairs)
}

fn failed(tracked: &TrackedHandoff, why: &str) -> String {
    attempt_failed(tracked, &brief(why))
}

fn attempt_failed(tracked: &TrackedHandoff, why: &str) -> String {
    let next = match &tracked.handoff.state {
        State::Pending { ready_at } => {
            let pause = span(tracked.handoff.changed_at, *ready_at).as_secs();
            match pause {
                0 if is_repaired(tracked) => "; repaired in the same session".to_owned(),
                0 => "; tried again".to_owned(),
                seconds => format!("; tried again in {}", briefly(Duration::from_secs(seconds))),
            }
        }
        _ => String::new(),
    };
    // Nobody has begun what nobody has claimed.
    let attempt = Some(tracked.attempts).filter(|attempts| *attempts > 0);
    let attempt = attempt.map(|attempt| format!("attempt {attempt}: ")).unwrap_or_default();
    format!("{attempt}{why}{next}")
}

fn verified(run: &Run, tracked: &TrackedHandoff, verify: &Verify) -> Vec<EventSentence> {
    let told = |sign, text: String| vec![sentence(sign, tracked, text)];
    match (&verify.verdict, &tracked.handoff.state) {
        (Verdict::Refuted { reasons, .. }, _) => {
            let seen = verdicts(&verify.examined);
            told(SentenceSign::Failed, format!("{} ({seen})", failed(tracked, &format!("refuted: {reasons}"))))
        }
        (Verdict::Verified, State::AwaitingPerson { .. }) => match (asked_again(verify), left_open(verify)) {
            (Some(changed), _) => told(SentenceSign::Waits, format!("{changed}; a person must look again")),
            (None, Some(open)) if tracked.step.role == Role::Gate => {
                told(SentenceSign::Waits, format!("a person must decide: {open}"))
            }
            (None, None) if tracked.step.role == Role::Gate => {
                told(SentenceSign::Waits, format!("a person must decide{}", or_silence(run, tracked)))
            }
            (None, _) => {
                let (outcome, silence) = (outcome(tracked, &verify.examined), or_silence(run, tracked));
                told(SentenceSign::Waits, format!("{outcome}; a person must approve it{silence}"))
            }
        },
        (Verdict::Verified, _) if !tracked.passed() => told(SentenceSign::Failed, not_good(tracked)),
        // That a person has approved it was told before.
        (Verdict::Verified, _) if tracked.step.role == Role::Gate => Vec::new(),
        (Verdict::Verified, _) => told(SentenceSign::Done, outcome(tracked, &tracked.examined)),
    }
}

/// Names the approved files that have changed since they were shown; `None` if that is not why a person is asked.
pub fn asked_again(verify: &Verify) -> Option<String> {
    claims(evidence::changed_since_shown(&verify.examined))
}

/// Names what a person must look at because nothing can verify it; `None` if there is nothing.
pub fn left_open(verify: &Verify) -> Option<String> {
    claims(evidence::left_to_person(&verify.examined))
}

fn claims<'e>(examined: impl Iterator<Item = &'e ExaminedClaim>) -> Option<String> {
    let mut claims: Vec<&str> = examined.map(|examined| examined.claim.as_str()).collect();
    claims.dedup();
    (!claims.is_empty()).then(|| brief(&claims.join("; ")))
}

fn decided(tracked: &TrackedHandoff, decide: &Decide) -> Vec<EventSentence> {
    let (word, text) = decision(decide);
    let text = text.map(|text| format!(": {}", brief(&text))).unwrap_or_default();
    let votes = tracked.handoff.approved_so_far().map(|votes| format!(", {votes}")).unwrap_or_default();
    let mut told = vec![sentence(
        SentenceSign::Decided,
        tracked,
        format!("{word} by {} ({}){votes}{text}", decide.who(), decide.way()),
    )];
    if matches!(tracked.handoff.state, State::Completed { .. }) && tracked.step.role == Role::Work {
        told.push(sentence(SentenceSign::Done, tracked, outcome(tracked, &tracked.examined)));
    }
    told
}

/// Returns what somebody has decided in a word, and what was said with it.
pub(crate) fn decision(decide: &Decide) -> (&'static str, Option<String>) {
    let (word, text) = match &decide.decision {
        Decision::Approve => ("approved", None),
        Decision::Reject { feedback } => ("rejected", Some(feedback)),
        Decision::Answer { answers } => ("answered", Some(answers)),
        Decision::Ask { question } => ("asked", Some(question)),
    };
    let said: Vec<&str> = text.into_iter().chain(&decide.note).map(String::as_str).collect();
    (word, (!said.is_empty()).then(|| said.join(": ")))
}

/// The sentence when a person is asked about a limit, unless a route has mentioned it already.
fn limited(run: &Run, question: &TrackedHandoff) -> Vec<EventSentence> {
    let about = question.step.about.as_ref().and_then(|about| run.find(about));
    if about.and_then(|about| about.route.as_ref()).is_some_and(|route| route.to == HUMAN) {
        return Vec::new();
    }
    let asked = flow::question(run, question).map(|question| question.title).unwrap_or_default();
    vec![sentence(SentenceSign::Waits, question, format!("a person must decide: {}", brief(&asked)))]
}

/// The sentence about where the run goes, if that is not simply the next phase.
fn routed(run: &Run, tracked: &TrackedHandoff, route: &Route) -> Vec<EventSentence> {
    let mut told = Vec::new();
    let mut tell = |sign, text: String| told.push(sentence(sign, tracked, text));
    let why = brief(&route.why);
    match tracked.step.role {
        Role::Delegation | Role::Escalation => {}
        _ if matches!(tracked.handoff.state, State::Blocked { .. }) => {
            let to = if route.to == HUMAN { "a person" } else { &route.to };
            tell(SentenceSign::Delegated, format!("to {to}: {why}"));
        }
        _ if is_back(run, tracked, &route.to) => {
            // That it has failed is told already; here it is said with what.
            let failure = tracked.handoff.last_failure.as_ref();
            let failure = failure.filter(|_| matches!(tracked.handoff.state, State::Failed { .. }));
            let why = match failure {
                Some(failure) if failure.code == Code::rejected() => brief(&format!("rejected: {}", failure.message)),
                Some(failure) if failure.code != Code::stopped() => brief(&failure.in_one_line()),
                Some(_) | None => why,
            };
            tell(SentenceSign::Back, format!("to {}: {why}", route.to));
        }
        _ if route.to == HUMAN => tell(SentenceSign::Waits, format!("a person must decide: {why}")),
        _ if route.to == "stop" && in_run(run, tracked) => tell(SentenceSign::Failed, format!("stopped: {why}")),
        _ => {}
    }
    if let Some(advice) = &route.instead_of {
        tell(SentenceSign::Skipped, format!("next: {} (the agent suggested {})", route.to, advised(advice)));
    }
    let prefix = tracked.step.phase.rsplit_once('/').map(|(prefix, _)| format!("{prefix}/")).unwrap_or_default();
    for skipped in &route.skipped {
        let text = one_line(&format!("skipped: `{}` is false", skipped.when));
        told.push(EventSentence {
            sign: SentenceSign::Skipped,
            place: format!("{prefix}{}", skipped.phase),
            text,
            took: None,
        });
    }
    told
}

/// Names who has decided what somebody is asked at another door.
pub fn decided_elsewhere(decide: &Decide) -> String {
    let done = match decide.decision {
        Decision::Approve => "approved it",
        Decision::Reject { .. } => "rejected it",
        Decision::Answer { .. } => "answered it",
        Decision::Ask { .. } => "asked something about it",
    };
    format!("{} has {done} elsewhere", decide.who())
}

/// Returns what an agent advised; older journals say at its end that the agent did so.
fn advised(instead_of: &str) -> &str {
    instead_of.strip_suffix(", as the agent advised").unwrap_or(instead_of)
}

/// Returns whether it belongs to the run itself; what is in a group is judged with the others.
fn in_run(run: &Run, tracked: &TrackedHandoff) -> bool {
    tracked.step.within.as_ref().is_none_or(|within| *within == run.root().handoff.id)
}

/// Returns whether a phase is the same one or stands before it.
fn is_back(run: &Run, tracked: &TrackedHandoff, to: &str) -> bool {
    let (here, there) = (run.definition.locate(&tracked.step.phase), run.definition.locate(to));
    match (here, there) {
        (Some(here), Some(there)) => here.prefix == there.prefix && there.index <= here.index,
        _ => false,
    }
}

/// Returns whether something is going on that people want to see; what holds others shows in them.
pub fn is_going_on(tracked: &TrackedHandoff) -> bool {
    !tracked.handoff.state.name().is_finished() && !matches!(tracked.step.role, Role::Run | Role::Group)
}

/// Describes in a few words what is going on with a handoff that is not finished.
pub fn going_on(tracked: &TrackedHandoff) -> String {
    let agent = &tracked.handoff.terms.to;
    match &tracked.handoff.state {
        State::Pending { .. } if tracked.step.role == Role::Group => "its phases are running".to_owned(),
        State::Pending { .. } if tracked.attempts > 0 => format!("{agent}, attempt {} follows", tracked.attempts + 1),
        State::Pending { .. } => format!("waits for {agent}"),
        State::Claimed { .. } if tracked.attempts > 1 => format!("{agent}, attempt {}", tracked.attempts),
        State::Claimed { .. } => agent.clone(),
        State::Verifying if tracked.handoff.approved => "approved; its files are checked once more".to_owned(),
        State::Verifying if tracked.step.role == Role::Gate => "checking the files that it is about".to_owned(),
        State::Verifying => format!("{agent}, its claims are examined"),
        State::Blocked { reason } => format!("{agent} is blocked: {}", cut(&one_line(reason), 40)),
        State::AwaitingPerson { ask: Ask::Review } => "a person must approve or reject it".to_owned(),
        State::AwaitingPerson { ask: Ask::Clarification } => format!("{agent} waits for answers"),
        State::AwaitingPerson { ask: Ask::Gate } => "a person must decide".to_owned(),
        State::Completed { .. } | State::Failed { .. } | State::Cancelled { .. } => "is dealt with".to_owned(),
    }
}

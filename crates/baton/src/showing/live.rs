//! A run on a terminal: a line for each thing that is going on, which stays when it is over.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use baton_engine::agent::Job;
use baton_engine::driver::{Audience, News, Seen};
use baton_engine::handoff::State;
use baton_engine::journal::{Event, Fact};
use baton_engine::lifecycle::Command;
use baton_engine::run::{Run, TrackedHandoff};
use baton_engine::session::dollars;
use baton_engine::step::Role;
use baton_engine::{Clock, HandoffId};
use baton_protocol::printable;
use baton_views::activity::{Pulse, thousands};
use baton_views::run_summary::phases_done;
use baton_views::sentence::{EventSentence, SentenceSign, decided_elsewhere, going_on, sentences};
use baton_views::step_name::StepName;
use baton_views::words::{briefly, counted, cut, took};
use jiff::Timestamp;
use rustix::process::{Signal, getpid, kill_process};
use tokio::signal::unix::{SignalKind, signal};

use super::panel::Panel;
use super::quiet_keyboard::QuietKeyboard;
use crate::command_error::CommandError;
use crate::logs;
use crate::output::Output;
use crate::people::keyboard::forget_what_was_typed;
use crate::people::talk::Screen;
use crate::render::columns;
use crate::render::sheet::{Paint, Tint, wrapped};

/// How many things that are going on are shown; more would fill the terminal.
const ROWS_MAX: usize = 10;

/// Calls somebody who looks elsewhere.
const BELL: &[u8] = b"\x07";

/// How often what is going on is drawn.
const TICK: Duration = Duration::from_millis(120);

/// How many times it is drawn before the output of agents is looked at again.
const TICKS_PER_LOOK: u64 = 4;

/// How wide names of phases are at least and at most.
const PLACE: (usize, usize) = (12, 28);

/// On a terminal that is narrower than this, texts go on at its left border.
const NARROW: usize = 60;

/// The signs that turn in front of what is going on.
const SPINNER: [char; 10] = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

/// Shows a run on a terminal.
pub(super) struct Live {
    output: Output,
    clock: Arc<dyn Clock>,
    drawn: Arc<Mutex<Drawn>>,
    ticker: Mutex<Option<(Sender<()>, JoinHandle<()>)>>,
    keyboard: QuietKeyboard,
}

#[derive(Default)]
struct Drawn {
    panel: Panel,
    rows: Vec<Row>,
    /// What the agents do.
    pulses: HashMap<HandoffId, Pulse>,
    /// How many more are going on than have a row.
    more: usize,
    /// When the run began, and how far it is; below everything else.
    total: Option<(Timestamp, String)>,
    /// How often it was drawn.
    ticks: u64,
    /// What somebody is asked about, so that nothing may be drawn.
    held: Option<HandoffId>,
    /// Whether somebody was asked: what they have typed since may be meant for that.
    has_asked: bool,
    /// What happened meanwhile.
    kept: String,
}

/// The line of one thing that is going on.
struct Row {
    id: HandoffId,
    name: String,
    begun: Timestamp,
    /// Who works on it, or what it waits for.
    doing: String,
    tokens: u64,
    /// Where the agent writes, while it works.
    folder: Option<PathBuf>,
    /// The last line of what it has written.
    output: Option<String>,
}

impl Drawn {
    /// Returns the lines for a terminal of this height. They take about a third of it: what is finished stays in sight, and
    /// they still fit where a window that becomes narrower wraps them.
    fn lines(&self, now: Timestamp, height: usize) -> Vec<String> {
        let since = |begun: Timestamp| briefly(Duration::try_from(now.duration_since(begun)).unwrap_or_default());
        let widest = |widths: &mut dyn Iterator<Item = usize>| widths.max().unwrap_or_default();
        let name = widest(&mut self.rows.iter().map(|row| columns::width(&row.name)));
        let time = widest(&mut self.rows.iter().map(|row| since(row.begun).len())).max(4);
        let spinner = SPINNER[(self.ticks % SPINNER.len() as u64) as usize];
        let line = |row: &Row| {
            let place = columns::padded(&row.name, name);
            format!("{spinner} {place} {:>time$} {}", since(row.begun), self.told(row, now))
        };
        let all = self.rows.len() + self.more;
        let room = (height / 3).saturating_sub(1).max(1);
        let fitting = if all > room { room.saturating_sub(1).max(1) } else { all }.min(self.rows.len());
        let mut lines: Vec<String> = self.rows[..fitting].iter().map(line).collect();
        lines.extend((all > fitting).then(|| format!("  … and {} more", all - fitting)));
        lines.extend(self.total.as_ref().map(|(begun, told)| format!("  {} · {told}", since(*begun))));
        lines
    }

    /// Writes what is going on in a row: what the agent tells itself, or else the last line that it has written.
    fn told(&self, row: &Row, now: Timestamp) -> String {
        let more = match (self.pulses.get(&row.id), &row.output) {
            (Some(pulse), _) => pulse.told(now),
            (None, Some(line)) => line.clone(),
            (None, None) if row.tokens > 0 => format!("{} tokens", row.tokens),
            (None, None) => String::new(),
        };
        printable(&if more.is_empty() { row.doing.clone() } else { format!("{} · {more}", row.doing) })
    }

    /// Draws everything again.
    fn refresh(&mut self, output: Output, now: Timestamp) {
        if self.held.is_none() {
            let size = output.size_beside();
            let lines = self.lines(now, size.rows);
            output.pass_on(self.panel.replace(&lines, size).as_bytes());
        }
    }
}

impl Live {
    pub(super) fn new(output: Output, clock: Arc<dyn Clock>) -> Live {
        let drawn: Arc<Mutex<Drawn>> = Arc::default();
        let (stop, stopped) = channel();
        let (ticked, time) = (drawn.clone(), clock.clone());
        let thread = std::thread::spawn(move || tick(&ticked, output, &*time, &stopped));
        let keyboard = QuietKeyboard::default();
        keyboard.hush();
        Live { output, clock, drawn, ticker: Mutex::new(Some((stop, thread))), keyboard }
    }

    /// Stops drawing for good; what was told stays.
    pub(super) fn finish(&self) {
        if let Some((stop, thread)) = self.ticker.lock().unwrap_or_else(PoisonError::into_inner).take() {
            drop(stop);
            // It ends by itself a moment later.
            let _ = thread.join();
        }
        let mut drawn = self.drawn();
        let mut clear = drawn.panel.clear().to_owned();
        if drawn.held.take().is_some() {
            // The cursor is behind a prompt.
            clear.push('\n');
        }
        if drawn.has_asked {
            forget_what_was_typed();
        }
        self.keyboard.restore();
        self.output.pass_on(format!("{clear}{}", std::mem::take(&mut drawn.kept)).as_bytes());
    }

    /// Gives the shell a clean terminal when somebody presses Ctrl-Z.
    pub(super) fn watch_for_suspension(self: Arc<Live>) -> Result<(), CommandError> {
        let failed = |error| CommandError::internal(format!("cannot listen to signals: {error}"));
        let mut suspension = signal(SignalKind::from_raw(Signal::TSTP.as_raw())).map_err(failed)?;
        tokio::spawn(async move {
            while suspension.recv().await.is_some() {
                self.suspend();
            }
        });
        Ok(())
    }

    /// Stops the program; returns when it continues.
    fn suspend(&self) {
        let is_finished = self.ticker.lock().unwrap_or_else(PoisonError::into_inner).is_none();
        let mut drawn = self.drawn();
        self.output.pass_on(drawn.panel.clear().as_bytes());
        self.keyboard.restore();
        // A process may always stop itself; if it could not, the run would only go on.
        let _ = kill_process(getpid(), Signal::STOP);
        if drawn.held.is_none() && !is_finished {
            self.keyboard.hush();
        }
    }

    /// Prints something that stays.
    pub(super) fn say(&self, text: &str) {
        let mut drawn = self.drawn();
        if drawn.held.is_some() {
            drawn.kept.push_str(&format!("{text}\n"));
            return;
        }
        let clear = drawn.panel.clear();
        self.output.pass_on(format!("{clear}{text}\n").as_bytes());
        drawn.refresh(self.output, self.clock.now());
    }

    /// Takes back what somebody is asked here, if this event has decided it elsewhere.
    fn take_back(&self, run: &Run, event: &Event) {
        let mut drawn = self.drawn();
        if drawn.held.as_ref() != Some(&event.handoff) {
            return;
        }
        let waits = |tracked: &TrackedHandoff| matches!(tracked.handoff.state, State::AwaitingPerson { .. });
        let why = match event.fact() {
            Ok(Fact::Happened(Command::Decide(decide))) => decided_elsewhere(&decide),
            _ if run.find(&event.handoff).is_some_and(waits) => return,
            _ => "this question was withdrawn".to_owned(),
        };
        drawn.held = None;
        forget_what_was_typed();
        self.keyboard.hush();
        let why = self.output.paint_beside().fitted(&printable(&why));
        self.output.pass_on(format!("\n{why}\n{}", std::mem::take(&mut drawn.kept)).as_bytes());
    }

    fn drawn(&self) -> MutexGuard<'_, Drawn> {
        self.drawn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn line(&self, run: &Run, told: &EventSentence) -> String {
        let paint = self.output.paint_beside();
        let tint = match told.sign {
            SentenceSign::Done => Tint::Green,
            SentenceSign::Failed => Tint::Red,
            SentenceSign::Back | SentenceSign::Again | SentenceSign::Waits | SentenceSign::Warned => Tint::Yellow,
            SentenceSign::Delegated | SentenceSign::Decided => Tint::Cyan,
            SentenceSign::Begins | SentenceSign::Skipped => Tint::Faint,
        };
        let took = told.took.map(|duration| format!(" · {}", took(duration))).unwrap_or_default();
        let place = columns::padded(&told.place, width(run));
        // What does not fit goes on below itself, not below the names.
        let indent = if paint.columns < NARROW { 2 } else { width(run) + 3 };
        // In plain lines that is the first word.
        let back = if told.sign == SentenceSign::Back { "back " } else { "" };
        let text = hanging(&format!("{back}{}{took}", told.text), paint.columns, columns::width(&place) + 3, indent);
        format!("{} {} {text}", paint.tint(tint, told.sign.mark()), paint.tint(Tint::Strong, &place))
    }

    /// Draws what is going on now, and nothing else.
    fn draw(&self, run: &Run, examined: Option<&HandoffId>) {
        let mut drawn = self.drawn();
        let shown: Vec<&TrackedHandoff> = run.open().filter(|tracked| is_shown(tracked)).collect();
        let is_claimed = |tracked: &TrackedHandoff| matches!(tracked.handoff.state, State::Claimed { .. });
        drawn.pulses.retain(|id, _| shown.iter().any(|tracked| tracked.handoff.id == *id && is_claimed(tracked)));
        let row = |tracked: &&TrackedHandoff| {
            let id = &tracked.handoff.id;
            let is_examined = examined == Some(id) && tracked.step.role != Role::Gate;
            let name = printable(&cut(&StepName::of(tracked).to_string(), PLACE.1));
            let works = is_claimed(tracked) && tracked.step.role != Role::Gate;
            let folder = works.then(|| run.attempt_folder(id, tracked.handoff.fence));
            Row {
                id: id.clone(),
                name: columns::padded(&name, width(run)),
                begun: tracked.begun_at.unwrap_or(tracked.handoff.accepted_at),
                doing: match is_examined {
                    true => format!("{}, its claims are examined", tracked.handoff.terms.to),
                    false => going_on(tracked),
                },
                tokens: tracked.tokens(),
                output: folder.as_deref().and_then(logs::last_line),
                folder,
            }
        };
        drawn.rows = shown.iter().take(ROWS_MAX).map(row).collect();
        drawn.more = shown.len().saturating_sub(ROWS_MAX);
        drawn.total = Some((run.started_at, how_far(run)));
        drawn.refresh(self.output, self.clock.now());
    }
}

/// Returns how many phases are done, and what was spent.
fn how_far(run: &Run) -> String {
    let (done, all) = phases_done(run);
    let used = &run.counted.used;
    let mut parts = vec![format!("{done} of {}", counted(all as u64, "phase"))];
    parts.extend((used.tokens > 0).then(|| format!("{} tokens", thousands(used.tokens))));
    parts.extend((used.cost_micros > 0).then(|| dollars(used.cost_micros)));
    parts.join(" · ")
}

/// Breaks a text so that it begins behind a name, and goes on below.
fn hanging(text: &str, columns: usize, before: usize, indent: usize) -> String {
    let mut lines = wrapped(text, columns.saturating_sub(before + 1)).into_iter();
    let first = lines.next().unwrap_or_default();
    let rest = lines.collect::<Vec<_>>().join(" ");
    let rest = wrapped(&rest, columns.saturating_sub(indent + 1));
    std::iter::once(first).chain(rest).collect::<Vec<_>>().join(&format!("\n{}", " ".repeat(indent)))
}

/// Returns whether it is worth a line of its own: what holds others shows in them.
fn is_shown(tracked: &TrackedHandoff) -> bool {
    let over = tracked.handoff.state.name().is_finished();
    !over
        && match tracked.step.role {
            Role::Run => false,
            Role::Group => false,
            // Whoever helps has a line already.
            Role::Work | Role::Delegation => {
                !(matches!(tracked.handoff.state, State::Blocked { .. }) && tracked.handoff.routed)
            }
            Role::Check | Role::Gate | Role::Escalation | Role::Failure | Role::Limit => true,
        }
}

/// Returns how wide the names of phases are.
fn width(run: &Run) -> usize {
    let names = run.definition.workflow.phases.iter().map(|phase| columns::width(phase.id()));
    names.max().unwrap_or_default().clamp(PLACE.0, PLACE.1)
}

fn tick(drawn: &Mutex<Drawn>, output: Output, clock: &dyn Clock, stopped: &Receiver<()>) {
    while stopped.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
        let mut drawn = drawn.lock().unwrap_or_else(PoisonError::into_inner);
        drawn.ticks += 1;
        if drawn.ticks.is_multiple_of(TICKS_PER_LOOK) {
            for row in &mut drawn.rows {
                row.output = row.folder.as_deref().and_then(logs::last_line);
            }
        }
        drawn.refresh(output, clock.now());
    }
}

impl Audience for Live {
    fn hear(&self, run: &Run, news: &News<'_>) {
        match news {
            News::Event(event) => {
                self.take_back(run, event);
                for told in sentences(run, event).iter().filter(|told| told.sign != SentenceSign::Begins) {
                    self.say(&self.line(run, told));
                }
                self.draw(run, None);
            }
            News::Examines(id) => self.draw(run, Some(id)),
            News::Begins(_) => self.draw(run, None),
            News::Asks(_) => {
                self.output.pass_on(BELL);
                self.draw(run, None);
            }
            News::Note(text) => self.say(&printable(text)),
        }
    }

    fn see(&self, job: &Job, seen: &Seen) {
        let now = self.clock.now();
        let mut drawn = self.drawn();
        drawn.pulses.entry(job.handoff.clone()).or_insert_with(|| Pulse::since(now)).take(seen, now);
    }
}

impl Screen for Live {
    fn write(&self, text: &str) {
        self.output.pass_on(text.as_bytes());
    }

    fn rows(&self) -> Option<usize> {
        self.output.rows()
    }

    fn hold(&self, handoff: &HandoffId) {
        let mut drawn = self.drawn();
        // Nothing is drawn over what somebody reads and types.
        drawn.held = Some(handoff.clone());
        drawn.has_asked = true;
        self.output.pass_on(drawn.panel.clear().as_bytes());
        self.keyboard.restore();
    }

    fn is_held(&self) -> bool {
        self.drawn().held.is_some()
    }

    fn go_on(&self) {
        let mut drawn = self.drawn();
        if drawn.held.take().is_none() {
            return;
        }
        self.keyboard.hush();
        self.output.pass_on(std::mem::take(&mut drawn.kept).as_bytes());
    }

    fn paint(&self) -> Paint {
        self.output.paint_beside()
    }
}

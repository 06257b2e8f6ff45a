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
use baton_engine::run::{Run, TrackedHandoff};
use baton_engine::session::dollars;
use baton_engine::step::Role;
use baton_engine::{Clock, HandoffId};
use baton_protocol::printable;
use baton_views::activity::{Pulse, thousands};
use baton_views::run_summary::phases_done;
use baton_views::sentence::{EventSentence, SentenceSign, going_on, sentences};
use baton_views::step_name::StepName;
use baton_views::words::{counted, cut, took};
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use jiff::Timestamp;

use super::quiet_keyboard::QuietKeyboard;
use crate::logs;
use crate::output::Output;
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

/// Shows a run on a terminal.
pub(super) struct Live {
    output: Output,
    clock: Arc<dyn Clock>,
    bars: MultiProgress,
    drawn: Arc<Mutex<Drawn>>,
    ticker: Mutex<Option<(Sender<()>, JoinHandle<()>)>>,
    keyboard: QuietKeyboard,
}

#[derive(Default)]
struct Drawn {
    rows: HashMap<HandoffId, ProgressBar>,
    /// What the agents do.
    pulses: HashMap<HandoffId, Pulse>,
    /// What is said about each of them beyond that.
    doing: HashMap<HandoffId, String>,
    /// Where those write that tell nothing themselves.
    folders: HashMap<HandoffId, PathBuf>,
    /// What does not fit.
    more: Option<ProgressBar>,
    /// How far the run is; below everything else.
    total: Option<ProgressBar>,
    /// Whether somebody is asked, so that nothing may be drawn.
    is_held: bool,
    /// What happened meanwhile.
    kept: String,
}

impl Live {
    pub(super) fn new(output: Output, clock: Arc<dyn Clock>) -> Live {
        let drawn: Arc<Mutex<Drawn>> = Arc::default();
        let (stop, stopped) = channel();
        let (ticked, time) = (drawn.clone(), clock.clone());
        // One thread for all lines; each of them could have its own.
        let thread = std::thread::spawn(move || tick(&ticked, &*time, &stopped));
        let keyboard = QuietKeyboard::default();
        keyboard.hush();
        Live { output, clock, bars: output.several(), drawn, ticker: Mutex::new(Some((stop, thread))), keyboard }
    }

    /// Stops drawing for good; what was told stays.
    pub(super) fn finish(&self) {
        if let Some((stop, thread)) = self.ticker.lock().unwrap_or_else(PoisonError::into_inner).take() {
            drop(stop);
            // It ends by itself a moment later.
            let _ = thread.join();
        }
        let mut drawn = self.drawn();
        drawn.rows.drain().for_each(|(_, bar)| bar.finish_and_clear());
        drawn.more.take().into_iter().chain(drawn.total.take()).for_each(|bar| bar.finish_and_clear());
        let _ = self.bars.clear();
        self.keyboard.restore();
        self.output.pass_on(std::mem::take(&mut drawn.kept).as_bytes());
    }

    /// Prints something that stays.
    pub(super) fn say(&self, text: &str) {
        let mut drawn = self.drawn();
        match drawn.is_held {
            true => drawn.kept.push_str(&format!("{text}\n")),
            false => self.bars.suspend(|| self.output.pass_on(format!("{text}\n").as_bytes())),
        }
    }

    fn drawn(&self) -> MutexGuard<'_, Drawn> {
        self.drawn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn line(&self, run: &Run, told: &EventSentence) -> String {
        let paint = self.output.paint_beside();
        let tint = match told.sign {
            SentenceSign::Done => Tint::Green,
            SentenceSign::Failed => Tint::Red,
            SentenceSign::Back | SentenceSign::Waits | SentenceSign::Warned => Tint::Yellow,
            SentenceSign::Delegated | SentenceSign::Decided => Tint::Cyan,
            SentenceSign::Begins | SentenceSign::Skipped => Tint::Faint,
        };
        let took = told.took.map(|duration| format!(" · {}", took(duration))).unwrap_or_default();
        let place = columns::padded(&told.place, width(run));
        // What does not fit goes on below itself, not below the names.
        let indent = if paint.columns < NARROW { 2 } else { width(run) + 3 };
        let text = hanging(&format!("{}{took}", told.text), paint.columns, columns::width(&place) + 3, indent);
        format!("{} {} {text}", paint.tint(tint, told.sign.mark()), paint.tint(Tint::Strong, &place))
    }

    /// Draws what is going on now, and nothing else.
    fn draw(&self, run: &Run, examined: Option<&HandoffId>) {
        let mut drawn = self.drawn();
        let total = drawn.total.get_or_insert_with(|| self.bars.add(total_row(run, self.clock.now())));
        total.set_message(how_far(run));
        let total = total.clone();
        let shown: Vec<&TrackedHandoff> = run.open().filter(|tracked| is_shown(tracked)).collect();
        let is_open = |id: &HandoffId| shown.iter().take(ROWS_MAX).any(|tracked| tracked.handoff.id == *id);
        let over: Vec<HandoffId> = drawn.rows.keys().filter(|id| !is_open(id)).cloned().collect();
        for id in over {
            drawn.pulses.remove(&id);
            drawn.doing.remove(&id);
            drawn.folders.remove(&id);
            let Some(bar) = drawn.rows.remove(&id) else { continue };
            bar.finish_and_clear();
            self.bars.remove(&bar);
        }
        let name = |tracked: &TrackedHandoff| cut(&StepName::of(tracked).to_string(), PLACE.1);
        let names = shown.iter().take(ROWS_MAX).map(|tracked| columns::width(&name(tracked)));
        let wide = names.max().unwrap_or_default().max(width(run));
        for tracked in shown.iter().take(ROWS_MAX) {
            let id = &tracked.handoff.id;
            let bar = match drawn.rows.get(id) {
                Some(bar) => bar.clone(),
                None => {
                    let below = drawn.more.as_ref().unwrap_or(&total);
                    let bar = self.bars.insert_before(below, self.row(tracked));
                    drawn.rows.insert(id.clone(), bar.clone());
                    bar
                }
            };
            let doing = match examined == Some(id) && tracked.step.role != Role::Gate {
                true => format!("{}, its claims are examined", tracked.handoff.terms.to),
                false => going_on(tracked),
            };
            if !matches!(tracked.handoff.state, State::Claimed { .. }) {
                drawn.pulses.remove(id);
            }
            let tokens = tracked.tokens();
            let tokens = if tokens > 0 { format!(" · {tokens} tokens") } else { String::new() };
            bar.set_prefix(columns::padded(&printable(&name(tracked)), wide));
            match drawn.pulses.get(id) {
                Some(pulse) => bar.set_message(beating(&doing, pulse, self.clock.now())),
                None => bar.set_message(printable(&format!("{doing}{tokens}"))),
            }
            drawn.doing.insert(id.clone(), doing);
            if matches!(tracked.handoff.state, State::Claimed { .. }) && tracked.step.role != Role::Gate {
                drawn.folders.insert(id.clone(), run.attempt_folder(id, tracked.handoff.fence));
            } else {
                drawn.folders.remove(id);
            }
        }
        let more = shown.len().saturating_sub(ROWS_MAX);
        match (more, drawn.more.take()) {
            (0, Some(bar)) => bar.finish_and_clear(),
            (0, None) => {}
            (more, bar) => {
                let bar = bar.unwrap_or_else(|| self.bars.insert_before(&total, styled("  {wide_msg}")));
                bar.set_message(format!("… and {more} more"));
                drawn.more = Some(bar);
            }
        }
    }

    fn row(&self, tracked: &TrackedHandoff) -> ProgressBar {
        let begun = tracked.begun_at.unwrap_or(tracked.handoff.accepted_at);
        let elapsed = Duration::try_from(self.clock.now().duration_since(begun)).unwrap_or_default();
        styled("{spinner} {prefix} {elapsed:>4} {wide_msg}").with_elapsed(elapsed)
    }
}

fn total_row(run: &Run, now: Timestamp) -> ProgressBar {
    let elapsed = Duration::try_from(now.duration_since(run.started_at)).unwrap_or_default();
    styled("  {elapsed} · {wide_msg}").with_elapsed(elapsed)
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

fn styled(template: &str) -> ProgressBar {
    // It draws nothing before it stands among the others.
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_spinner());
    bar.set_style(style.tick_chars("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏ "));
    bar
}

/// Writes what an agent does now behind who it is.
fn beating(doing: &str, pulse: &Pulse, now: Timestamp) -> String {
    let told = pulse.told(now);
    printable(&if told.is_empty() { doing.to_owned() } else { format!("{doing} · {told}") })
}

/// Shows the last line that those have written who tell nothing themselves.
fn tell_output(drawn: &Drawn) {
    for (id, folder) in drawn.folders.iter().filter(|(id, _)| !drawn.pulses.contains_key(id)) {
        let (Some(bar), Some(doing)) = (drawn.rows.get(id), drawn.doing.get(id)) else { continue };
        if let Some(line) = logs::last_line(folder) {
            bar.set_message(printable(&format!("{doing} · {line}")));
        }
    }
}

fn tick(drawn: &Mutex<Drawn>, clock: &dyn Clock, stopped: &Receiver<()>) {
    let mut ticks = 0_u64;
    while stopped.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
        ticks += 1;
        let drawn = drawn.lock().unwrap_or_else(PoisonError::into_inner);
        if !drawn.is_held {
            if ticks.is_multiple_of(TICKS_PER_LOOK) {
                tell_output(&drawn);
            }
            for (id, pulse) in &drawn.pulses {
                if let (Some(bar), Some(doing)) = (drawn.rows.get(id), drawn.doing.get(id)) {
                    bar.set_message(beating(doing, pulse, clock.now()));
                }
            }
            drawn.rows.values().chain(&drawn.total).for_each(ProgressBar::tick);
        }
    }
}

impl Audience for Live {
    fn hear(&self, run: &Run, news: &News<'_>) {
        match news {
            News::Event(event) => {
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

    fn hold(&self) {
        self.drawn().is_held = true;
        // Nothing is drawn over what somebody reads and types.
        let _ = self.bars.clear();
        self.bars.set_draw_target(ProgressDrawTarget::hidden());
        self.keyboard.restore();
    }

    fn go_on(&self) {
        let mut drawn = self.drawn();
        drawn.is_held = false;
        self.keyboard.hush();
        self.output.pass_on(std::mem::take(&mut drawn.kept).as_bytes());
        self.bars.set_draw_target(Output::drawn_beside());
    }

    fn paint(&self) -> Paint {
        self.output.paint_beside()
    }
}

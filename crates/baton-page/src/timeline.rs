//! When who worked, failed, repaired or waited: bars on one scale, on which long silence is short.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::time::Duration;

use baton_engine::handoff::State;
use baton_engine::journal::{Event, Fact};
use baton_engine::lifecycle::{Command, Verdict};
use baton_engine::run::{Run, TrackedHandoff};
use baton_engine::{EventKind, HandoffId};
use baton_views::words::{briefly, span, took};
use jiff::Timestamp;
use maud::{Markup, html};

/// A silence is drawn as long as this part of all work.
const GAP_SHARE: f64 = 0.06;

/// The narrowest bar, in percent.
const BAR_WIDTH_MIN: f64 = 0.7;

/// While a run goes on, the scale is stretched in steps of this factor: bars grow into free room and stay where they are
/// otherwise, instead of all moving with every second.
const ROOM_TO_GROW: f64 = 1.15;

/// More attempts of one handoff than this are drawn as one bar.
const BARS_MAX: usize = 12;

/// How many silences are marked and named.
const NAMED_GAPS_MAX: usize = 5;

/// What a stretch of time was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BarKind {
    /// Work that was handed in.
    Worked,
    /// An attempt that failed or whose report was refuted.
    Failed,
    /// An attempt that was called off.
    CalledOff,
    /// A report was repaired in the same session.
    Repaired,
    /// Somebody works now.
    Works,
    /// A person was or is waited for.
    Person,
    /// Somebody else was or is waited for.
    Blocked,
    /// It waits to be claimed.
    Queued,
    /// Earlier attempts, too many to be told apart.
    Several,
}

impl BarKind {
    fn class(self) -> &'static str {
        match self {
            BarKind::Worked => "bar-worked",
            BarKind::Failed => "bar-failed",
            BarKind::CalledOff => "bar-cancelled",
            BarKind::Repaired => "bar-repaired",
            BarKind::Works => "bar-works",
            BarKind::Person => "bar-person",
            BarKind::Blocked => "bar-blocked",
            BarKind::Queued => "bar-queued",
            BarKind::Several => "bar-several",
        }
    }

    fn words(self) -> &'static str {
        match self {
            BarKind::Worked => "worked",
            BarKind::Failed => "failed or was refuted",
            BarKind::CalledOff => "was called off",
            BarKind::Repaired => "repaired its report",
            BarKind::Works => "works",
            BarKind::Person => "waited for a person",
            BarKind::Blocked => "was blocked",
            BarKind::Queued => "waits to be claimed",
            BarKind::Several => "made many attempts",
        }
    }

    fn is_work(self) -> bool {
        matches!(self, BarKind::Worked | BarKind::Failed | BarKind::Repaired | BarKind::Works | BarKind::Several)
    }
}

/// One stretch of time of a handoff.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Bar {
    pub(crate) kind: BarKind,
    from: Timestamp,
    to: Timestamp,
}

/// All bars of a run, and the scale for them.
#[derive(Debug, Default)]
pub(crate) struct Timeline {
    bars: HashMap<HandoffId, Vec<Bar>>,
    scale: Scale,
}

impl Timeline {
    /// Reads the bars from a journal.
    pub(crate) fn of(run: &Run, events: &[Event], now: Timestamp) -> Timeline {
        let mut drawing: HashMap<HandoffId, Drawing> = HashMap::new();
        for event in events.iter().filter(|event| event.handoff.as_str() != run.id.as_str()) {
            drawing.entry(event.handoff.clone()).or_insert_with(|| Drawing::since(event.at)).take(event);
        }
        let end = run.root().handoff.state.finished_at().unwrap_or(now);
        let finish = |(id, drawing): (HandoffId, Drawing)| {
            let bars = run.find(&id).map(|tracked| drawing.finish(tracked, end)).unwrap_or_default();
            (id, bars)
        };
        let bars: HashMap<HandoffId, Vec<Bar>> = drawing.into_iter().map(finish).collect();
        let is_over = run.root().handoff.state.finished_at().is_some();
        let scale = Scale::of(bars.values().flatten(), run.started_at, end, if is_over { 1.0 } else { ROOM_TO_GROW });
        Timeline { bars, scale }
    }

    /// Draws the bars of one handoff.
    pub(crate) fn track(&self, id: &HandoffId) -> Markup {
        let bars = self.bars.get(id).map(Vec::as_slice).unwrap_or_default();
        let words: Vec<String> = bars.iter().map(bar_words).collect();
        html! {
            svg.track width="100%" height="20" role="img" aria-label=(in_words(&words)) {
                @for gap in &self.scale.gaps { rect.gap x=(percent(gap.from)) width=(percent(gap.to - gap.from)) height="20" {} }
                @for (bar, words) in bars.iter().zip(&words) {
                    @let (x, width) = self.scale.place(bar);
                    rect.(bar.kind.class()) x=(percent(x)) y="4" width=(percent(width)) height="12" rx="3" { title { (words) } }
                }
            }
        }
    }

    /// Names the silences above the tracks.
    pub(crate) fn axis(&self) -> Markup {
        html! {
            svg.axis width="100%" height="18" role="img" aria-label="Silence that is drawn short" {
                @for gap in &self.scale.gaps {
                    text x=(percent((gap.from + gap.to) / 2.0)) y="13" text-anchor="middle" { "⋯ " (briefly(gap.length)) }
                }
            }
        }
    }
}

/// Describes the last bars in words.
fn in_words(words: &[String]) -> String {
    match words {
        [] => "not begun".to_owned(),
        [.., _, _, _, _] => format!("{} stretches, the last: {}", words.len(), words[words.len() - 1]),
        few => few.join(", "),
    }
}

fn bar_words(bar: &Bar) -> String {
    format!("{} for {}", bar.kind.words(), took(span(bar.from, bar.to)))
}

fn percent(value: f64) -> String {
    format!("{value:.1}%")
}

/// The bars of a handoff while its events are read.
struct Drawing {
    bars: Vec<Bar>,
    /// When the last event happened.
    last: Timestamp,
    /// When the open attempt began, and whether it repairs a report.
    open: Option<(Timestamp, bool)>,
}

impl Drawing {
    fn since(at: Timestamp) -> Drawing {
        Drawing { bars: Vec::new(), last: at, open: None }
    }

    fn take(&mut self, event: &Event) {
        let at = event.at;
        if event.is(EventKind::Claimed) {
            self.open = Some((at, repairs(event)));
        } else if event.is(EventKind::Reported) {
            self.close(at, BarKind::Worked);
        } else if event.is(EventKind::Failed) || event.is(EventKind::Expired) || event.is(EventKind::Released) {
            self.close(at, BarKind::Failed);
        } else if event.is(EventKind::Verified) {
            self.verified(event);
        } else if event.is(EventKind::Decided) {
            self.push(BarKind::Person, self.last, at);
        } else if event.is(EventKind::Resumed) {
            self.push(BarKind::Blocked, self.last, at);
        } else if event.is(EventKind::Extended) || event.is(EventKind::Refused) {
            return;
        }
        self.last = at;
    }

    fn close(&mut self, at: Timestamp, kind: BarKind) {
        let Some((from, repairs)) = self.open.take() else { return };
        let kind = if repairs && kind == BarKind::Worked { BarKind::Repaired } else { kind };
        self.push(kind, from, at);
    }

    /// What is verified belongs to the attempt; what is refuted has failed.
    fn verified(&mut self, event: &Event) {
        let refuted = matches!(
            event.fact(),
            Ok(Fact::Happened(Command::Verify(verify))) if matches!(verify.verdict, Verdict::Refuted { .. })
        );
        let is_work = |bar: &&mut Bar| bar.kind.is_work();
        if let Some(bar) = self.bars.last_mut().filter(is_work) {
            bar.to = event.at;
            bar.kind = if refuted { BarKind::Failed } else { bar.kind };
        }
    }

    fn push(&mut self, kind: BarKind, from: Timestamp, to: Timestamp) {
        self.bars.push(Bar { kind, from, to });
    }

    fn finish(mut self, tracked: &TrackedHandoff, end: Timestamp) -> Vec<Bar> {
        match (&tracked.handoff.state, self.open) {
            // Whoever has not been heard of since the lease ended may not work any more.
            (State::Claimed { lease }, Some((from, _))) => self.push(BarKind::Works, from, end.min(lease.until)),
            (State::AwaitingPerson { .. }, _) => self.push(BarKind::Person, self.last, end),
            (State::Blocked { .. }, _) => self.push(BarKind::Blocked, self.last, end),
            (State::Pending { .. }, _) => self.push(BarKind::Queued, self.last, end),
            (State::Cancelled { .. }, Some((from, _))) => self.push(BarKind::CalledOff, from, self.last),
            (_, Some((from, _))) => self.push(BarKind::Failed, from, self.last),
            _ => {}
        }
        // What was handed in counts as it ended: a check that did not pass has failed.
        let ended = matches!(tracked.handoff.state, State::Completed { .. }) && !tracked.passed();
        if let Some(bar) = self.bars.last_mut().filter(|bar| ended && bar.kind.is_work()) {
            bar.kind = BarKind::Failed;
        }
        few(self.bars)
    }
}

/// Puts the first of very many bars together.
fn few(mut bars: Vec<Bar>) -> Vec<Bar> {
    let Some(first) = bars.len().checked_sub(BARS_MAX).filter(|count| *count > 0) else { return bars };
    let several = Bar { kind: BarKind::Several, from: bars[0].from, to: bars[first].to };
    bars.splice(..=first, [several]);
    bars
}

/// Returns whether a claim repairs a report in the same session.
fn repairs(event: &Event) -> bool {
    // Most claims do not, and most of a claim need not be read to know that.
    event.detail.contains("\"repairs\"")
        && matches!(
            event.fact(),
            Ok(Fact::Happened(Command::Claim(claim))) if claim.session.as_ref().is_some_and(|turn| turn.repairs)
        )
}

/// A silence that is drawn shorter than it was.
#[derive(Debug)]
struct Gap {
    from: f64,
    to: f64,
    length: Duration,
}

/// Turns times into percent of the width.
#[derive(Debug, Default)]
struct Scale {
    /// Times in milliseconds with their place, in order.
    points: Vec<(i64, f64)>,
    gaps: Vec<Gap>,
}

impl Scale {
    /// Makes the scale of these bars. With a `step` above 1 its width is the next power of it, so that it seldom changes.
    fn of<'b>(bars: impl Iterator<Item = &'b Bar>, start: Timestamp, end: Timestamp, step: f64) -> Scale {
        let milliseconds = |time: Timestamp| time.as_millisecond();
        let mut work: Vec<(i64, i64)> = bars
            .filter(|bar| bar.kind.is_work())
            .map(|bar| (milliseconds(bar.from), milliseconds(bar.to).max(milliseconds(bar.from))))
            .collect();
        work.sort_unstable();
        let busy = merged(&work);
        let total: i64 = busy.iter().map(|(from, to)| to - from).sum();
        let gap_max = if busy.is_empty() { f64::MAX } else { (total as f64 * GAP_SHARE).max(1_000.0) };
        let (mut here, mut place) = (milliseconds(start), 0.0);
        let mut points = vec![(here, place)];
        let mut short = Vec::new();
        let last = (milliseconds(end).max(here), milliseconds(end).max(here));
        for (from, to) in busy.into_iter().chain([last]) {
            let gap = (from - here).max(0) as f64;
            let drawn = gap.min(gap_max);
            if gap > gap_max * 1.5 {
                short.push((place, place + drawn, Duration::from_millis(gap as u64)));
            }
            place += drawn;
            points.push((from.max(here), place));
            place += (to - from.max(here)).max(0) as f64;
            here = to.max(here);
            points.push((here, place));
        }
        // Only the longest are worth a mark.
        short.sort_by_key(|(_, _, length)| Reverse(*length));
        short.truncate(NAMED_GAPS_MAX);
        let width = if place > 0.0 { place } else { 1.0 };
        let width = if step > 1.0 { step.powf(width.log(step).ceil()) } else { width };
        let share = |place: f64| place * 100.0 / width;
        Scale {
            points: points.into_iter().map(|(time, place)| (time, share(place))).collect(),
            gaps: short
                .into_iter()
                .map(|(from, to, length)| Gap { from: share(from), to: share(to), length })
                .collect(),
        }
    }

    fn at(&self, time: Timestamp) -> f64 {
        let time = time.as_millisecond();
        let after = self.points.partition_point(|(known, _)| *known <= time);
        match (after.checked_sub(1).and_then(|before| self.points.get(before)), self.points.get(after)) {
            (Some((from, low)), Some((to, high))) if to > from => {
                low + (high - low) * (time - from) as f64 / (to - from) as f64
            }
            (Some((_, place)), _) => *place,
            (None, _) => 0.0,
        }
    }

    fn place(&self, bar: &Bar) -> (f64, f64) {
        let (from, to) = (self.at(bar.from), self.at(bar.to));
        let width = (to - from).max(BAR_WIDTH_MIN);
        (from.min(100.0 - width), width)
    }
}

fn merged(sorted: &[(i64, i64)]) -> Vec<(i64, i64)> {
    let mut merged: Vec<(i64, i64)> = Vec::new();
    for (from, to) in sorted {
        match merged.last_mut() {
            Some((_, end)) if from <= end => *end = (*end).max(*to),
            _ => merged.push((*from, *to)),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn very_many_attempts_are_few_bars() {
        let bars: Vec<Bar> = (0..100)
            .map(|at_second| Bar { kind: BarKind::Failed, from: at(at_second), to: at(at_second + 1) })
            .collect();
        let few = few(bars.clone());
        assert_eq!((few.len(), few[0].kind, few[0].from, few[0].to), (BARS_MAX, BarKind::Several, at(0), at(89)));
        assert_eq!(few[1..], bars[89..]);
    }

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(seconds).expect("a time")
    }

    #[test]
    fn weekend_between_two_minutes_of_work_is_drawn_short() {
        let weekend = 2 * 86_400;
        let work = |from: i64| Bar { kind: BarKind::Worked, from: at(from), to: at(from + 60) };
        let bars = [work(0), work(weekend)];
        let scale = Scale::of(bars.iter(), at(0), at(weekend + 60), 1.0);
        let [first, second] = [scale.place(&bars[0]), scale.place(&bars[1])];
        assert!(first.1 > 45.0 && second.1 > 45.0, "{first:?} {second:?}");
        assert_eq!(scale.gaps.len(), 1);
        assert!((scale.at(at(weekend + 60)) - 100.0).abs() < 1e-9);
    }

    #[test]
    fn bars_of_a_run_that_goes_on_stay_where_they_are_most_of_the_time() {
        let worked = Bar { kind: BarKind::Worked, from: at(0), to: at(100) };
        let place = |now: i64| {
            let works = Bar { kind: BarKind::Works, from: at(100), to: at(now) };
            let scale = Scale::of([&worked, &works].into_iter(), at(0), at(now), ROOM_TO_GROW);
            let end = scale.at(at(now));
            assert!(end <= 100.0 && end > 85.0, "{end}");
            scale.place(&worked)
        };
        // As they are drawn: with one decimal.
        let drawn = |(from, width): (f64, f64)| (format!("{from:.1}"), format!("{width:.1}"));
        let mut places: Vec<(String, String)> = (200..300).map(place).map(drawn).collect();
        places.dedup();
        assert!(places.len() <= 4, "{places:?}");
    }

    #[test]
    fn run_in_which_nobody_worked_has_a_scale_too() {
        let waited = Bar { kind: BarKind::Person, from: at(0), to: at(50) };
        let scale = Scale::of(std::iter::once(&waited), at(0), at(100), 1.0);
        assert_eq!(scale.place(&waited), (0.0, 50.0));
        assert_eq!(Scale::of(std::iter::empty(), at(0), at(0), 1.0).at(at(0)), 0.0);
    }
}

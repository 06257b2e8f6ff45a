//! `baton audit verify`: verifies that a journal is intact, or names what was changed.

use std::path::PathBuf;

use baton_engine::RunId;
use baton_engine::audit::{AnchorAudit, Audit, AuditFinding, Auditor};
use baton_engine::journal::Hash;
use baton_engine::ledger::{LedgerEntry, Occasion};
use baton_engine::pages::JournalPages;
use baton_engine::run::Run;
use baton_engine::store::{Store, StoreError};
use baton_protocol::printable;
use baton_views::words::counted;
use clap::Args;
use serde_json::{Value, json};

use super::{Runs, Which, ledger};
use crate::command_error::{CommandError, Exit};
use crate::output::Output;
use crate::recorded_keys;
use crate::store::Session;

/// Verify that the journal is intact
///
/// Computes the chain of hashes again, replays every event and compares every handoff with what its events give. Names
/// each event that was changed, removed, moved or inserted, each handoff that disagrees with its journal, and each
/// stored file of a report that is missing or was changed.
///
/// Each run is also compared with the ledger, which has the heads of all runs. With --all, runs that are in the ledger
/// but not in the store are named, and every line of the anchor file is compared with the ledger: that reveals a
/// rewrite in which all hashes were computed again.
///
/// Without an anchor, keep the printed head of a run somewhere else: --head shows later that nothing before it was rewritten.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  baton audit verify --all\n  baton audit verify hoff-0192 --head 5f2c…")]
pub(super) struct Options {
    #[command(flatten)]
    which: Which,
    /// The head that was kept elsewhere: the hash of the last event of the run, or of an earlier one
    #[arg(long, value_name = "HASH", value_parser = parse_hash, conflicts_with = "all")]
    head: Option<Hash>,
    /// The anchor file to compare the ledger with [default: `[anchor] file` in baton.toml]
    #[arg(long, value_name = "FILE", requires = "all")]
    anchor: Option<PathBuf>,
    /// Write the result as JSON
    #[arg(long)]
    json: bool,
}

/// How often a run is read again that changes while it is read.
const READINGS_MAX: u32 = 100;

pub(super) async fn run(options: &Options, session: &Session, output: &Output) -> Result<Exit, CommandError> {
    if options.head.is_some() && options.which.runs.len() != 1 {
        return Err(CommandError::usage("--head needs exactly one run").hint("name one run"));
    }
    let mut runs = Runs::of(&options.which, session).await?;
    let (mut audited, mut findings, mut gaps) = (0_u64, 0_u64, Gaps::default());
    if options.json {
        output.data("{\n  \"version\": 1,\n  \"runs\": [")?;
    }
    while let Some(run) = runs.next().await? {
        let entries = session.store.ledger_of(&run).await?;
        let entered = entries.last().filter(|entry| entry.occasion == Occasion::Reached).map(|entry| entry.head.seq);
        let Some(audit) = audit(session.store.as_ref(), &run, options.head, entries).await? else { continue };
        gaps.count(&audit, entered);
        if let Some(changed) = changed_keys(session, &run).await? {
            output.note(&format!("note: {run}: {changed}"));
        }
        match options.json {
            true => {
                output.data(&format!("{}{}", if audited > 0 { "," } else { "" }, indented(&as_json(&audit), "    ")))?
            }
            false => output.data(&as_lines(&audit))?,
        }
        audited += 1;
        findings += audit.findings.len() as u64;
    }
    if options.json {
        output.data(if audited > 0 { "\n  ]" } else { "]" })?;
    }
    if options.which.all {
        findings += beside_runs(options, session, &gaps, output).await?;
    }
    let sound = findings == 0;
    match options.json {
        true => output.data(&format!(",\n  \"findings\": {findings},\n  \"sound\": {sound}\n}}\n"))?,
        false if sound => output.note(&format!("journal intact: {}", counted(audited, "run"))),
        false => output.note(&format!("failed: {} in {}", counted(findings, "finding"), counted(audited, "run"))),
    }
    Ok(if sound { Exit::Done } else { Exit::No })
}

/// Returns whether the journal of a run is intact; one that was removed meanwhile counts as intact.
pub(crate) async fn is_sound(session: &Session, run: &RunId) -> Result<bool, CommandError> {
    let entries = session.store.ledger_of(run).await?;
    let audit = audit(session.store.as_ref(), run, None, entries).await?;
    Ok(audit.is_none_or(|audit| audit.findings.is_empty()))
}

/// Returns how the keys that were recorded with a run differ from those that the configuration names now.
async fn changed_keys(session: &Session, run: &RunId) -> Result<Option<String>, CommandError> {
    if !session.approvers.are_named() {
        return Ok(None);
    }
    // What cannot be read is a finding already.
    let Ok(first) = session.store.history(run, 0, 1).await else { return Ok(None) };
    let Ok(run) = Run::of_journal(&first) else { return Ok(None) };
    Ok(recorded_keys::difference(&recorded_keys::of_run(&run.definition), &session.approvers))
}

/// What the ledger does not cover.
#[derive(Default)]
struct Gaps {
    /// Runs that it does not know.
    unknown: u64,
    /// Runs that have gone on since.
    later: u64,
}

impl Gaps {
    fn count(&mut self, audit: &Audit, entered: Option<u64>) {
        match entered {
            None => self.unknown += 1,
            Some(events) => self.later += u64::from(audit.head.seq > events),
        }
    }
}

/// Audits the ledger and its anchor, and tells what could not be compared. Returns how many things are wrong.
async fn beside_runs(options: &Options, session: &Session, gaps: &Gaps, output: &Output) -> Result<u64, CommandError> {
    let store = session.store.as_ref();
    let ledger = ledger::audit(store).await?;
    // A file that is configured and was never written to has nothing to compare with.
    let configured = session.anchor.as_ref().and_then(|anchor| Some((anchor.file()?, anchor.place())));
    let configured = match configured {
        Some((file, place)) => (file.exists() || store.anchored(&place).await?.is_some()).then_some(file),
        None => None,
    };
    let file = options.anchor.as_deref().or(configured);
    let anchor = match file {
        Some(file) => Some((file, ledger::audit_anchor(store, &ledger, file).await?)),
        None => None,
    };
    if options.json {
        let anchor = anchor.as_ref().map(|(file, audit)| ledger::anchor_as_json(file, audit));
        let not_compared = json!({ "runs_without_entry": gaps.unknown, "runs_that_went_on": gaps.later });
        let members = [("ledger", ledger.as_json()), ("anchor", json!(anchor)), ("not_compared", not_compared)];
        for (name, value) in members {
            output.data(&format!(",\n  \"{name}\": {}", indented(&value, "  ").trim_start()))?;
        }
    } else {
        output.data(&ledger.as_lines())?;
        if let Some((file, audit)) = &anchor {
            output.data(&ledger::anchor_as_lines(file, audit))?;
        }
        tell_gaps(gaps, ledger.removals(), anchor.as_ref().map(|(_, audit)| audit), output);
    }
    Ok(ledger.findings() + anchor.map_or(0, |(_, audit)| audit.findings.len() as u64))
}

/// Lists the changes that nobody would notice.
fn tell_gaps(gaps: &Gaps, removals: Option<String>, anchor: Option<&AnchorAudit>, output: &Output) {
    let note = |text: String| output.note(&format!("note: {text}"));
    removals.into_iter().for_each(note);
    if gaps.unknown > 0 {
        note(format!("{} not in the ledger yet; run `baton audit anchor` to add them", is_or_are(gaps.unknown)));
    }
    if gaps.later > 0 {
        note(format!("{} continued since the last entry in the ledger", has_or_have(gaps.later)));
    }
    match anchor {
        None => note("no anchor file to compare with: a completely rewritten ledger would go unnoticed".into()),
        Some(audit) if audit.waiting > 0 => {
            note(format!("the anchor does not have the last {} yet", counted(audit.waiting, "line")));
        }
        Some(_) => {}
    }
}

fn is_or_are(runs: u64) -> String {
    format!("{} {}", counted(runs, "run"), if runs == 1 { "is" } else { "are" })
}

fn has_or_have(runs: u64) -> String {
    format!("{} {}", counted(runs, "run"), if runs == 1 { "has" } else { "have" })
}

/// Audits a run; `None` if it was removed meanwhile. Others may write while it is read.
async fn audit(
    store: &dyn Store,
    run: &RunId,
    head: Option<Hash>,
    entries: Vec<LedgerEntry>,
) -> Result<Option<Audit>, CommandError> {
    let mut auditor = Auditor::new(run.clone()).entered(entries);
    if let Some(head) = head {
        auditor = auditor.expecting(head);
    }
    let mut last = 0;
    let mut rows = Vec::new();
    for _ in 0..READINGS_MAX {
        let before = last;
        match feed(store, run, &mut auditor, &mut last).await {
            Ok(()) => {}
            Err(StoreError::Damaged(why)) => {
                auditor.damage(why);
                break;
            }
            Err(error) => return Err(error.into()),
        }
        // Rows that were read between two readings without news are those of the events.
        if last == before && last > 0 && !rows.is_empty() {
            break;
        }
        rows = match store.handoffs_of(run).await {
            Ok(rows) => rows,
            Err(StoreError::Damaged(why)) => {
                auditor.damage(why);
                return Ok(Some(without_rows(auditor)));
            }
            Err(error) => return Err(error.into()),
        };
        if rows.is_empty() || last == 0 {
            let there = !store.history(run, 0, 1).await?.is_empty();
            if rows.is_empty() && !there {
                return Ok(None);
            }
            break;
        }
    }
    if !compare_files(store, run, &mut auditor).await? && store.history(run, 0, 1).await?.is_empty() {
        // Somebody has removed the run meanwhile, and its files with it.
        return Ok(None);
    }
    Ok(Some(auditor.finish(&rows)))
}

/// Compares the files that the store has kept with what the journal tells of them. Returns whether they are right.
async fn compare_files(store: &dyn Store, run: &RunId, auditor: &mut Auditor) -> Result<bool, CommandError> {
    let mut are_right = true;
    for digest in auditor.kept_files() {
        let bytes = store.content(run, &digest).await?;
        are_right &= auditor.content(&digest, bytes.as_deref());
    }
    Ok(are_right)
}

/// Rows that cannot be read say nothing; that they cannot be read is a finding already.
fn without_rows(auditor: Auditor) -> Audit {
    let mut audit = auditor.finish(&[]);
    audit.findings.retain(|finding| finding.fault.code() != "no-row");
    audit
}

/// Takes the events that have come since.
async fn feed(store: &dyn Store, run: &RunId, auditor: &mut Auditor, last: &mut u64) -> Result<(), StoreError> {
    let mut pages = JournalPages::after(store, run, *last);
    while let Some(page) = pages.next().await? {
        for event in &page {
            auditor.event(event);
            *last = event.seq;
        }
    }
    Ok(())
}

fn as_lines(audit: &Audit) -> String {
    let verdict = if audit.findings.is_empty() { "sound" } else { "BROKEN" };
    let mut text = format!(
        "{verdict}  {}  {}, {}, head {}\n",
        audit.run,
        counted(audit.events, "event"),
        counted(audit.handoffs, "handoff"),
        audit.head.hash
    );
    for finding in &audit.findings {
        text.push_str(&format!("  {} [{}]\n", printable(&finding.to_string()), finding.fault.code()));
    }
    text
}

fn as_json(audit: &Audit) -> Value {
    json!({
        "run": audit.run.as_str(),
        "sound": audit.findings.is_empty(),
        "events": audit.events,
        "handoffs": audit.handoffs,
        "head": audit.head.hash.to_string(),
        "findings": audit.findings.iter().map(finding).collect::<Vec<_>>(),
    })
}

/// Writes a run as a member of the list, which is written a run at a time and looks as if it were written at once.
fn indented(value: &Value, margin: &str) -> String {
    format!("{value:#}").lines().fold(String::new(), |text, line| text + "\n" + margin + line)
}

fn finding(finding: &AuditFinding) -> Value {
    json!({
        "code": finding.fault.code(),
        "seq": finding.seq,
        "handoff": finding.handoff.as_ref().map(|id| id.as_str()),
        "kind": finding.kind,
        "message": finding.fault.to_string(),
    })
}

fn parse_hash(text: &str) -> Result<Hash, String> {
    Hash::parse(text).ok_or_else(|| format!("`{text}` is not a hash: 64 hexadecimal digits"))
}

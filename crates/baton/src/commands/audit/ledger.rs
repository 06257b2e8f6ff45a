//! The ledger of a store beside its journals, and the anchor file beside the ledger. Both are read a page at a time.

use std::collections::VecDeque;
use std::path::Path;

use baton_engine::RunId;
use baton_engine::audit::{AnchorAudit, AnchorAuditor, JournalAt, LedgerAuditor, LedgerFinding};
use baton_engine::ledger::{LedgerEnd, LedgerEntry, Occasion};
use baton_engine::store::{Store, StoreError};
use baton_protocol::printable;
use baton_views::words::counted;
use serde_json::{Value, json};

use crate::anchor::{self, Anchor, AnchorLine};
use crate::command_error::CommandError;

/// How many removed runs are named.
const NAMED_MAX: usize = 10;

/// How many entries are fetched at once.
const PAGE: u32 = 1_000;

/// What the audit of a ledger showed.
pub(super) struct LedgerAudit {
    /// Its last entry; the number of that is how many there are.
    end: LedgerEnd,
    /// How many runs it says were removed, and the names of the latest.
    removed: u64,
    latest_removed: VecDeque<RunId>,
    findings: Vec<LedgerFinding>,
}

/// Follows the chain, and looks whether every run is there that nobody has removed.
pub(super) async fn audit(store: &dyn Store) -> Result<LedgerAudit, CommandError> {
    let mut auditor = LedgerAuditor::default();
    let (mut last, mut removed, mut latest_removed) = (0, 0, VecDeque::new());
    loop {
        let page = match store.ledger(last, PAGE).await {
            Ok(page) => page,
            Err(StoreError::Damaged(why)) => {
                auditor.damage(why);
                break;
            }
            Err(error) => return Err(error.into()),
        };
        for entry in &page {
            last = entry.number;
            if entry.occasion == Occasion::Removed {
                removed += 1;
                latest_removed.push_back(entry.run.clone());
                if latest_removed.len() > NAMED_MAX {
                    latest_removed.pop_front();
                }
            }
            let journal = journal_at(store, entry).await?;
            let is_pruned = journal == JournalAt::Nothing && is_removed_later(store, entry).await?;
            auditor.entry(entry, (!is_pruned).then_some(journal));
        }
        if page.len() < PAGE as usize {
            break;
        }
    }
    let (end, findings) = auditor.finish();
    Ok(LedgerAudit { end, removed, latest_removed, findings })
}

/// Returns whether the run of an entry was removed then or later; its name may belong to another run by now.
async fn is_removed_later(store: &dyn Store, entry: &LedgerEntry) -> Result<bool, CommandError> {
    if entry.occasion == Occasion::Removed {
        return Ok(true);
    }
    let about_run = store.ledger_of(&entry.run).await?;
    Ok(about_run.iter().any(|other| other.occasion == Occasion::Removed && other.number > entry.number))
}

/// Returns what the journal has where an entry says that it had come.
async fn journal_at(store: &dyn Store, entry: &LedgerEntry) -> Result<JournalAt, CommandError> {
    let event = first_after(store, &entry.run, entry.head.seq.saturating_sub(1)).await?;
    if let Some(event) = event.filter(|event| event.0 == entry.head.seq) {
        return Ok(JournalAt::Event(event.1));
    }
    let is_there = first_after(store, &entry.run, 0).await?.is_some();
    Ok(if is_there { JournalAt::Shorter } else { JournalAt::Nothing })
}

/// Returns the number and the hash of the first event after a number. The audit of the run reports damage.
async fn first_after(
    store: &dyn Store,
    run: &RunId,
    after: u64,
) -> Result<Option<(u64, baton_engine::journal::Hash)>, CommandError> {
    match store.history(run, after, 1).await {
        Ok(events) => Ok(events.first().map(|event| (event.seq, event.hash))),
        Err(StoreError::Damaged(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Compares every line of an anchor file with the ledger, and where those disagree with the journal.
pub(super) async fn audit_anchor(
    store: &dyn Store,
    ledger: &LedgerAudit,
    file: &Path,
) -> Result<AnchorAudit, CommandError> {
    // Others may deliver meanwhile: what is not in the file later must have been delivered before it is read.
    let delivered = store.anchored(&Anchor::at(file).place()).await?.map(|anchored| anchored.number);
    let mut auditor = AnchorAuditor::new(ledger.end.number);
    let lines = match anchor::lines(file) {
        Ok(lines) => lines,
        Err(why) => {
            // Whoever deletes the file wants to be noticed last.
            auditor.unreadable(why);
            return Ok(auditor.finish(None));
        }
    };
    let mut window: Vec<LedgerEntry> = Vec::new();
    for line in lines {
        let AnchorLine { number, entry: line } = match line {
            Ok(line) => line,
            Err(error) => {
                auditor.unreadable(format!("{}: {error}", file.display()));
                break;
            }
        };
        let wanted = line.as_ref().map_or(0, |line| line.number);
        if wanted > 0 && find(&window, wanted).is_none() {
            // The entry before it is wanted, too.
            window = store.ledger(wanted.saturating_sub(2), PAGE).await.or_else(undamaged)?;
        }
        let before = wanted.checked_sub(1).and_then(|before| find(&window, before));
        if auditor.line(number, &line, find(&window, wanted), before)
            && let Ok(line) = &line
        {
            let journal = journal_at(store, line).await?;
            auditor.disputed(number, line, journal);
        }
    }
    let mut after = auditor.highest();
    while after < ledger.end.number {
        let rest = store.ledger(after, PAGE).await.or_else(undamaged)?;
        let Some(last) = rest.last() else { break };
        after = last.number;
        rest.iter().filter(|entry| entry.number <= ledger.end.number).for_each(|entry| auditor.without_line(entry));
    }
    Ok(auditor.finish(delivered))
}

fn find(window: &[LedgerEntry], number: u64) -> Option<&LedgerEntry> {
    window.binary_search_by_key(&number, |entry| entry.number).ok().map(|index| &window[index])
}

/// What cannot be read was reported already, and does not exist for the anchor.
fn undamaged(error: StoreError) -> Result<Vec<LedgerEntry>, CommandError> {
    match error {
        StoreError::Damaged(_) => Ok(Vec::new()),
        error => Err(error.into()),
    }
}

impl LedgerAudit {
    /// Returns how many things are wrong.
    pub(super) fn findings(&self) -> u64 {
        self.findings.len() as u64
    }

    /// Names the runs that it says were removed; `None` if there are none.
    pub(super) fn removals(&self) -> Option<String> {
        let names: Vec<&str> = self.latest_removed.iter().rev().map(RunId::as_str).collect();
        let more = if self.removed > names.len() as u64 { ", …" } else { "" };
        let were = if self.removed == 1 { "was" } else { "were" };
        let told = || format!("{} {were} pruned: {}{more}", counted(self.removed, "run"), names.join(", "));
        (self.removed > 0).then(told)
    }

    pub(super) fn as_lines(&self) -> String {
        let entries = if self.end.number == 1 { "entry" } else { "entries" };
        let last = if self.end.number == 0 { String::new() } else { format!(", last {}", self.end.digest) };
        format!("{}  ledger  {} {entries}{last}\n{}", verdict(&self.findings), self.end.number, lines(&self.findings))
    }

    pub(super) fn as_json(&self) -> Value {
        json!({
            "sound": self.findings.is_empty(),
            "entries": self.end.number,
            "digest": self.end.digest.to_string(),
            "removed": self.removed,
            "findings": self.findings.iter().map(finding).collect::<Vec<_>>(),
        })
    }
}

pub(super) fn anchor_as_lines(file: &Path, audit: &AnchorAudit) -> String {
    let place = printable(&file.display().to_string());
    format!(
        "{}  anchor  {}, {place}\n{}",
        verdict(&audit.findings),
        counted(audit.lines, "line"),
        lines(&audit.findings)
    )
}

pub(super) fn anchor_as_json(file: &Path, audit: &AnchorAudit) -> Value {
    json!({
        "sound": audit.findings.is_empty(),
        "file": file.display().to_string(),
        "lines": audit.lines,
        "waiting": audit.waiting,
        "findings": audit.findings.iter().map(finding).collect::<Vec<_>>(),
    })
}

fn verdict(findings: &[LedgerFinding]) -> &'static str {
    if findings.is_empty() { "sound" } else { "BROKEN" }
}

fn lines(findings: &[LedgerFinding]) -> String {
    let line = |finding: &LedgerFinding| format!("  {} [{}]\n", printable(&finding.to_string()), finding.fault.code());
    findings.iter().map(line).collect()
}

fn finding(finding: &LedgerFinding) -> Value {
    json!({
        "code": finding.fault.code(),
        "entry": finding.entry,
        "line": finding.line,
        "run": finding.run.as_ref().map(RunId::as_str),
        "message": finding.fault.to_string(),
    })
}

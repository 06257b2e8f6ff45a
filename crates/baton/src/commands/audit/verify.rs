//! `baton audit verify`: proves that a journal is what was written, or names what is not.

use baton_engine::RunId;
use baton_engine::audit::{Audit, Auditor, Finding};
use baton_engine::journal::Hash;
use baton_engine::store::{Error, Store};
use clap::Args;
use serde_json::{Value, json};

use super::{Runs, Which};
use crate::command_error::{CommandError, Exit};
use crate::output::{Output, printable};
use crate::render::counted;
use crate::store::Session;

/// Prove that the journal is what was written
///
/// Computes the chain of hashes again, replays every event and compares every handoff with what its events give. Each
/// event that was changed, removed, moved or inserted is named, and each handoff that disagrees with its journal.
///
/// Keep the printed head of a run somewhere else: with --head it proves later that nothing before it was rewritten,
/// not even by somebody who computed all hashes again.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  baton audit verify --all\n  baton audit verify hoff-0192 --head 5f2c…")]
pub(super) struct Options {
    #[command(flatten)]
    which: Which,
    /// The head that was kept elsewhere: the hash of the last event of the run, or of an earlier one
    #[arg(long, value_name = "HASH", value_parser = parse_hash, conflicts_with = "all")]
    head: Option<Hash>,
    /// Write the result as JSON
    #[arg(long)]
    json: bool,
}

/// How many events are fetched at once.
const PAGE: u32 = 1_000;

/// How often a run is read again that changes while it is read.
const READINGS_MAX: u32 = 100;

pub(super) async fn run(options: &Options, session: &Session, output: &Output) -> Result<Exit, CommandError> {
    if options.head.is_some() && options.which.runs.len() != 1 {
        return Err(CommandError::usage("--head belongs to one run").hint("name one run"));
    }
    let mut runs = Runs::of(&options.which, session).await?;
    let (mut audited, mut findings) = (0_u64, 0_u64);
    if options.json {
        output.data("{\n  \"version\": 1,\n  \"runs\": [")?;
    }
    while let Some(run) = runs.next().await? {
        let Some(audit) = audit(session.store.as_ref(), &run, options.head).await? else { continue };
        match options.json {
            true => output.data(&format!("{}{}", if audited > 0 { "," } else { "" }, indented(&as_json(&audit))))?,
            false => output.data(&as_lines(&audit))?,
        }
        audited += 1;
        findings += audit.findings.len() as u64;
    }
    let sound = findings == 0;
    match options.json {
        true => {
            let end = if audited > 0 { "\n  ]" } else { "]" };
            output.data(&format!("{end},\n  \"findings\": {findings},\n  \"sound\": {sound}\n}}\n"))?;
        }
        false if sound => {
            let are = if audited == 1 { "is" } else { "are" };
            output.note(&format!("ok: {} {are} what was written", counted(audited, "run")));
        }
        false => output.note(&format!("failed: {} in {}", counted(findings, "finding"), counted(audited, "run"))),
    }
    Ok(if sound { Exit::Done } else { Exit::No })
}

/// Audits a run; `None` if it was removed meanwhile. Others may write while it is read.
async fn audit(store: &dyn Store, run: &RunId, head: Option<Hash>) -> Result<Option<Audit>, CommandError> {
    let mut auditor = Auditor::new(run.clone());
    if let Some(head) = head {
        auditor = auditor.expecting(head);
    }
    let mut last = 0;
    let mut rows = Vec::new();
    for _ in 0..READINGS_MAX {
        let before = last;
        match feed(store, run, &mut auditor, &mut last).await {
            Ok(()) => {}
            Err(Error::Damaged(why)) => {
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
            Err(Error::Damaged(why)) => {
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
    Ok(Some(auditor.finish(&rows)))
}

/// Rows that cannot be read say nothing; that they cannot be read is a finding already.
fn without_rows(auditor: Auditor) -> Audit {
    let mut audit = auditor.finish(&[]);
    audit.findings.retain(|finding| finding.fault.code() != "no-row");
    audit
}

/// Takes the events that have come since.
async fn feed(store: &dyn Store, run: &RunId, auditor: &mut Auditor, last: &mut u64) -> Result<(), Error> {
    loop {
        let page = store.history(run, *last, PAGE).await?;
        for event in &page {
            auditor.event(event);
            *last = event.seq;
        }
        if page.len() < PAGE as usize {
            return Ok(());
        }
    }
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
        text.push_str(&format!("  {}\n", printable(&finding.to_string())));
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
fn indented(value: &Value) -> String {
    format!("{value:#}").lines().fold(String::new(), |text, line| text + "\n    " + line)
}

fn finding(finding: &Finding) -> Value {
    json!({
        "code": finding.fault.code(),
        "seq": finding.seq,
        "handoff": finding.handoff.as_ref().map(|id| id.as_str()),
        "kind": finding.kind,
        "message": finding.fault.to_string(),
    })
}

fn parse_hash(text: &str) -> Result<Hash, String> {
    let wrong = || format!("`{text}` is no hash: 64 hexadecimal digits");
    if text.len() != 64 || !text.is_ascii() {
        return Err(wrong());
    }
    let mut bytes = [0; 32];
    for (index, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&text[index * 2..index * 2 + 2], 16).map_err(|_| wrong())?;
    }
    Ok(Hash(bytes))
}

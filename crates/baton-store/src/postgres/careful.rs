//! The careful way: a transaction that holds the runs and the rows, plans, and writes all of it in one statement.
//!
//! What was seen is given to the plan; where that has a gap, the transaction looks once more and plans again.

use std::collections::HashMap;
use std::sync::Arc;

use baton_engine::handoff::{Handoff, WrittenDocument as Document};
use baton_engine::journal::Head;
use baton_engine::lifecycle::Accept;
use baton_engine::store::{StoreError, TransactionStep};
use baton_engine::{EventKind, HandoffId, RunId};

use super::Node;
use super::fault::Fault;
use super::memory::{Memory, Sent};
use super::session::Session;
use super::table::{self, ENDS};
use super::writing::{WRITE, Written};
use crate::plan::{self, End, Lookup, Made, Plan};

/// Finds handoffs and where the journals of their runs end, and lets nobody else change them until the transaction ends.
const LOOK_AND_LOCK: &str = concat!(table::look!(), " ORDER BY h.id FOR UPDATE OF h");

/// Lets nobody else who goes the careful way write to these runs and to those of these handoffs.
///
/// Locks on rows would not do: the events of a run have one order, whatever handoffs they are about.
///
/// ```text
/// caller A                                 caller B
/// locks the row of r.build                 locks the row of r.review
/// the journal of r ends with event 7       the journal of r ends with event 7
/// writes event 8, commits
///                                          writes event 8: it is taken, and all was planned in vain
/// ```
///
/// All runs are locked in one order: otherwise A could have r and wait for s, while B has s and waits for r.
const LOCK_RUNS_OF: &str = "SELECT pg_advisory_xact_lock(hashtextextended(run, 0)) FROM (
        SELECT run FROM handoffs WHERE id = ANY ($1)
        UNION SELECT run COLLATE \"C\" FROM unnest($2::text[]) AS wanted (run)
        ORDER BY run
    ) AS runs";

/// What a transaction has to do with, as far as one can tell before.
#[derive(Debug, Default)]
pub(super) struct Wanted<'s> {
    ids: Vec<&'s str>,
    keys: Vec<&'s str>,
    runs: Vec<&'s str>,
}

impl<'s> Wanted<'s> {
    pub(super) fn by_steps(steps: impl IntoIterator<Item = &'s TransactionStep>) -> Wanted<'s> {
        let mut wanted = Wanted::default();
        for step in steps {
            match step {
                TransactionStep::Accept(request) => wanted.add(request),
                TransactionStep::Apply(id, _) | TransactionStep::Held { id, .. } => wanted.ids.push(id.as_str()),
            }
        }
        wanted
    }

    pub(super) fn by_requests(requests: &'s [Arc<Accept>]) -> Wanted<'s> {
        let mut wanted = Wanted::default();
        requests.iter().for_each(|request| wanted.add(request));
        wanted
    }

    pub(super) fn by_id(id: &'s HandoffId) -> Wanted<'s> {
        Wanted { ids: vec![id.as_str()], ..Wanted::default() }
    }

    fn add(&mut self, request: &'s Accept) {
        self.ids.push(request.id.as_str());
        self.runs.push(request.run.as_str());
        // One that the database cannot know is refused by the plan.
        self.keys.extend(request.terms.key.as_deref().filter(|key| !table::is_unknowable(key)));
    }
}

/// Decides what becomes of one of those who share a transaction.
type Decide<'p, T> = dyn Fn(&mut Plan<&SeenRows>) -> Result<Result<T, StoreError>, Gap> + Sync + 'p;

/// One of those who share a transaction.
pub(super) struct Piece<'p, T> {
    /// Decides what becomes of it. It may be asked more than once.
    pub(super) decide: &'p Decide<'p, T>,
    /// What was sent for it before.
    pub(super) memory: &'p mut Memory<T>,
}

/// Writes what is decided for one. A fault leaves nothing behind; an answer that is an error may have been journalled.
pub(super) async fn carefully<T: Clone + Send>(
    node: &Node,
    wanted: &Wanted<'_>,
    decide: impl Fn(&mut Plan<&SeenRows>) -> Result<Result<T, StoreError>, Gap> + Sync,
    memory: &mut Memory<T>,
) -> Result<Result<T, StoreError>, Fault> {
    let mut answers = all_carefully(node, wanted, &mut [Piece { decide: &decide, memory }]).await?;
    answers.pop().expect("one piece has one answer")
}

/// Writes what is decided for each, in their order. What is impossible for one of them does not concern the others.
pub(super) async fn all_carefully<T: Clone + Send>(
    node: &Node,
    wanted: &Wanted<'_>,
    pieces: &mut [Piece<'_, T>],
) -> Result<Vec<Result<Result<T, StoreError>, Fault>>, Fault> {
    let mut session = node.session().await?;
    let written = write(node, &mut session, wanted, pieces).await;
    // A lost connection needs no end.
    if !matches!(written, Err(Fault::Lost(_))) {
        session.roll_back().await?;
    }
    written
}

async fn write<T: Clone + Send>(
    node: &Node,
    session: &mut Session,
    wanted: &Wanted<'_>,
    pieces: &mut [Piece<'_, T>],
) -> Result<Vec<Result<Result<T, StoreError>, Fault>>, Fault> {
    let (lock, look) = (session.prepare(LOCK_RUNS_OF).await?, session.prepare(LOOK_AND_LOCK).await?);
    let found = session.begin(Some((&lock, &[&wanted.ids, &wanted.runs])), (&look, &[&wanted.ids])).await?;
    let mut seen = SeenRows::default();
    seen.take_handoffs(&wanted.ids, &found)?;
    seen.look_for_keys(session, &wanted.keys).await?;
    seen.look_for_ends(session, &wanted.runs).await?;
    let (mut answers, mut plans) = (Vec::with_capacity(pieces.len()), Vec::with_capacity(pieces.len()));
    for piece in pieces {
        // What was sent before us held the same runs or rows: it has arrived by now, or it never will.
        let answer = match piece.memory.recall(session).await? {
            Some(answer) => Ok(answer),
            None => decide(session, &mut seen, piece, &mut plans).await?,
        };
        answers.push(answer);
    }
    let made = Made::of_all(plans);
    if made.events.is_empty() {
        return Ok(answers);
    }
    let written = Written::of(&made);
    let statement = session.prepare(WRITE).await?;
    let (notify, channel) = (node.wake.statement(session).await?, node.wake.parameters());
    let behind = made.news.then_some((&notify, &channel[..]));
    let count = session.commit(Some((&statement, &written.parameters())), behind).await?;
    if count != made.events.len() as u64 {
        return Err(StoreError::Damaged("a handoff changed although it was locked".to_owned()).into());
    }
    made.changed().for_each(|(row, head)| node.own.remember(&row.handoff, head));
    if made.news {
        node.wake.ring();
    }
    Ok(answers)
}

/// Decides about one piece, and adds what must be written. The inner fault concerns only this piece.
async fn decide<T: Clone>(
    session: &Session,
    seen: &mut SeenRows,
    piece: &mut Piece<'_, T>,
    plans: &mut Vec<Made>,
) -> Result<Result<Result<T, StoreError>, Fault>, Fault> {
    loop {
        let mut plan = Plan::new(&*seen, HashMap::new());
        match (piece.decide)(&mut plan).map(|answer| (answer, plan.made())) {
            Ok((answer, planned)) => {
                piece.memory.expect(Sent::of(&planned.events), answer.clone());
                seen.take_plan(&planned)?;
                plans.push(planned);
                return Ok(Ok(answer));
            }
            Err(Gap::Final(error)) => return Ok(Err(error.into())),
            Err(gap) => seen.look_into(session, gap).await?,
        }
    }
}

/// What the plan needs and the transaction has not looked at.
#[derive(Debug)]
pub(super) enum Gap {
    /// A handoff.
    Handoff(HandoffId),
    /// The handoff with a key.
    Key(String),
    /// The end of a journal.
    End(RunId),
    /// The latest report of a handoff.
    Report(Box<Handoff>),
    /// There is no gap: the plan is impossible.
    Final(StoreError),
}

impl From<StoreError> for Gap {
    fn from(error: StoreError) -> Self {
        Gap::Final(error)
    }
}

/// What the transaction has looked at.
#[derive(Debug, Default)]
pub(super) struct SeenRows {
    handoffs: HashMap<HandoffId, Option<Handoff>>,
    keys: HashMap<String, Option<Handoff>>,
    ends: HashMap<RunId, End>,
    reports: HashMap<HandoffId, Option<Document>>,
}

impl Lookup for &SeenRows {
    type Fault = Gap;

    fn find(&mut self, id: &HandoffId) -> Result<Option<Handoff>, Gap> {
        self.handoffs.get(id).cloned().ok_or_else(|| Gap::Handoff(id.clone()))
    }

    fn with_key(&mut self, key: &str) -> Result<Option<Handoff>, Gap> {
        self.keys.get(key).cloned().ok_or_else(|| Gap::Key(key.to_owned()))
    }

    fn end(&mut self, run: &RunId) -> Result<End, Gap> {
        self.ends.get(run).copied().ok_or_else(|| Gap::End(run.clone()))
    }

    fn last_report(&mut self, handoff: &Handoff) -> Result<Option<Document>, Gap> {
        self.reports.get(&handoff.id).cloned().ok_or_else(|| Gap::Report(Box::new(handoff.clone())))
    }
}

impl SeenRows {
    async fn look_into(&mut self, session: &Session, gap: Gap) -> Result<(), Fault> {
        match gap {
            Gap::Handoff(id) => {
                let found = session.query(LOOK_AND_LOCK, &[&[id.as_str()].as_slice()]).await?;
                self.take_handoffs(&[id.as_str()], &found)
            }
            Gap::Key(key) => self.look_for_keys(session, &[&key]).await,
            Gap::End(run) => self.look_for_ends(session, &[run.as_str()]).await,
            Gap::Report(handoff) => {
                let report = last_report(session, &handoff).await?;
                self.reports.insert(handoff.id, report);
                Ok(())
            }
            // The caller has no gap to look into.
            Gap::Final(error) => Err(error.into()),
        }
    }

    /// Takes what was planned before: whoever comes next in the same transaction sees it.
    fn take_plan(&mut self, planned: &Made) -> Result<(), StoreError> {
        for (row, _) in planned.changed() {
            let handoff = &row.handoff;
            if let Some(key) = &handoff.terms.key {
                self.keys.insert(key.clone(), Some(handoff.clone()));
            }
            self.handoffs.insert(handoff.id.clone(), Some(handoff.clone()));
        }
        for event in &planned.events {
            self.ends.insert(event.run.clone(), End { head: event.head(), at: Some(event.at) });
            if event.is(EventKind::Reported) {
                self.reports.insert(event.handoff.clone(), plan::reported_in(&event.detail)?);
            }
        }
        Ok(())
    }

    fn take_handoffs(&mut self, ids: &[&str], found: &[tokio_postgres::Row]) -> Result<(), Fault> {
        for id in ids {
            self.handoffs.entry(HandoffId::parse(*id).map_err(StoreError::damaged)?).or_default();
        }
        for row in found {
            let handoff = table::handoff(row)?;
            let end = table::end(row, table::END)?;
            self.ends.entry(handoff.run.clone()).or_insert(end);
            self.handoffs.insert(handoff.id.clone(), Some(handoff));
        }
        Ok(())
    }

    async fn look_for_keys(&mut self, session: &Session, keys: &[&str]) -> Result<(), Fault> {
        if keys.is_empty() {
            return Ok(());
        }
        let sql = concat!("SELECT ", table::columns!(), " FROM handoffs AS h WHERE h.key = ANY ($1)");
        let found = session.query(sql, &[&keys]).await?;
        keys.iter().for_each(|key| drop(self.keys.insert((*key).to_owned(), None)));
        for row in &found {
            let handoff = table::handoff(row)?;
            let key = handoff.terms.key.clone().unwrap_or_default();
            self.keys.insert(key, Some(handoff));
        }
        Ok(())
    }

    /// Looks for the ends of these journals, as far as they are not known.
    async fn look_for_ends(&mut self, session: &Session, runs: &[&str]) -> Result<(), Fault> {
        let mut unknown = Vec::new();
        for run in runs {
            let id = RunId::parse(*run).map_err(StoreError::damaged)?;
            self.ends.entry(id).or_insert_with(|| {
                unknown.push(*run);
                End { head: Head::START, at: None }
            });
        }
        if unknown.is_empty() {
            return Ok(());
        }
        for row in session.query(ENDS, &[&unknown]).await? {
            let run = RunId::parse(row.try_get::<_, &str>(0)?).map_err(StoreError::damaged)?;
            self.ends.insert(run, table::end(&row, 1)?);
        }
        Ok(())
    }
}

/// Returns the latest report of a handoff.
async fn last_report(session: &Session, handoff: &Handoff) -> Result<Option<Document>, Fault> {
    let sql =
        "SELECT detail FROM events WHERE run = $1 AND handoff = $2 AND kind = 'reported' ORDER BY seq DESC LIMIT 1";
    let found = session.query(sql, &[&handoff.run.as_str(), &handoff.id.as_str()]).await?;
    let Some(row) = found.first() else { return Ok(None) };
    Ok(plan::reported_in(row.try_get(0)?)?)
}

//! The limit: durable commits of one small row through the bare driver, alone or with many writers sharing a commit.

use std::path::Path;
use std::sync::mpsc;
use std::thread;
use std::time::Instant;

use baton_testbed::gauge::rate;
use rusqlite::Connection;

/// Returns how many durable commits per second `clients` get, each waiting for its own.
pub(crate) fn commits_per_second(path: &Path, clients: usize, commits: usize) -> f64 {
    let connection = open(path);
    if clients == 1 {
        let start = Instant::now();
        (0..commits).for_each(|number| {
            insert(&connection, number);
        });
        return rate(commits as u64, start.elapsed());
    }
    let (work, queue) = mpsc::channel::<(usize, mpsc::Sender<()>)>();
    let writer = thread::spawn(move || write_together(&connection, &queue));
    let start = Instant::now();
    let each = commits / clients;
    let callers: Vec<_> = (0..clients)
        .map(|client| {
            let work = work.clone();
            thread::spawn(move || {
                let (answer, answered) = mpsc::channel();
                for number in 0..each {
                    work.send((client * each + number, answer.clone())).expect("the writer runs");
                    answered.recv().expect("the writer answers");
                }
            })
        })
        .collect();
    callers.into_iter().for_each(|caller| caller.join().expect("a caller ends"));
    let elapsed = start.elapsed();
    drop(work);
    writer.join().expect("the writer ends");
    rate((each * clients) as u64, elapsed)
}

fn write_together(connection: &Connection, queue: &mpsc::Receiver<(usize, mpsc::Sender<()>)>) {
    while let Ok(first) = queue.recv() {
        let batch: Vec<_> = std::iter::once(first).chain(queue.try_iter()).collect();
        connection.execute_batch("BEGIN IMMEDIATE").expect("a transaction");
        batch.iter().for_each(|(number, _)| {
            insert(connection, *number);
        });
        connection.execute_batch("COMMIT").expect("a commit");
        batch.into_iter().for_each(|(_, answer)| answer.send(()).expect("a caller waits"));
    }
}

fn insert(connection: &Connection, number: usize) -> usize {
    let mut statement =
        connection.prepare_cached("INSERT INTO bare (number, text) VALUES (?1, ?2)").expect("a statement");
    statement.execute((number as i64, "something small")).expect("an insert")
}

fn open(path: &Path) -> Connection {
    let connection = Connection::open(path).expect("a database");
    connection.pragma_update(None, "journal_mode", "WAL").expect("WAL");
    connection.pragma_update(None, "synchronous", "FULL").expect("durability");
    connection.execute_batch("CREATE TABLE bare (number INTEGER PRIMARY KEY, text TEXT)").expect("a table");
    connection
}

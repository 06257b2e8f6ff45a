//! The rival: `pgbench` with the statements of the store, written down with values instead of parameters.
//!
//! It sends no NOTIFY: it could only do so with one more round trip. So what that costs is on our side alone.

use std::time::Duration;

use baton_store::postgres::Postgres;
use baton_testbed::Scratch;

/// The stored form of the handoff that the store writes in `cycle.rs`, as long as ours. `pgbench` would take what
/// follows a colon for a variable, so there is another sign in its place.
const BODY: &str = r#"{"v"=1,"terms"={"from"="lead","to"="agent-1","priority"="normal","not_before"=null,"deadline"=null,"timeout_ms"=null,"retry"={"max_retries"=3,"retry_delay_seconds"=30,"backoff_multiplier"=2.0,"jitter"=0.0},"key"=null,"verify"=false,"returns_to"=null},"request"="5f8e0b8c2f2a57d5a7a3c1c1a0c7e6f64b6a4b3f1f0f6f6d2c4b8d1a9e7c5b3a","accepted_at"="2027-01-15T08=00=00Z","changed_at"="2027-01-15T08=00=00Z","attempts"=1,"state"={"claimed"={"claimant"="worker","since"="2027-01-15T08=00=00Z","until"="2027-01-15T08=01=00Z","length_ms"=60000,"acknowledged"=false}}}"#;
const REQUEST: &str = r#"{"id"="hoff-12345-000000000001","run"="hoff-12345-000000000001","terms"={"from"="lead","to"="agent-1","priority"="normal","not_before"=null,"deadline"=null,"timeout_ms"=null,"retry"={"max_retries"=3,"retry_delay_seconds"=30,"backoff_multiplier"=2.0,"jitter"=0.0},"key"=null,"verify"=false,"returns_to"=null},"request"={"dialect"="native","text"="Review the change of the login form. Look at the session cookie, and at what happens when the token has expired. Write down what you found, with the file and the line."}}"#;
const CLAIM: &str = r#"{"claimant"="worker","lease_ms"=60000}"#;
const REPORT: &str = r#"{"fence"=1,"ending"="complete","document"={"dialect"="native","text"="Review the change of the login form. Look at the session cookie, and at what happens when the token has expired. Write down what you found, with the file and the line."}}"#;

const ID: &str = "'hoff-' || :client_id::text || '-' || :n::text";
const AGENT: &str = "'agent-' || :client_id::text";
const HASH: &str = "'\\x5f8e0b8c2f2a57d5a7a3c1c1a0c7e6f64b6a4b3f1f0f6f6d2c4b8d1a9e7c5b3a'::bytea";
const NOW: &str = "1800000000000000::bigint";
const COLUMNS: &str = "h.id, h.run, h.version, h.fence, h.accepted_seq, h.last_seq, h.head, h.body";
const END: &str =
    "CROSS JOIN LATERAL (SELECT seq, hash, at FROM events WHERE run = h.run ORDER BY seq DESC LIMIT 1) AS last";

/// Returns how many cycles per second `pgbench` completes.
pub(crate) async fn rate(url: &str, clients: usize, time: Duration) -> f64 {
    // Makes the tables.
    drop(Postgres::connect(url).await.unwrap());
    let scratch = Scratch::new();
    let script = scratch.path("cycle.sql");
    std::fs::write(&script, cycle()).unwrap();
    let seconds = time.as_secs().max(1).to_string();
    let mut command = tokio::process::Command::new("pgbench");
    command.args(["-n", "-M", "prepared", "-D", "n=0", "-c", &clients.to_string(), "-j", "2", "-T", &seconds]);
    command
        .env("PGOPTIONS", "-c enable_seqscan=off -c jit=off -c plan_cache_mode=force_generic_plan")
        .arg("-f")
        .arg(&script)
        .arg(url);
    let output = command.output().await.expect("pgbench is installed");
    let said = String::from_utf8_lossy(&output.stdout);
    let tps = said.lines().find_map(|line| line.strip_prefix("tps = ")?.split(' ').next()?.parse().ok());
    match tps {
        Some(tps) if output.status.success() => tps,
        _ => panic!("pgbench: {said}\n{}", String::from_utf8_lossy(&output.stderr)),
    }
}

fn cycle() -> String {
    let accept = insert();
    let (ready, look) = (
        ready(),
        format!("SELECT {COLUMNS}, last.seq, last.hash, last.at FROM handoffs AS h {END} WHERE h.id = {ID};"),
    );
    let claim = update(2, "claimed", ("NULL", "1800000060000000", "NULL"), "claimed", CLAIM);
    let report = update(3, "completed", ("NULL", "NULL", NOW), "reported", REPORT);
    let steps = [
        "\\set n :n + 1",
        &accept,
        "\\startpipeline",
        "BEGIN;",
        &ready,
        "\\endpipeline",
        "\\startpipeline",
        &claim,
        "COMMIT;",
        "\\endpipeline",
        &look,
        &report,
    ];
    // A statement of a script may have several lines, but a semicolon ends it.
    steps.join("\n")
}

fn insert() -> String {
    format!(
        "WITH request AS (
            SELECT * FROM unnest(ARRAY[{ID}], ARRAY[1::bigint], ARRAY['pending'], ARRAY[0::bigint], ARRAY[{NOW}],
                ARRAY[NULL::bigint], ARRAY[NULL::bigint], ARRAY[1::bigint], ARRAY[{HASH}], ARRAY['{BODY}'],
                ARRAY[{NOW}], ARRAY['accepted'], ARRAY['{REQUEST}'], ARRAY[{ID}], ARRAY[{AGENT}], ARRAY[1::smallint],
                ARRAY[NULL::text])
                AS request (id, version, state, fence, ready_at, wake_at, finished_at, seq, hash, body, at, kind, detail,
                            run, agent, priority, key)
         ), inserted AS (
            INSERT INTO handoffs (id, run, agent, priority, state, version, fence, ready_at, wake_at, finished_at, key,
                                  accepted_seq, last_seq, head, body)
            SELECT id, run, agent, priority, state, version, fence, ready_at, wake_at, finished_at, key, seq, seq, hash,
                   body
            FROM request ON CONFLICT DO NOTHING RETURNING id
         )
         INSERT INTO events (run, seq, handoff, version, at, kind, detail, hash)
         SELECT run, seq, id, version, at, kind, detail, hash FROM request
         WHERE id COLLATE \"C\" IN (SELECT id FROM inserted);"
    )
}

fn ready() -> String {
    format!(
        "SELECT {COLUMNS}, last.seq, last.hash, last.at, accepted.kind, accepted.detail
         FROM (
            SELECT ready.* FROM (VALUES (3::smallint), (2::smallint), (1::smallint), (0::smallint)) AS urgency (priority)
            CROSS JOIN LATERAL (
                SELECT * FROM handoffs
                WHERE agent = {AGENT} AND state = 'pending' AND priority = urgency.priority AND ready_at <= {NOW}
                ORDER BY ready_at, id LIMIT 1 FOR UPDATE SKIP LOCKED
            ) AS ready
            WHERE NOT EXISTS (
                SELECT FROM queues WHERE queues.agent = {AGENT} AND (queues.paused OR queues.concurrency IS NOT NULL))
            LIMIT 1
         ) AS h {END} LEFT JOIN events AS accepted ON accepted.run = h.run AND accepted.seq = h.accepted_seq;"
    )
}

fn update(version: u32, state: &str, times: (&str, &str, &str), kind: &str, detail: &str) -> String {
    let (ready_at, wake_at, finished_at) = times;
    format!(
        "WITH updated AS (
            UPDATE handoffs SET state = change.state, version = change.version, fence = change.fence,
                ready_at = change.ready_at, wake_at = change.wake_at, finished_at = change.finished_at,
                last_seq = change.seq, head = change.hash, body = change.body
            FROM unnest(ARRAY[{ID}], ARRAY[{version}::bigint], ARRAY['{state}'], ARRAY[1::bigint],
                ARRAY[{ready_at}::bigint], ARRAY[{wake_at}::bigint], ARRAY[{finished_at}::bigint],
                ARRAY[{version}::bigint], ARRAY[{HASH}], ARRAY['{BODY}'], ARRAY[{NOW}], ARRAY['{kind}'],
                ARRAY['{detail}'])
                AS change (id, version, state, fence, ready_at, wake_at, finished_at, seq, hash, body, at, kind, detail)
            WHERE handoffs.id = change.id COLLATE \"C\" AND handoffs.version = change.version - 1
            RETURNING handoffs.run, change.seq, handoffs.id, change.version, change.at, change.kind, change.detail,
                change.hash
         )
         INSERT INTO events (run, seq, handoff, version, at, kind, detail, hash) SELECT * FROM updated;"
    )
}

/// Returns SQL that makes finished handoffs with these numbers.
pub(crate) fn finished(first: usize, last: usize) -> String {
    format!(
        "INSERT INTO handoffs (id, run, agent, priority, state, version, fence, finished_at, accepted_seq, last_seq,
                               head, body)
         SELECT 'old-' || n, 'old-' || n, 'agent-0', 1, 'completed', 3, 1, {NOW}, 1, 3, {HASH}, '{BODY}'
         FROM generate_series({first}, {last}) AS n;
         INSERT INTO events (run, seq, handoff, version, at, kind, detail, hash)
         SELECT 'old-' || n, seq, 'old-' || n, seq, {NOW}, 'accepted', '{CLAIM}', {HASH}
         FROM generate_series({first}, {last}) AS n, generate_series(1, 3) AS seq"
    )
}

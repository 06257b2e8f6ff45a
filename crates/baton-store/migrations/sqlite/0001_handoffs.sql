-- One row per handoff: what must be looked up stands in columns, the rest in `body`. Times are microseconds since 1970.
-- The constraints repeat what the lifecycle guarantees. They compare one by one: SQLite would build a temporary table
-- for each `IN` with more than two words, on every write.
CREATE TABLE handoffs (
    id           TEXT    NOT NULL PRIMARY KEY,
    run          TEXT    NOT NULL,
    agent        TEXT    NOT NULL,
    priority     INTEGER NOT NULL CHECK (priority BETWEEN 0 AND 3),
    state        TEXT    NOT NULL CHECK (
        state = 'pending' OR state = 'claimed' OR state = 'completed' OR state = 'failed' OR state = 'cancelled'
        OR state = 'verifying' OR state = 'blocked' OR state = 'awaiting_person'),
    version      INTEGER NOT NULL CHECK (version >= 1),
    fence        INTEGER NOT NULL CHECK (fence >= 0),
    ready_at     INTEGER CHECK ((ready_at IS NOT NULL) = (state = 'pending')),
    wake_at      INTEGER CHECK (wake_at IS NOT NULL OR state <> 'claimed'),
    finished_at  INTEGER CHECK ((finished_at IS NOT NULL) = (
        state = 'completed' OR state = 'failed' OR state = 'cancelled')),
    key          TEXT,
    accepted_seq INTEGER NOT NULL CHECK (accepted_seq >= 1),
    last_seq     INTEGER NOT NULL CHECK (last_seq >= accepted_seq),
    head         BLOB    NOT NULL CHECK (length(head) = 32),
    body         TEXT    NOT NULL,
    CHECK (fence >= 1 OR state NOT IN ('claimed', 'verifying')),
    CHECK (wake_at IS NULL OR finished_at IS NULL)
) STRICT;

-- Only what waits is in here, so claiming costs the same however many handoffs are finished.
CREATE INDEX handoffs_ready ON handoffs (agent, priority, ready_at, id) WHERE state = 'pending';
CREATE INDEX handoffs_wake ON handoffs (wake_at, agent, state) WHERE wake_at IS NOT NULL;
CREATE INDEX handoffs_failed ON handoffs (finished_at) WHERE state = 'failed';
-- A handoff that belongs to no other run is found by its id.
CREATE INDEX handoffs_run ON handoffs (run) WHERE run <> id;
CREATE UNIQUE INDEX handoffs_key ON handoffs (key) WHERE key IS NOT NULL;

-- The journal. Nothing in it is ever changed; whole runs are removed when they are pruned.
CREATE TABLE events (
    position INTEGER NOT NULL PRIMARY KEY,
    run      TEXT    NOT NULL,
    seq      INTEGER NOT NULL CHECK (seq >= 1),
    handoff  TEXT    NOT NULL,
    version  INTEGER NOT NULL CHECK (version >= 1),
    at       INTEGER NOT NULL,
    kind     TEXT    NOT NULL,
    detail   TEXT    NOT NULL,
    hash     BLOB    NOT NULL CHECK (length(hash) = 32),
    UNIQUE (run, seq)
) STRICT;

CREATE TABLE queues (
    agent       TEXT    NOT NULL PRIMARY KEY,
    paused      INTEGER NOT NULL CHECK (paused IN (0, 1)),
    concurrency INTEGER CHECK (concurrency >= 0)
) STRICT;

-- One row per handoff: what must be looked up stands in columns, the rest in `body`. Times are microseconds since 1970.
-- The constraints repeat what the lifecycle guarantees.
--
-- Differs from SQLite: `position` is what SQLite has as `rowid`, the order of acceptance. Identifiers are compared byte
-- by byte, whatever the locale of the database is. Rows are changed several times and then rest, so pages keep room for
-- that and dead rows are cleaned up early.
CREATE TABLE handoffs (
    position     bigint GENERATED ALWAYS AS IDENTITY,
    id           text COLLATE "C" NOT NULL PRIMARY KEY,
    run          text COLLATE "C" NOT NULL,
    agent        text COLLATE "C" NOT NULL,
    priority     smallint NOT NULL CHECK (priority BETWEEN 0 AND 3),
    state        text COLLATE "C" NOT NULL CHECK (state IN (
        'pending', 'claimed', 'verifying', 'blocked', 'awaiting_person', 'completed', 'failed', 'cancelled')),
    version      bigint NOT NULL CHECK (version >= 1),
    fence        bigint NOT NULL CHECK (fence >= 0),
    ready_at     bigint CHECK ((ready_at IS NOT NULL) = (state = 'pending')),
    wake_at      bigint CHECK (wake_at IS NOT NULL OR state <> 'claimed'),
    finished_at  bigint CHECK ((finished_at IS NOT NULL) = (state IN ('completed', 'failed', 'cancelled'))),
    key          text COLLATE "C",
    accepted_seq bigint NOT NULL CHECK (accepted_seq >= 1),
    last_seq     bigint NOT NULL CHECK (last_seq >= accepted_seq),
    head         bytea NOT NULL CHECK (length(head) = 32),
    body         text NOT NULL,
    CHECK (fence >= 1 OR state NOT IN ('claimed', 'verifying')),
    CHECK (wake_at IS NULL OR finished_at IS NULL)
) WITH (
    fillfactor = 70,
    autovacuum_vacuum_scale_factor = 0.02,
    autovacuum_vacuum_threshold = 1000,
    autovacuum_analyze_scale_factor = 0.05,
    autovacuum_vacuum_cost_delay = 0
);

-- Only what waits is in here, so claiming costs the same however many handoffs are finished.
CREATE INDEX handoffs_ready ON handoffs (agent, priority, ready_at, id) WHERE state = 'pending';
CREATE INDEX handoffs_wake ON handoffs (wake_at, agent, state) WHERE wake_at IS NOT NULL;
CREATE INDEX handoffs_failed ON handoffs (finished_at) WHERE state = 'failed';
CREATE INDEX handoffs_position ON handoffs (position);
-- A handoff that belongs to no other run is found by its id.
CREATE INDEX handoffs_run ON handoffs (run) WHERE run <> id;
CREATE UNIQUE INDEX handoffs_key ON handoffs (key) WHERE key IS NOT NULL;

-- The journal. Nothing in it is ever changed; whole runs are removed when they are pruned.
--
-- Differs from SQLite: `position` is not the primary key, because here that would be one more index for every event.
CREATE TABLE events (
    position bigint GENERATED ALWAYS AS IDENTITY,
    run      text COLLATE "C" NOT NULL,
    seq      bigint NOT NULL CHECK (seq >= 1),
    handoff  text COLLATE "C" NOT NULL,
    version  bigint NOT NULL CHECK (version >= 1),
    at       bigint NOT NULL,
    kind     text NOT NULL,
    detail   text NOT NULL,
    hash     bytea NOT NULL CHECK (length(hash) = 32),
    PRIMARY KEY (run, seq)
) WITH (autovacuum_vacuum_insert_scale_factor = 0.1);

CREATE TABLE queues (
    agent       text COLLATE "C" NOT NULL PRIMARY KEY,
    paused      boolean NOT NULL,
    concurrency bigint CHECK (concurrency >= 0)
);

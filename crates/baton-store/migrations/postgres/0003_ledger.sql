-- The ledger: the heads of all runs in one chain. Nothing in it is ever changed or removed.
CREATE TABLE ledger (
    number   bigint NOT NULL PRIMARY KEY CHECK (number >= 1),
    at       bigint NOT NULL,
    occasion text COLLATE "C" NOT NULL CHECK (occasion IN ('reached', 'removed')),
    run      text COLLATE "C" NOT NULL,
    events   bigint NOT NULL CHECK (events >= 1),
    head     bytea NOT NULL CHECK (length(head) = 32),
    digest   bytea NOT NULL CHECK (length(digest) = 32)
);
CREATE INDEX ledger_run ON ledger (run, number);

-- How much of the ledger was delivered to a place outside.
CREATE TABLE anchors (
    place  text COLLATE "C" NOT NULL PRIMARY KEY,
    number bigint NOT NULL CHECK (number >= 1),
    digest bytea NOT NULL CHECK (length(digest) = 32)
);

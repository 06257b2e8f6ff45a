-- The ledger: the heads of all runs in one chain. Nothing in it is ever changed or removed.
CREATE TABLE ledger (
    number   INTEGER NOT NULL PRIMARY KEY CHECK (number >= 1),
    at       INTEGER NOT NULL,
    occasion TEXT    NOT NULL CHECK (occasion = 'reached' OR occasion = 'removed'),
    run      TEXT    NOT NULL,
    events   INTEGER NOT NULL CHECK (events >= 1),
    head     BLOB    NOT NULL CHECK (length(head) = 32),
    digest   BLOB    NOT NULL CHECK (length(digest) = 32)
) STRICT;
CREATE INDEX ledger_run ON ledger (run, number);

-- How much of the ledger was delivered to a place outside.
CREATE TABLE anchors (
    place  TEXT    NOT NULL PRIMARY KEY,
    number INTEGER NOT NULL CHECK (number >= 1),
    digest BLOB    NOT NULL CHECK (length(digest) = 32)
) STRICT;

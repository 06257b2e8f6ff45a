-- Files that reports name, as they were when they were looked at. They go when their run is removed.
CREATE TABLE contents (
    run    TEXT NOT NULL,
    digest TEXT NOT NULL CHECK (length(digest) = 64),
    bytes  BLOB NOT NULL,
    PRIMARY KEY (run, digest)
) STRICT;
CREATE INDEX contents_digest ON contents (digest);

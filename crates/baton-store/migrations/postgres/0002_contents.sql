-- Files that reports name, as they were when they were looked at. They go when their run is removed.
CREATE TABLE contents (
    run    text COLLATE "C" NOT NULL,
    digest text COLLATE "C" NOT NULL CHECK (length(digest) = 64),
    bytes  bytea NOT NULL,
    PRIMARY KEY (run, digest)
);
CREATE INDEX contents_digest ON contents (digest);

-- Tokens of a server. Only the digest of a token is stored, so that nobody who reads this table can use one.
CREATE TABLE tokens (
    id         text COLLATE "C" NOT NULL PRIMARY KEY,
    name       text NOT NULL,
    role       text NOT NULL CHECK (role IN ('viewer', 'agent', 'approver', 'admin')),
    agent      text COLLATE "C",
    digest     bytea NOT NULL UNIQUE CHECK (length(digest) = 32),
    created_at bigint NOT NULL,
    expires_at bigint,
    revoked_at bigint,
    CHECK (agent IS NOT NULL OR role <> 'agent')
);

-- Whoever follows all runs reads events in the order of their positions. An index of ranges costs a write next to nothing,
-- and events lie in that order anyway.
CREATE INDEX events_position ON events USING brin (position) WITH (pages_per_range = 16, autosummarize = on);

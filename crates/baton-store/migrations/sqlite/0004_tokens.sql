-- Tokens of a server. Only the digest of a token is stored, so that nobody who reads this table can use one.
CREATE TABLE tokens (
    id         TEXT    NOT NULL PRIMARY KEY,
    name       TEXT    NOT NULL,
    role       TEXT    NOT NULL CHECK (role = 'viewer' OR role = 'agent' OR role = 'approver' OR role = 'admin'),
    agent      TEXT,
    digest     BLOB    NOT NULL UNIQUE CHECK (length(digest) = 32),
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    revoked_at INTEGER,
    CHECK (agent IS NOT NULL OR role <> 'agent')
) STRICT;

-- Lists and counts cost the same however many handoffs are finished. These are only counted when they finish, by the
-- database itself, so that no way of writing forgets it and a crash cannot come in between.
CREATE TABLE finished_counts (
    agent    TEXT    NOT NULL,
    state    TEXT    NOT NULL,
    handoffs INTEGER NOT NULL,
    PRIMARY KEY (agent, state)
) STRICT, WITHOUT ROWID;
INSERT INTO finished_counts
    SELECT agent, state, count(*) FROM handoffs WHERE finished_at IS NOT NULL GROUP BY agent, state;

CREATE TRIGGER handoffs_finish AFTER UPDATE ON handoffs
    WHEN new.finished_at IS NOT NULL AND (old.finished_at IS NULL OR old.state <> new.state)
BEGIN
    INSERT INTO finished_counts VALUES (new.agent, new.state, 1)
        ON CONFLICT (agent, state) DO UPDATE SET handoffs = handoffs + 1;
END;
CREATE TRIGGER handoffs_unfinish AFTER UPDATE ON handoffs
    WHEN old.finished_at IS NOT NULL AND (new.finished_at IS NULL OR old.state <> new.state)
BEGIN
    UPDATE finished_counts SET handoffs = handoffs - 1 WHERE agent = old.agent AND state = old.state;
END;
CREATE TRIGGER handoffs_arrive_finished AFTER INSERT ON handoffs WHEN new.finished_at IS NOT NULL
BEGIN
    INSERT INTO finished_counts VALUES (new.agent, new.state, 1)
        ON CONFLICT (agent, state) DO UPDATE SET handoffs = handoffs + 1;
END;
CREATE TRIGGER handoffs_remove_finished AFTER DELETE ON handoffs WHEN old.finished_at IS NOT NULL
BEGIN
    UPDATE finished_counts SET handoffs = handoffs - 1 WHERE agent = old.agent AND state = old.state;
END;

-- What is finished, by agent and state and in the order of acceptance. It is written once.
CREATE INDEX handoffs_finished ON handoffs (agent, state) WHERE finished_at IS NOT NULL;
-- What waits for something else than a claimant; `handoffs_ready` and `handoffs_wake` have the rest of what is not finished.
CREATE INDEX handoffs_held ON handoffs (state, agent)
    WHERE state = 'verifying' OR state = 'blocked' OR state = 'awaiting_person';

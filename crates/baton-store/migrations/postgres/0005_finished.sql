-- Lists and counts cost the same however many handoffs are finished. These are only counted when they finish, by the
-- database itself, so that no way of writing forgets it and a crash cannot come in between.
--
-- Differs from SQLite: many connections write at once, and one row for each count would make them wait for each other until
-- they commit. So each count is spread over shares, and the sum counts.
CREATE TABLE finished_counts (
    agent    text COLLATE "C" NOT NULL,
    state    text COLLATE "C" NOT NULL,
    share    integer NOT NULL,
    handoffs bigint NOT NULL,
    PRIMARY KEY (agent, state, share)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
INSERT INTO finished_counts
    SELECT agent, state, 0, count(*) FROM handoffs WHERE finished_at IS NOT NULL GROUP BY agent, state;

CREATE FUNCTION count_finished() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'INSERT' AND OLD.finished_at IS NOT NULL THEN
        INSERT INTO finished_counts AS counted VALUES (OLD.agent, OLD.state, pg_backend_pid() % 64, -1)
            ON CONFLICT (agent, state, share) DO UPDATE SET handoffs = counted.handoffs - 1;
    END IF;
    IF TG_OP <> 'DELETE' AND NEW.finished_at IS NOT NULL THEN
        INSERT INTO finished_counts AS counted VALUES (NEW.agent, NEW.state, pg_backend_pid() % 64, 1)
            ON CONFLICT (agent, state, share) DO UPDATE SET handoffs = counted.handoffs + 1;
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER handoffs_finish AFTER UPDATE ON handoffs FOR EACH ROW
    WHEN ((OLD.finished_at IS NULL) <> (NEW.finished_at IS NULL) OR (OLD.state <> NEW.state AND NEW.finished_at IS NOT NULL))
    EXECUTE FUNCTION count_finished();
CREATE TRIGGER handoffs_arrive_finished AFTER INSERT ON handoffs FOR EACH ROW
    WHEN (NEW.finished_at IS NOT NULL) EXECUTE FUNCTION count_finished();
CREATE TRIGGER handoffs_remove_finished AFTER DELETE ON handoffs FOR EACH ROW
    WHEN (OLD.finished_at IS NOT NULL) EXECUTE FUNCTION count_finished();

-- What is finished, by agent and state and in the order of acceptance. It is written once.
CREATE INDEX handoffs_finished ON handoffs (agent, state, position) WHERE finished_at IS NOT NULL;
-- What waits for something else than a claimant; `handoffs_ready` and `handoffs_wake` have the rest of what is not finished.
CREATE INDEX handoffs_held ON handoffs (state, agent) WHERE state IN ('verifying', 'blocked', 'awaiting_person');

-- Task results that other systems insert with nothing but SQL. A row counts once it was taken in.
CREATE TABLE task_result_queue (
  id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  tenant TEXT COLLATE "C" NOT NULL DEFAULT 'default',
  correlation_id TEXT COLLATE "C" NOT NULL,
  verb TEXT COLLATE "C",
  status TEXT COLLATE "C" NOT NULL CHECK (status IN ('completed', 'failed', 'expired')),
  error TEXT COLLATE "C",
  cargo_type TEXT COLLATE "C",
  cargo_ref TEXT COLLATE "C",
  items TEXT COLLATE "C",
  idempotency_key TEXT COLLATE "C",
  queued_at TIMESTAMPTZ NOT NULL DEFAULT now(),
  leased_until BIGINT NOT NULL DEFAULT 0,
  tries BIGINT NOT NULL DEFAULT 0,
  processed_at BIGINT,
  outcome TEXT COLLATE "C"
);
CREATE INDEX task_result_pending ON task_result_queue (id) WHERE processed_at IS NULL;
CREATE INDEX task_result_done ON task_result_queue (processed_at) WHERE processed_at IS NOT NULL;

-- Whoever listens to task_result_ready looks at once. Runs as whoever inserts: it needs no right of its own.
CREATE FUNCTION notify_task_result() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN PERFORM pg_notify('task_result_ready', left(NEW.correlation_id, 500)); RETURN NULL; END
$$;
CREATE TRIGGER task_result_ready AFTER INSERT ON task_result_queue
FOR EACH ROW EXECUTE FUNCTION notify_task_result();

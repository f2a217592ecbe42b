-- Task results that other systems insert with nothing but SQL. A row counts once it was taken in.
CREATE TABLE task_result_queue (
  id INTEGER PRIMARY KEY,
  tenant TEXT NOT NULL DEFAULT 'default',
  correlation_id TEXT NOT NULL,
  verb TEXT,
  status TEXT NOT NULL CHECK (status IN ('completed', 'failed', 'expired')),
  error TEXT,
  cargo_type TEXT,
  cargo_ref TEXT,
  items TEXT,
  idempotency_key TEXT,
  queued_at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP,
  leased_until INTEGER NOT NULL DEFAULT 0,
  tries INTEGER NOT NULL DEFAULT 0,
  processed_at INTEGER,
  outcome TEXT
);
CREATE INDEX task_result_pending ON task_result_queue (id) WHERE processed_at IS NULL;
CREATE INDEX task_result_done ON task_result_queue (processed_at) WHERE processed_at IS NOT NULL;

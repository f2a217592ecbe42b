-- Steps that wait for an engine that cannot be reached: since when, how often it was tried, and when it is tried next.
CREATE TABLE engine_wait (
  aggregate BLOB NOT NULL,
  step INTEGER NOT NULL,
  tenant TEXT NOT NULL,
  engine TEXT NOT NULL,
  since INTEGER NOT NULL,
  tries INTEGER NOT NULL,
  tried_at INTEGER NOT NULL,
  next_at INTEGER NOT NULL,
  reason TEXT NOT NULL,
  PRIMARY KEY (aggregate, step)
) WITHOUT ROWID;
CREATE INDEX engine_wait_engine ON engine_wait (engine);

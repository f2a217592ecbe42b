-- Steps that wait for an engine that cannot be reached: since when, how often it was tried, and when it is tried next.
CREATE TABLE engine_wait (
  aggregate BYTEA NOT NULL,
  step BIGINT NOT NULL,
  tenant TEXT COLLATE "C" NOT NULL,
  engine TEXT COLLATE "C" NOT NULL,
  since BIGINT NOT NULL,
  tries BIGINT NOT NULL,
  tried_at BIGINT NOT NULL,
  next_at BIGINT NOT NULL,
  reason TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (aggregate, step)
);
CREATE INDEX engine_wait_engine ON engine_wait (engine);

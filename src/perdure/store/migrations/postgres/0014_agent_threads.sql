-- Graphs of agents under way: one row for each step's thread, its checkpoints, and what tasks of the newest one have written.
CREATE TABLE agent_thread (
  tenant TEXT COLLATE "C" NOT NULL,
  thread TEXT COLLATE "C" NOT NULL,
  owner TEXT COLLATE "C" NOT NULL,
  run BIGINT NOT NULL,
  attempt BIGINT NOT NULL,
  used BYTEA NOT NULL,
  changed_at BIGINT NOT NULL,
  PRIMARY KEY (tenant, thread)
);
CREATE INDEX agent_thread_owner ON agent_thread (tenant, owner);

CREATE TABLE agent_checkpoint (
  tenant TEXT COLLATE "C" NOT NULL,
  thread TEXT COLLATE "C" NOT NULL,
  space TEXT COLLATE "C" NOT NULL,
  checkpoint TEXT COLLATE "C" NOT NULL,
  parent TEXT COLLATE "C" NOT NULL,
  kind TEXT COLLATE "C" NOT NULL,
  body BYTEA NOT NULL,
  metadata_kind TEXT COLLATE "C" NOT NULL,
  metadata BYTEA NOT NULL,
  checksum BYTEA NOT NULL,
  PRIMARY KEY (tenant, thread, space, checkpoint)
);

CREATE TABLE agent_write (
  tenant TEXT COLLATE "C" NOT NULL,
  thread TEXT COLLATE "C" NOT NULL,
  space TEXT COLLATE "C" NOT NULL,
  checkpoint TEXT COLLATE "C" NOT NULL,
  task TEXT COLLATE "C" NOT NULL,
  place BIGINT NOT NULL,
  path TEXT COLLATE "C" NOT NULL,
  channel TEXT COLLATE "C" NOT NULL,
  kind TEXT COLLATE "C" NOT NULL,
  body BYTEA NOT NULL,
  checksum BYTEA NOT NULL,
  PRIMARY KEY (tenant, thread, space, checkpoint, task, place)
);

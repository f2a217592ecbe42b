-- Graphs of agents under way: one row for each step's thread, its checkpoints, and what tasks of the newest one have written.
CREATE TABLE agent_thread (
  tenant TEXT NOT NULL,
  thread TEXT NOT NULL,
  owner TEXT NOT NULL,
  run INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  used BLOB NOT NULL,
  changed_at INTEGER NOT NULL,
  PRIMARY KEY (tenant, thread)
) WITHOUT ROWID;
CREATE INDEX agent_thread_owner ON agent_thread (tenant, owner);

CREATE TABLE agent_checkpoint (
  tenant TEXT NOT NULL,
  thread TEXT NOT NULL,
  space TEXT NOT NULL,
  checkpoint TEXT NOT NULL,
  parent TEXT NOT NULL,
  kind TEXT NOT NULL,
  body BLOB NOT NULL,
  metadata_kind TEXT NOT NULL,
  metadata BLOB NOT NULL,
  checksum BLOB NOT NULL,
  PRIMARY KEY (tenant, thread, space, checkpoint)
);

CREATE TABLE agent_write (
  tenant TEXT NOT NULL,
  thread TEXT NOT NULL,
  space TEXT NOT NULL,
  checkpoint TEXT NOT NULL,
  task TEXT NOT NULL,
  place INTEGER NOT NULL,
  path TEXT NOT NULL,
  channel TEXT NOT NULL,
  kind TEXT NOT NULL,
  body BLOB NOT NULL,
  checksum BLOB NOT NULL,
  PRIMARY KEY (tenant, thread, space, checkpoint, task, place)
);

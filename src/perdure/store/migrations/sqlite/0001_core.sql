-- The core: aggregates, their journal and payloads, and the rows their states stand for.
CREATE TABLE meta (
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE aggregate (
  number INTEGER PRIMARY KEY,
  id BLOB NOT NULL CHECK (length(id) = 16),
  tenant TEXT NOT NULL,
  kind TEXT NOT NULL,
  version INTEGER NOT NULL CHECK (version > 0),
  status TEXT NOT NULL,
  ended_at INTEGER NOT NULL,
  state BLOB NOT NULL,
  head BLOB NOT NULL CHECK (length(head) = 32),
  checksum BLOB NOT NULL
);
CREATE UNIQUE INDEX aggregate_id ON aggregate (id);
CREATE INDEX aggregate_ended ON aggregate (ended_at) WHERE ended_at > 0;

CREATE TABLE journal (
  position INTEGER PRIMARY KEY,
  aggregate BLOB NOT NULL,
  sequence INTEGER NOT NULL CHECK (sequence > 0),
  body BLOB NOT NULL,
  hash BLOB NOT NULL CHECK (length(hash) = 32)
);
CREATE UNIQUE INDEX journal_aggregate ON journal (aggregate, sequence);

CREATE TABLE payload (
  number INTEGER PRIMARY KEY,
  aggregate BLOB NOT NULL,
  hash BLOB NOT NULL CHECK (length(hash) = 32),
  data BLOB NOT NULL
);
CREATE INDEX payload_aggregate ON payload (aggregate);

CREATE TABLE parked (
  number INTEGER PRIMARY KEY,
  aggregate BLOB NOT NULL,
  step INTEGER NOT NULL,
  token INTEGER NOT NULL,
  tenant TEXT NOT NULL,
  name TEXT NOT NULL,
  key TEXT NOT NULL,
  slot BLOB NOT NULL,
  status INTEGER NOT NULL CHECK (status BETWEEN 0 AND 3),
  definition INTEGER NOT NULL
);
-- The slot is empty while a token waits, so a key is unique among waiting tokens only.
CREATE UNIQUE INDEX parked_key ON parked (tenant, key, name, slot);
CREATE UNIQUE INDEX parked_aggregate ON parked (aggregate, step, token);
CREATE INDEX parked_definition ON parked (definition) WHERE status = 0;
CREATE INDEX parked_waiting ON parked (tenant) WHERE status = 0;

CREATE TABLE timer (
  due INTEGER NOT NULL,
  aggregate BLOB NOT NULL,
  step INTEGER NOT NULL,
  kind TEXT NOT NULL,
  tenant TEXT NOT NULL,
  PRIMARY KEY (due, aggregate, step, kind)
) WITHOUT ROWID;

CREATE TABLE job (
  aggregate BLOB NOT NULL,
  step INTEGER NOT NULL,
  tenant TEXT NOT NULL,
  worker INTEGER NOT NULL,
  definition INTEGER NOT NULL,
  PRIMARY KEY (aggregate, step)
) WITHOUT ROWID;
CREATE INDEX job_worker ON job (worker);

CREATE TABLE incident (
  aggregate BLOB NOT NULL,
  step INTEGER NOT NULL,
  tenant TEXT NOT NULL,
  code TEXT NOT NULL,
  opened_at INTEGER NOT NULL,
  PRIMARY KEY (aggregate, step)
) WITHOUT ROWID;
CREATE INDEX incident_tenant ON incident (tenant, opened_at);

CREATE TABLE inbox (
  number INTEGER PRIMARY KEY,
  tenant TEXT NOT NULL,
  message_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  key TEXT NOT NULL,
  received_at INTEGER NOT NULL,
  status INTEGER NOT NULL CHECK (status BETWEEN 0 AND 3),
  answer TEXT NOT NULL,
  aggregate BLOB,
  body BLOB
);
CREATE UNIQUE INDEX inbox_message ON inbox (tenant, message_id);
CREATE INDEX inbox_open ON inbox (status, tenant, received_at) WHERE status IN (0, 2);

CREATE TABLE idempotency (
  tenant TEXT NOT NULL,
  key TEXT NOT NULL,
  aggregate BLOB NOT NULL,
  request BLOB NOT NULL,
  PRIMARY KEY (tenant, key)
) WITHOUT ROWID;

CREATE TABLE index_entry (
  tenant TEXT NOT NULL,
  verb TEXT NOT NULL,
  field TEXT NOT NULL,
  value TEXT NOT NULL,
  aggregate BLOB NOT NULL,
  PRIMARY KEY (tenant, verb, field, value, aggregate)
) WITHOUT ROWID;
CREATE INDEX index_entry_aggregate ON index_entry (aggregate);

CREATE TABLE worker (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  host TEXT NOT NULL,
  process TEXT NOT NULL,
  lease_until INTEGER NOT NULL,
  is_fenced INTEGER NOT NULL DEFAULT 0 CHECK (is_fenced IN (0, 1))
);
CREATE INDEX worker_live ON worker (lease_until) WHERE is_fenced = 0;

CREATE TABLE serves (
  worker INTEGER NOT NULL,
  definition INTEGER NOT NULL,
  PRIMARY KEY (worker, definition)
) WITHOUT ROWID;

CREATE TABLE definition (
  hash BLOB PRIMARY KEY,
  short INTEGER NOT NULL,
  name TEXT NOT NULL,
  version INTEGER NOT NULL,
  body BLOB NOT NULL,
  seen_at INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE quarantine (
  aggregate BLOB NOT NULL,
  place TEXT NOT NULL,
  fact TEXT NOT NULL,
  found_at INTEGER NOT NULL,
  PRIMARY KEY (aggregate, place)
) WITHOUT ROWID;

CREATE TABLE seal (
  number INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  cursor INTEGER NOT NULL,
  leaves BLOB NOT NULL,
  root BLOB NOT NULL,
  previous BLOB NOT NULL,
  hash BLOB NOT NULL,
  key_id TEXT NOT NULL,
  signature BLOB NOT NULL
);

CREATE TABLE entity (
  tenant TEXT NOT NULL,
  entity TEXT NOT NULL,
  key TEXT NOT NULL,
  version INTEGER NOT NULL CHECK (version > 0),
  is_deleted INTEGER NOT NULL CHECK (is_deleted IN (0, 1)),
  data BLOB NOT NULL,
  hash BLOB NOT NULL,
  PRIMARY KEY (tenant, entity, key)
);

CREATE TABLE entity_history (
  tenant TEXT NOT NULL,
  entity TEXT NOT NULL,
  key TEXT NOT NULL,
  version INTEGER NOT NULL,
  is_deleted INTEGER NOT NULL,
  data BLOB NOT NULL,
  hash BLOB NOT NULL,
  aggregate BLOB NOT NULL,
  at INTEGER NOT NULL,
  principal TEXT NOT NULL,
  PRIMARY KEY (tenant, entity, key, version)
);

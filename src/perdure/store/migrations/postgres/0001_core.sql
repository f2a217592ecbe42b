-- The core: aggregates, their journal and payloads, and the rows their states stand for.
CREATE TABLE meta (
  name TEXT COLLATE "C" PRIMARY KEY,
  value TEXT COLLATE "C" NOT NULL
);

-- Added to the numbers of transactions in the journal, raised where a backup is restored on a younger server.
INSERT INTO meta (name, value) VALUES ('journal_base', '0');

CREATE TABLE aggregate (
  number BIGINT GENERATED ALWAYS AS IDENTITY,
  id BYTEA NOT NULL CHECK (octet_length(id) = 16),
  tenant TEXT COLLATE "C" NOT NULL,
  kind TEXT COLLATE "C" NOT NULL,
  version BIGINT NOT NULL CHECK (version > 0),
  status TEXT COLLATE "C" NOT NULL,
  ended_at BIGINT NOT NULL,
  state BYTEA NOT NULL,
  head BYTEA NOT NULL CHECK (octet_length(head) = 32),
  checksum BYTEA NOT NULL
);
CREATE UNIQUE INDEX aggregate_id ON aggregate (id);
CREATE INDEX aggregate_ended ON aggregate (ended_at) WHERE ended_at > 0;

-- Positions of concurrent transactions become visible out of order, (xact, position) in order below the oldest running one.
CREATE TABLE journal (
  position BIGINT GENERATED ALWAYS AS IDENTITY,
  aggregate BYTEA NOT NULL,
  sequence BIGINT NOT NULL CHECK (sequence > 0),
  body BYTEA NOT NULL,
  hash BYTEA NOT NULL CHECK (octet_length(hash) = 32),
  xact XID8 NOT NULL DEFAULT pg_current_xact_id(),
  PRIMARY KEY (xact, position)
);
CREATE UNIQUE INDEX journal_aggregate ON journal (aggregate, sequence);

CREATE TABLE payload (
  number BIGINT GENERATED ALWAYS AS IDENTITY,
  aggregate BYTEA NOT NULL,
  hash BYTEA NOT NULL CHECK (octet_length(hash) = 32),
  data BYTEA NOT NULL
);
CREATE INDEX payload_aggregate ON payload (aggregate);

CREATE TABLE parked (
  number BIGINT GENERATED ALWAYS AS IDENTITY,
  aggregate BYTEA NOT NULL,
  step BIGINT NOT NULL,
  token BIGINT NOT NULL,
  tenant TEXT COLLATE "C" NOT NULL,
  name TEXT COLLATE "C" NOT NULL,
  key TEXT COLLATE "C" NOT NULL,
  slot BYTEA NOT NULL,
  status BIGINT NOT NULL CHECK (status BETWEEN 0 AND 3),
  definition BIGINT NOT NULL
);
-- The slot is empty while a token waits, so a key is unique among waiting tokens only.
CREATE UNIQUE INDEX parked_key ON parked (tenant, key, name, slot);
CREATE UNIQUE INDEX parked_aggregate ON parked (aggregate, step, token);
CREATE INDEX parked_definition ON parked (definition) WHERE status = 0;
CREATE INDEX parked_waiting ON parked (tenant, number) WHERE status = 0;

CREATE TABLE timer (
  due BIGINT NOT NULL,
  aggregate BYTEA NOT NULL,
  step BIGINT NOT NULL,
  kind TEXT COLLATE "C" NOT NULL,
  tenant TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (due, aggregate, step, kind)
);

CREATE TABLE job (
  aggregate BYTEA NOT NULL,
  step BIGINT NOT NULL,
  tenant TEXT COLLATE "C" NOT NULL,
  worker BIGINT NOT NULL,
  definition BIGINT NOT NULL,
  PRIMARY KEY (aggregate, step)
);
CREATE INDEX job_worker ON job (worker);

CREATE TABLE incident (
  aggregate BYTEA NOT NULL,
  step BIGINT NOT NULL,
  tenant TEXT COLLATE "C" NOT NULL,
  code TEXT COLLATE "C" NOT NULL,
  opened_at BIGINT NOT NULL,
  PRIMARY KEY (aggregate, step)
);
CREATE INDEX incident_tenant ON incident (tenant, opened_at);

CREATE TABLE inbox (
  number BIGINT GENERATED ALWAYS AS IDENTITY,
  tenant TEXT COLLATE "C" NOT NULL,
  message_id TEXT COLLATE "C" NOT NULL,
  kind TEXT COLLATE "C" NOT NULL,
  key TEXT COLLATE "C" NOT NULL,
  received_at BIGINT NOT NULL,
  status BIGINT NOT NULL CHECK (status BETWEEN 0 AND 3),
  answer TEXT COLLATE "C" NOT NULL,
  aggregate BYTEA,
  body BYTEA
);
CREATE UNIQUE INDEX inbox_message ON inbox (tenant, message_id);
CREATE INDEX inbox_open ON inbox (status, tenant, received_at) WHERE status IN (0, 2);

CREATE TABLE idempotency (
  tenant TEXT COLLATE "C" NOT NULL,
  key TEXT COLLATE "C" NOT NULL,
  aggregate BYTEA NOT NULL,
  request BYTEA NOT NULL,
  PRIMARY KEY (tenant, key)
);

CREATE TABLE index_entry (
  tenant TEXT COLLATE "C" NOT NULL,
  verb TEXT COLLATE "C" NOT NULL,
  field TEXT COLLATE "C" NOT NULL,
  value TEXT COLLATE "C" NOT NULL,
  aggregate BYTEA NOT NULL,
  PRIMARY KEY (tenant, verb, field, value, aggregate)
);
CREATE INDEX index_entry_aggregate ON index_entry (aggregate);

CREATE TABLE worker (
  number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  host TEXT COLLATE "C" NOT NULL,
  process TEXT COLLATE "C" NOT NULL,
  lease_until BIGINT NOT NULL,
  is_fenced BIGINT NOT NULL DEFAULT 0 CHECK (is_fenced IN (0, 1))
);
CREATE INDEX worker_live ON worker (lease_until) WHERE is_fenced = 0;

CREATE TABLE serves (
  worker BIGINT NOT NULL,
  definition BIGINT NOT NULL,
  PRIMARY KEY (worker, definition)
);

CREATE TABLE definition (
  hash BYTEA PRIMARY KEY,
  short BIGINT NOT NULL,
  name TEXT COLLATE "C" NOT NULL,
  version BIGINT NOT NULL,
  body BYTEA NOT NULL,
  seen_at BIGINT NOT NULL
);

CREATE TABLE quarantine (
  aggregate BYTEA NOT NULL,
  place TEXT COLLATE "C" NOT NULL,
  fact TEXT COLLATE "C" NOT NULL,
  found_at BIGINT NOT NULL,
  PRIMARY KEY (aggregate, place)
);

CREATE TABLE seal (
  number BIGINT PRIMARY KEY,
  at BIGINT NOT NULL,
  cursor BIGINT NOT NULL,
  leaves BYTEA NOT NULL,
  root BYTEA NOT NULL,
  previous BYTEA NOT NULL,
  hash BYTEA NOT NULL,
  key_id TEXT COLLATE "C" NOT NULL,
  signature BYTEA NOT NULL
);

CREATE TABLE entity (
  tenant TEXT COLLATE "C" NOT NULL,
  entity TEXT COLLATE "C" NOT NULL,
  key TEXT COLLATE "C" NOT NULL,
  version BIGINT NOT NULL CHECK (version > 0),
  is_deleted BIGINT NOT NULL CHECK (is_deleted IN (0, 1)),
  data BYTEA NOT NULL,
  hash BYTEA NOT NULL,
  PRIMARY KEY (tenant, entity, key)
);

CREATE TABLE entity_history (
  tenant TEXT COLLATE "C" NOT NULL,
  entity TEXT COLLATE "C" NOT NULL,
  key TEXT COLLATE "C" NOT NULL,
  version BIGINT NOT NULL,
  is_deleted BIGINT NOT NULL,
  data BYTEA NOT NULL,
  hash BYTEA NOT NULL,
  aggregate BYTEA NOT NULL,
  at BIGINT NOT NULL,
  principal TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (tenant, entity, key, version)
);

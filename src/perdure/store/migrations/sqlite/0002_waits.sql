-- What processes wait for, messages that are kept until someone waits for them, and lists of what is no call.
ALTER TABLE parked ADD COLUMN kind TEXT NOT NULL DEFAULT 'call';
ALTER TABLE inbox ADD COLUMN name TEXT NOT NULL DEFAULT '';
ALTER TABLE inbox ADD COLUMN expires_at INTEGER NOT NULL DEFAULT 0;

-- Only calls own their key, are listed as waiting and belong to a definition; other waits have an index of their own.
DROP INDEX parked_key;
DROP INDEX parked_definition;
DROP INDEX parked_waiting;
CREATE UNIQUE INDEX parked_key ON parked (tenant, key, name, slot) WHERE kind = 'call';
CREATE INDEX parked_definition ON parked (definition) WHERE kind = 'call' AND status = 0;
CREATE INDEX parked_waiting ON parked (tenant) WHERE kind = 'call' AND status = 0;
CREATE INDEX parked_wait ON parked (tenant, kind, name, key) WHERE kind <> 'call';
CREATE INDEX parked_task ON parked (tenant) WHERE kind = 'task';

-- Messages that wait for a wait are many and at rest: who looks for work to do must not meet them.
DROP INDEX inbox_open;
CREATE INDEX inbox_pending ON inbox (status) WHERE status = 0 AND expires_at = 0;
CREATE INDEX inbox_dead ON inbox (tenant, received_at) WHERE status = 2;
CREATE INDEX inbox_buffered ON inbox (tenant, name, key) WHERE status = 0 AND expires_at > 0;
CREATE INDEX inbox_expiry ON inbox (expires_at) WHERE status = 0 AND expires_at > 0;

CREATE INDEX aggregate_kind ON aggregate (tenant, kind, id) WHERE kind <> 'runbook';
CREATE INDEX aggregate_status ON aggregate (tenant, kind, status, id) WHERE kind <> 'runbook';

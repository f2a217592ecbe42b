-- Locks: what a running step changes is changed by nobody else meanwhile, whichever runbook it belongs to.
CREATE UNIQUE INDEX parked_lock ON parked (tenant, key) WHERE kind = 'lock';

-- A runbook has as many payloads as steps: each is found by its hash, not by looking through all of them.
DROP INDEX payload_aggregate;
CREATE INDEX payload_aggregate ON payload (aggregate, hash);

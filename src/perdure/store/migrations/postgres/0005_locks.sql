-- Locks: what a running step changes is changed by nobody else meanwhile, whichever runbook it belongs to.
CREATE UNIQUE INDEX parked_lock ON parked (tenant, key) WHERE kind = 'lock';

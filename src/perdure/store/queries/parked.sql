-- name: put_parked
-- Write tokens, new or changed.
INSERT INTO parked (aggregate, step, token, tenant, name, key, slot, status, definition, kind)
VALUES (:aggregate, :step, :token, :tenant, :name, :key, :slot, :status, :definition, :kind)
ON CONFLICT (aggregate, step, token) DO UPDATE SET slot = excluded.slot, status = excluded.status;

-- name: remove_parked
-- Waits of processes that are over; tokens of calls stay.
DELETE FROM parked WHERE (aggregate, step, token) IN (SELECT * FROM (VALUES (:aggregate, :step, :token)));

-- name: taken_keys
-- Which keys of a batch already have a waiting call, for the gate.
SELECT tenant, key, name, aggregate FROM parked WHERE kind = 'call' AND slot = x''
AND (tenant, key, name) IN (SELECT * FROM (VALUES (:tenant, :key, :name)));

-- name: taken_locks
-- Who holds the locks of a batch, for the gate.
SELECT tenant, key, aggregate FROM parked WHERE kind = 'lock' AND (tenant, key) IN (SELECT * FROM (VALUES (:tenant, :key)));

-- name: find_tokens
-- Tokens of calls under a key, those that wait first, then the newest.
SELECT aggregate, step, token, name, status FROM parked WHERE tenant = :tenant AND key = :key AND kind = 'call'
ORDER BY status, number DESC LIMIT 20;

-- name: list_parked
-- Waiting calls of a tenant, oldest first, a page at a time.
SELECT aggregate, step, token, name, key, number FROM parked
WHERE tenant = :tenant AND kind = 'call' AND status = 0 AND number > :after ORDER BY number LIMIT :most;

-- name: parked_by_definition
-- Waiting calls of one definition, to find those whose verb is gone.
SELECT aggregate, step, tenant, number FROM parked
WHERE definition = :definition AND kind = 'call' AND status = 0 AND number > :after ORDER BY number LIMIT :most;

-- name: find_waits
-- What processes wait for under a name and a key, oldest first, a page at a time.
SELECT aggregate, step, token, name, key, number FROM parked
WHERE kind <> 'call' AND tenant = :tenant AND kind = :kind AND name = :name AND key = :key AND number > :after
ORDER BY number LIMIT :most;

-- name: newest_wait
-- How far the waits under a name and a key go now: later ones have larger numbers.
SELECT number FROM parked
WHERE kind <> 'call' AND tenant = :tenant AND kind = :kind AND name = :name AND key = :key ORDER BY number DESC LIMIT 1;

-- name: list_tasks
-- Human tasks of a tenant, oldest first, a page at a time.
SELECT aggregate, step, token, name, key, number FROM parked
WHERE kind <> 'call' AND kind <> 'lock' AND tenant = :tenant AND kind = 'task' AND number > :after ORDER BY number LIMIT :most;

-- name: parked_of
-- All tokens of one aggregate, for audits.
SELECT step, token, name, key, status, definition, kind FROM parked WHERE aggregate = :aggregate ORDER BY step, token;

-- name: count_calls_waiting
-- How many calls wait, up to a bound.
SELECT count(*) FROM (
  SELECT 1 FROM parked WHERE tenant = :tenant AND kind = 'call' AND status = 0 LIMIT :most
) AS counted;

-- name: oldest_call_waiting
-- The call that waits longest.
SELECT aggregate, step, token FROM parked WHERE tenant = :tenant AND kind = 'call' AND status = 0 ORDER BY number LIMIT 1;

-- name: count_waits_of
-- How many waits of another kind there are, up to a bound.
SELECT count(*) FROM (
  SELECT 1 FROM parked WHERE kind <> 'call' AND kind <> 'lock' AND tenant = :tenant AND kind = :kind LIMIT :most
) AS counted;

-- name: oldest_wait
-- The oldest wait of another kind.
SELECT aggregate, step, token FROM parked WHERE kind <> 'call' AND kind <> 'lock' AND tenant = :tenant AND kind = :kind
ORDER BY number LIMIT 1;

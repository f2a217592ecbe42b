-- name: put_parked
-- Write tokens, new or changed.
INSERT INTO parked (aggregate, step, token, tenant, name, key, slot, status, definition)
VALUES (:aggregate, :step, :token, :tenant, :name, :key, :slot, :status, :definition)
ON CONFLICT (aggregate, step, token) DO UPDATE SET slot = excluded.slot, status = excluded.status;

-- name: taken_keys
-- Which keys of a batch already have a waiting token, for the gate.
SELECT tenant, key, name, aggregate FROM parked WHERE slot = x'' AND (tenant, key, name) IN (SELECT * FROM (VALUES (:tenant, :key, :name)));

-- name: find_tokens
-- Tokens under a key, those that wait first, then the newest.
SELECT aggregate, step, token, name, status FROM parked WHERE tenant = :tenant AND key = :key
ORDER BY status, number DESC LIMIT 20;

-- name: list_parked
-- Waiting tokens of a tenant, oldest first, a page at a time.
SELECT aggregate, step, token, name, key, number FROM parked WHERE tenant = :tenant AND status = 0 AND number > :after
ORDER BY number LIMIT :most;

-- name: parked_by_definition
-- Waiting tokens of one definition, to find those whose verb is gone.
SELECT aggregate, step, tenant, number FROM parked WHERE definition = :definition AND status = 0 AND number > :after
ORDER BY number LIMIT :most;

-- name: parked_of
-- All tokens of one aggregate, for audits.
SELECT step, token, name, key, status, definition FROM parked WHERE aggregate = :aggregate ORDER BY step, token;

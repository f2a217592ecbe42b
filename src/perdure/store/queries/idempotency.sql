-- name: add_idempotency
-- A start's own key, written with the start.
INSERT INTO idempotency (tenant, key, aggregate, request) VALUES (:tenant, :key, :aggregate, :request);

-- name: taken_starts
-- Which starts of a batch happened before, for the gate.
SELECT tenant, key, aggregate FROM idempotency WHERE (tenant, key) IN (SELECT * FROM (VALUES (:tenant, :key)));

-- name: read_idempotency
-- The call a key stands for, and what was asked under it.
SELECT aggregate, request FROM idempotency WHERE tenant = :tenant AND key = :key;

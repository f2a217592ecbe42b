-- name: add_idempotency
-- Differs because a batch is one statement with an array for each column.
INSERT INTO idempotency (tenant, key, aggregate, request)
SELECT * FROM unnest(:tenant::text[], :key::text[], :aggregate::bytea[], :request::bytea[]);

-- name: taken_starts
-- Differs because a batch is one statement with an array for each column.
SELECT idempotency.tenant, idempotency.key, idempotency.aggregate FROM idempotency
JOIN unnest(:tenant::text[], :key::text[]) AS claim (tenant, key)
ON idempotency.tenant = claim.tenant AND idempotency.key = claim.key;

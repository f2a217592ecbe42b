-- name: put_parked
-- Differs because a batch is one statement with an array for each column.
INSERT INTO parked (aggregate, step, token, tenant, name, key, slot, status, definition, kind)
SELECT * FROM unnest(:aggregate::bytea[], :step::bigint[], :token::bigint[], :tenant::text[], :name::text[], :key::text[],
  :slot::bytea[], :status::bigint[], :definition::bigint[], :kind::text[])
ON CONFLICT (aggregate, step, token) DO UPDATE SET slot = excluded.slot, status = excluded.status;

-- name: remove_parked
-- Differs because a batch is one statement with an array for each column.
DELETE FROM parked USING unnest(:aggregate::bytea[], :step::bigint[], :token::bigint[]) AS gone (aggregate, step, token)
WHERE parked.aggregate = gone.aggregate AND parked.step = gone.step AND parked.token = gone.token;

-- name: taken_keys
-- Differs because a batch is one statement with an array for each column, and each look-up must go by its whole key.
SELECT claim.tenant, claim.key, claim.name, held.aggregate
FROM unnest(:tenant::text[], :key::text[], :name::text[]) AS claim (tenant, key, name),
LATERAL (
  SELECT aggregate FROM parked WHERE parked.tenant = claim.tenant AND parked.key = claim.key AND parked.name = claim.name
  AND parked.slot = ''::bytea AND parked.kind = 'call' LIMIT 1
) AS held;

-- name: taken_locks
-- Differs because a batch is one statement with an array for each column, and each look-up must go by its whole key.
SELECT claim.tenant, claim.key, held.aggregate FROM unnest(:tenant::text[], :key::text[]) AS claim (tenant, key),
LATERAL (
  SELECT aggregate FROM parked WHERE parked.tenant = claim.tenant AND parked.key = claim.key AND parked.kind = 'lock' LIMIT 1
) AS held;

-- name: find_tokens_of
-- Differs because look-ups asked for in one turn of the loop go to the server together; the place says whose a row is.
SELECT asked.place, found.* FROM unnest(:tenant::text[], :key::text[]) WITH ORDINALITY AS asked (tenant, key, place),
LATERAL (
  SELECT aggregate, step, token, name, status FROM parked WHERE parked.tenant = asked.tenant AND parked.key = asked.key
  AND parked.kind = 'call'
  ORDER BY status, number DESC LIMIT 20
) AS found;

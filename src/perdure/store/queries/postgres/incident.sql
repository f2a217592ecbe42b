-- name: put_incidents
-- Differs because a batch is one statement with an array for each column.
INSERT INTO incident (aggregate, step, tenant, code, opened_at)
SELECT * FROM unnest(:aggregate::bytea[], :step::bigint[], :tenant::text[], :code::text[], :opened_at::bigint[])
ON CONFLICT (aggregate, step) DO UPDATE SET code = excluded.code, opened_at = excluded.opened_at;

-- name: remove_incidents
-- Differs because a batch is one statement with an array for each column.
DELETE FROM incident USING unnest(:aggregate::bytea[], :step::bigint[]) AS gone (aggregate, step)
WHERE incident.aggregate = gone.aggregate AND incident.step = gone.step;

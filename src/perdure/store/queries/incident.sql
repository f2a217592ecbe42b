-- name: put_incidents
-- Open incidents.
INSERT INTO incident (aggregate, step, tenant, code, opened_at) VALUES (:aggregate, :step, :tenant, :code, :opened_at)
ON CONFLICT (aggregate, step) DO UPDATE SET code = excluded.code, opened_at = excluded.opened_at;

-- name: remove_incidents
-- Incidents that were retried or resolved.
DELETE FROM incident WHERE (aggregate, step) IN (SELECT * FROM (VALUES (:aggregate, :step)));

-- name: list_incidents
-- Open incidents of a tenant, oldest first.
SELECT aggregate, step, code, opened_at FROM incident WHERE tenant = :tenant ORDER BY opened_at, aggregate LIMIT :most;

-- name: incidents_of
-- The incidents of one aggregate, for audits.
SELECT step, code, opened_at FROM incident WHERE aggregate = :aggregate ORDER BY step;

-- name: incidents_by_code
-- Open incidents of one kind over all tenants, for what heals by itself.
SELECT aggregate, step, tenant, opened_at FROM incident WHERE code = :code
AND (opened_at, aggregate) > (:after_opened, :after_aggregate) ORDER BY opened_at, aggregate LIMIT :most;

-- name: incidents_after
-- Open incidents of a tenant after a place, oldest first.
SELECT opened_at, aggregate, step, code FROM incident
WHERE tenant = :tenant AND (opened_at, aggregate, step) > (:opened_at, :aggregate, :step)
ORDER BY opened_at, aggregate, step LIMIT :most;

-- name: count_incidents_of
-- How many incidents are open, up to a bound.
SELECT count(*) FROM (SELECT 1 FROM incident WHERE tenant = :tenant LIMIT :most) AS counted;

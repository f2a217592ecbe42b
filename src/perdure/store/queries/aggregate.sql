-- name: load_aggregate
-- One aggregate with everything its checksum covers.
SELECT id, tenant, kind, version, status, ended_at, state, head, checksum FROM aggregate WHERE id = :id;

-- name: aggregate_versions
-- Of a batch, the aggregates that do not stand where they are expected, for the gate.
WITH expected (id, version) AS (VALUES (:id, :version))
SELECT expected.id, coalesce(aggregate.version, 0) FROM expected LEFT JOIN aggregate ON aggregate.id = expected.id
WHERE coalesce(aggregate.version, 0) <> expected.version;

-- name: put_aggregate
-- Write aggregates that passed the gate, new or changed.
INSERT INTO aggregate (id, tenant, kind, version, status, ended_at, state, head, checksum, is_plan)
VALUES (:id, :tenant, :kind, :version, :status, :ended_at, :state, :head, :checksum, :is_plan)
ON CONFLICT (id) DO UPDATE SET version = excluded.version, status = excluded.status, ended_at = excluded.ended_at,
  state = excluded.state, head = excluded.head, checksum = excluded.checksum;

-- name: put_in_status
-- The same for those that are new or stay in their status, and only for those: indexes that know of it are left alone.
INSERT INTO aggregate (id, tenant, kind, version, status, ended_at, state, head, checksum, is_plan)
VALUES (:id, :tenant, :kind, :version, :status, :ended_at, :state, :head, :checksum, :is_plan)
ON CONFLICT (id) DO UPDATE SET version = excluded.version, state = excluded.state, head = excluded.head,
  checksum = excluded.checksum
WHERE aggregate.status = excluded.status AND aggregate.ended_at = excluded.ended_at;

-- name: ended_aggregates
-- Of a tenant, ended before a time and not yet erased, oldest first, for retention.
SELECT id, tenant FROM aggregate
WHERE ended_at > 0 AND tenant = :tenant AND kind = :kind AND ended_at < :before ORDER BY ended_at LIMIT :most;

-- name: tenant_with_ended
-- The next tenant that has something that ended and is not yet erased.
SELECT tenant FROM aggregate WHERE ended_at > 0 AND tenant > :after ORDER BY tenant LIMIT 1;

-- name: list_aggregates
-- Instances or processes of a tenant, newest first, a page at a time.
SELECT id, tenant, kind, version, status, ended_at, state, head, checksum FROM aggregate
WHERE kind <> 'runbook' AND tenant = :tenant AND kind = :kind AND id < :before ORDER BY id DESC LIMIT :most;

-- name: list_aggregates_in
-- The same in one status.
SELECT id, tenant, kind, version, status, ended_at, state, head, checksum FROM aggregate
WHERE kind <> 'runbook' AND tenant = :tenant AND kind = :kind AND status = :status AND id < :before
ORDER BY id DESC LIMIT :most;

-- name: scan_aggregates
-- All aggregates in the order of their ids, a page at a time, for audits.
SELECT id, tenant, kind, version, status, ended_at, state, head, checksum FROM aggregate
WHERE id > :after ORDER BY id LIMIT :most;

-- name: count_aggregates
-- How many aggregates there are, for progress.
SELECT count(*) FROM aggregate;

-- name: read_parts
-- The parts of one aggregate's state that are rows by themselves, in their order.
SELECT number, body FROM part WHERE aggregate = :aggregate ORDER BY number;

-- name: put_parts
-- Write parts that are new or changed.
INSERT INTO part (aggregate, number, body) VALUES (:aggregate, :number, :body)
ON CONFLICT (aggregate, number) DO UPDATE SET body = excluded.body;

-- name: list_runbooks
-- Plans or calls of a tenant, newest first, a page at a time.
SELECT number, id, status, version FROM aggregate
WHERE kind = 'runbook' AND tenant = :tenant AND is_plan = :is_plan AND number < :before ORDER BY number DESC LIMIT :most;

-- name: list_runbooks_in
-- The same in one state; calls that completed are in no such index.
SELECT number, id, status, version FROM aggregate
WHERE kind = 'runbook' AND (is_plan = 1 OR status <> 'completed') AND tenant = :tenant AND is_plan = :is_plan
AND status = :status AND number < :before ORDER BY number DESC LIMIT :most;

-- name: runbook_from
-- The oldest plan or call from a place on.
SELECT number, id, status, version FROM aggregate
WHERE kind = 'runbook' AND tenant = :tenant AND is_plan = :is_plan AND number >= :number ORDER BY number LIMIT 1;

-- name: number_of
-- The place of one aggregate among all.
SELECT number FROM aggregate WHERE id = :id;

-- name: ids_between
-- Calls and plans of a tenant in a narrow range of ids, the last first; the texts are joined so that ids lead the way.
SELECT id FROM aggregate WHERE id >= :low AND id <= :high AND tenant || '' = :tenant AND kind || '' = 'runbook'
ORDER BY id DESC LIMIT :most;

-- name: list_ids
-- Instances of a tenant, newest first, a page at a time, without their states.
SELECT id, status, version FROM aggregate
WHERE kind <> 'runbook' AND tenant = :tenant AND kind = :kind AND id < :before ORDER BY id DESC LIMIT :most;

-- name: list_ids_in
-- The same in one status.
SELECT id, status, version FROM aggregate
WHERE kind <> 'runbook' AND tenant = :tenant AND kind = :kind AND status = :status AND id < :before
ORDER BY id DESC LIMIT :most;

-- name: count_runbooks
-- How many plans or calls are in one state, up to a bound.
SELECT count(*) FROM (
  SELECT 1 FROM aggregate WHERE kind = 'runbook' AND (is_plan = 1 OR status <> 'completed') AND tenant = :tenant
  AND is_plan = :is_plan AND status = :status LIMIT :most
) AS counted;

-- name: count_started
-- How many plans or calls began in a stretch of places, up to a bound.
SELECT count(*) FROM (
  SELECT 1 FROM aggregate WHERE kind = 'runbook' AND tenant = :tenant AND is_plan = :is_plan AND number >= :first
  AND number < :before LIMIT :most
) AS counted;

-- name: count_aggregates_in
-- How many instances are in one status, up to a bound.
SELECT count(*) FROM (
  SELECT 1 FROM aggregate WHERE kind <> 'runbook' AND tenant = :tenant AND kind = :kind AND status = :status LIMIT :most
) AS counted;

-- name: count_ended
-- How many ended in a stretch of time, by status, up to a bound.
SELECT status, count(*) FROM (
  SELECT status FROM aggregate WHERE ended_at > 0 AND tenant = :tenant AND kind = :kind AND ended_at >= :since
  AND ended_at < :until LIMIT :most
) AS counted GROUP BY status;

-- name: is_aggregate
-- Whether there is an aggregate of an id.
SELECT 1 FROM aggregate WHERE id = :id;

-- name: load_aggregate
-- One aggregate with everything its checksum covers.
SELECT id, tenant, kind, version, status, ended_at, state, head, checksum FROM aggregate WHERE id = :id;

-- name: aggregate_versions
-- Where the aggregates of a batch stand, for the gate.
SELECT id, version FROM aggregate WHERE id IN (SELECT * FROM (VALUES (:id)));

-- name: put_aggregate
-- Write aggregates that passed the gate, new or changed.
INSERT INTO aggregate (id, tenant, kind, version, status, ended_at, state, head, checksum)
VALUES (:id, :tenant, :kind, :version, :status, :ended_at, :state, :head, :checksum)
ON CONFLICT (id) DO UPDATE SET version = excluded.version, status = excluded.status, ended_at = excluded.ended_at,
  state = excluded.state, head = excluded.head, checksum = excluded.checksum;

-- name: ended_aggregates
-- Ended before a time and not yet erased, oldest first, for retention.
SELECT id, tenant FROM aggregate WHERE ended_at > 0 AND ended_at < :before AND kind = :kind ORDER BY ended_at LIMIT :most;

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

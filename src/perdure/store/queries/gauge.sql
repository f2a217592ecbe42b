-- name: gauge_jobs
-- Jobs that no live worker holds, up to a bound, for gauges.
SELECT count(*) FROM (
  SELECT 1 FROM job LEFT JOIN worker ON worker.number = job.worker AND worker.is_fenced = 0
  WHERE worker.number IS NULL LIMIT :most
) AS found;

-- name: gauge_incidents
-- Open incidents of all tenants, up to a bound, for gauges.
SELECT count(*) FROM (SELECT 1 FROM incident LIMIT :most) AS found;

-- name: gauge_dead
-- Dead letters of all tenants, up to a bound, for gauges.
SELECT count(*) FROM (SELECT 1 FROM inbox WHERE status = 2 LIMIT :most) AS found;

-- name: gauge_tasks
-- Open human tasks of all tenants, up to a bound, for gauges.
SELECT count(*) FROM (SELECT 1 FROM parked WHERE kind = 'task' LIMIT :most) AS found;

-- name: gauge_calls
-- Waiting calls of all tenants, up to a bound, for gauges.
SELECT count(*) FROM (SELECT 1 FROM parked WHERE kind = 'call' AND status = 0 LIMIT :most) AS found;

-- name: gauge_waits
-- What processes and people wait for in all tenants by kind, of so many rows at most, for gauges.
SELECT kind, count(*) FROM (SELECT kind FROM parked WHERE kind <> 'call' LIMIT :most) AS found
GROUP BY kind ORDER BY kind;

-- name: gauge_oldest_tasks
-- Of so many open human tasks of all tenants the oldest, for gauges.
SELECT aggregate, tenant, step, token FROM (
  SELECT aggregate, tenant, step, token, number FROM parked WHERE kind = 'task' LIMIT :looked_at
) AS found ORDER BY number LIMIT :most;

-- name: gauge_quarantined
-- Aggregates of all tenants that are set aside, up to a bound, for gauges.
SELECT count(*) FROM (SELECT DISTINCT aggregate FROM quarantine LIMIT :most) AS found;

-- name: gauge_dispatches
-- Commands on their way to engines outside and records of theirs that are not in our journal, up to a bound, for gauges.
SELECT begins, count(*), min(received_at) FROM (
  SELECT substr(message_id, 1, instr(message_id, '/') - 1) AS begins, received_at FROM inbox
  WHERE status = 0 AND expires_at = 0 AND kind IN ('dispatch', 'camunda_dispatch', 'camunda_fact') LIMIT :most
) AS found GROUP BY begins ORDER BY begins;

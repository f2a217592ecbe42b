
-- name: read_agent_breaker
-- The circuit breaker of one agent.
SELECT state, recent, until, successes, trips, changed_at, closed_by, reason, version FROM agent_breaker
WHERE tenant = :tenant AND agent = :agent;

-- name: list_agent_breakers
-- The circuit breakers of a tenant.
SELECT agent, state, recent, until, successes, trips, changed_at, closed_by, reason, version FROM agent_breaker
WHERE tenant = :tenant ORDER BY agent;

-- name: write_agent_breaker
-- A change of a circuit breaker, unless somebody else has changed it since it was read.
INSERT INTO agent_breaker
  (tenant, agent, state, recent, until, successes, trips, changed_at, closed_by, reason, version)
VALUES (:tenant, :agent, :state, :recent, :until, :successes, :trips, :changed_at, :closed_by, :reason, :version)
ON CONFLICT (tenant, agent) DO UPDATE SET state = excluded.state, recent = excluded.recent, until = excluded.until,
  successes = excluded.successes, trips = excluded.trips, changed_at = excluded.changed_at,
  closed_by = excluded.closed_by, reason = excluded.reason, version = excluded.version
WHERE agent_breaker.version = excluded.version - 1
RETURNING version;

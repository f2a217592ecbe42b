-- Circuit breakers of agents: one row for each agent whose attempts are watched, shared by all workers.
CREATE TABLE agent_breaker (
  tenant TEXT NOT NULL,
  agent TEXT NOT NULL,
  state TEXT NOT NULL,
  recent TEXT NOT NULL,
  until INTEGER NOT NULL,
  successes INTEGER NOT NULL,
  trips INTEGER NOT NULL,
  changed_at INTEGER NOT NULL,
  closed_by TEXT NOT NULL,
  reason TEXT NOT NULL,
  version INTEGER NOT NULL,
  PRIMARY KEY (tenant, agent),
  CHECK (state IN ('closed', 'open', 'half_open'))
) WITHOUT ROWID;

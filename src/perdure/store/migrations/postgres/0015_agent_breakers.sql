-- Circuit breakers of agents: one row for each agent whose attempts are watched, shared by all workers.
CREATE TABLE agent_breaker (
  tenant TEXT COLLATE "C" NOT NULL,
  agent TEXT COLLATE "C" NOT NULL,
  state TEXT COLLATE "C" NOT NULL,
  recent TEXT COLLATE "C" NOT NULL,
  until BIGINT NOT NULL,
  successes BIGINT NOT NULL,
  trips BIGINT NOT NULL,
  changed_at BIGINT NOT NULL,
  closed_by TEXT COLLATE "C" NOT NULL,
  reason TEXT COLLATE "C" NOT NULL,
  version BIGINT NOT NULL,
  PRIMARY KEY (tenant, agent),
  CHECK (state IN ('closed', 'open', 'half_open'))
);

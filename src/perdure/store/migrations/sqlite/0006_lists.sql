-- Lists: plans apart from calls, newest first, by state; what ended when; answers to requests that may come again.
ALTER TABLE aggregate ADD COLUMN is_plan INTEGER NOT NULL DEFAULT 0 CHECK (is_plan IN (0, 1));
UPDATE aggregate SET is_plan = 1 WHERE id IN (
  SELECT aggregate FROM index_entry WHERE verb = 'perdure:runbooks' AND field = 'all'
);
DELETE FROM index_entry WHERE verb = 'perdure:runbooks' AND field = 'all';
-- The runbooks of a case in the order they began, as far as that is known.
INSERT INTO index_entry (tenant, verb, field, value, aggregate)
SELECT tenant, 'perdure:cases', value, '', aggregate FROM index_entry WHERE verb = 'perdure:runbooks' AND field = 'case';
CREATE INDEX aggregate_listed ON aggregate (tenant, is_plan) WHERE kind = 'runbook';
-- Calls that complete are most of all there is: only their start is written to an index.
CREATE INDEX aggregate_state ON aggregate (tenant, is_plan, status) WHERE kind = 'runbook' AND (is_plan = 1 OR status <> 'completed');
DROP INDEX aggregate_ended;
CREATE INDEX aggregate_ended ON aggregate (tenant, kind, ended_at, status) WHERE ended_at > 0;

-- What waits, of one kind, longest first.
DROP INDEX parked_task;
CREATE INDEX parked_kind ON parked (tenant, kind) WHERE kind <> 'call' AND kind <> 'lock';

CREATE TABLE answer (
  tenant TEXT NOT NULL,
  principal TEXT NOT NULL,
  key TEXT NOT NULL,
  request BLOB NOT NULL,
  status INTEGER NOT NULL,
  body BLOB NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (tenant, principal, key)
);
CREATE INDEX answer_at ON answer (at);

CREATE TABLE cursor (
  tenant TEXT NOT NULL,
  name TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (tenant, name)
) WITHOUT ROWID;

-- name: schema_version
-- The number of the newest migration that ran.
SELECT user_version FROM pragma_user_version;

-- name: durability
-- The settings a commit's durability rests on, as this connection has them.
SELECT 'journal_mode', journal_mode FROM pragma_journal_mode
UNION ALL SELECT 'synchronous', synchronous FROM pragma_synchronous;

-- name: table_names
-- Which tables there are, to tell an empty database from one in use.
SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY name;

-- name: table_sizes
-- How many rows the tables hold that grow with work.
SELECT 'aggregates', count(*) FROM aggregate UNION ALL SELECT 'records', count(*) FROM journal
UNION ALL SELECT 'parts', count(*) FROM part
UNION ALL SELECT 'payloads', count(*) FROM payload UNION ALL SELECT 'tokens', count(*) FROM parked
UNION ALL SELECT 'timers', count(*) FROM timer UNION ALL SELECT 'jobs', count(*) FROM job
UNION ALL SELECT 'incidents', count(*) FROM incident UNION ALL SELECT 'messages', count(*) FROM inbox
UNION ALL SELECT 'entities', count(*) FROM entity UNION ALL SELECT 'seals', count(*) FROM seal
UNION ALL SELECT 'quarantined', count(*) FROM quarantine;

-- name: oldest_timer
-- When the first timer is due.
SELECT min(due) FROM timer;

-- name: fence_everyone
-- A restored copy owes nothing to the processes that ran on the original.
UPDATE worker SET is_fenced = 1 WHERE is_fenced = 0;

-- name: scan_ids
-- The ids of all aggregates alone, for when a row of a page cannot be read.
SELECT id FROM aggregate WHERE id > :after ORDER BY id LIMIT :most;

-- name: last_record
-- The newest record of one aggregate without its body.
SELECT sequence, hash FROM journal WHERE aggregate = :aggregate ORDER BY sequence DESC LIMIT 1;

-- name: record_positions
-- Where the records of one aggregate stand, for the seals that cover them.
SELECT sequence, position FROM journal WHERE aggregate = :aggregate AND sequence > :after ORDER BY sequence LIMIT :most;

-- name: payload_page
-- The payloads of one aggregate, a few at a time.
SELECT number, hash, stored FROM payload WHERE aggregate = :aggregate AND number > :after ORDER BY number LIMIT :most;

-- name: parked_columns
-- All tokens of one aggregate with everything that is derived from its state.
SELECT step, token, tenant, name, key, slot, status, definition, kind FROM parked
WHERE aggregate = :aggregate ORDER BY step, token;

-- name: timer_columns
-- The timers of one aggregate at one time.
SELECT due, step, kind, tenant FROM timer WHERE due = :due AND aggregate = :aggregate ORDER BY step, kind;

-- name: job_columns
-- The jobs of one aggregate with everything that is derived from its state.
SELECT step, tenant, worker, definition FROM job WHERE aggregate = :aggregate ORDER BY step;

-- name: listed_as
-- Whether one aggregate is marked as a plan.
SELECT is_plan FROM aggregate WHERE id = :aggregate;

-- name: incident_columns
-- The incidents of one aggregate with everything that is derived from its state.
SELECT step, tenant, code, opened_at FROM incident WHERE aggregate = :aggregate ORDER BY step;

-- name: scan_timer_places
-- Whose timers there are and when, a page at a time.
SELECT DISTINCT due, aggregate FROM timer WHERE (due, aggregate) > (:after_due, :after_aggregate)
ORDER BY due, aggregate LIMIT :most;

-- name: orphans_between
-- Rows that speak of an aggregate that is not there, in one stretch of ids.
SELECT 'journal', aggregate FROM journal AS one WHERE aggregate > :after AND aggregate <= :until
  AND NOT EXISTS (SELECT 1 FROM aggregate WHERE id = one.aggregate)
UNION SELECT 'payload', aggregate FROM payload AS one WHERE aggregate > :after AND aggregate <= :until
  AND NOT EXISTS (SELECT 1 FROM aggregate WHERE id = one.aggregate)
UNION SELECT 'part', aggregate FROM part AS one WHERE aggregate > :after AND aggregate <= :until
  AND NOT EXISTS (SELECT 1 FROM aggregate WHERE id = one.aggregate)
UNION SELECT 'parked', aggregate FROM parked AS one WHERE aggregate > :after AND aggregate <= :until
  AND NOT EXISTS (SELECT 1 FROM aggregate WHERE id = one.aggregate)
UNION SELECT 'job', aggregate FROM job AS one WHERE aggregate > :after AND aggregate <= :until
  AND NOT EXISTS (SELECT 1 FROM aggregate WHERE id = one.aggregate)
UNION SELECT 'incident', aggregate FROM incident AS one WHERE aggregate > :after AND aggregate <= :until
  AND NOT EXISTS (SELECT 1 FROM aggregate WHERE id = one.aggregate)
UNION SELECT 'index_entry', aggregate FROM index_entry AS one WHERE aggregate > :after AND aggregate <= :until
  AND NOT EXISTS (SELECT 1 FROM aggregate WHERE id = one.aggregate)
LIMIT :most;

-- name: scan_starts
-- Keys of starts, a page at a time, and whether their call is there.
SELECT tenant, key, aggregate, EXISTS (SELECT 1 FROM aggregate WHERE id = one.aggregate) FROM idempotency AS one
WHERE (tenant, key) > (:after_tenant, :after_key) ORDER BY tenant, key LIMIT :most;

-- name: scan_messages
-- Messages, a page at a time, and whether the aggregate they name is there.
SELECT number, tenant, message_id, kind, key, received_at, status, answer, aggregate, body, name, expires_at, checksum,
  aggregate IS NULL OR EXISTS (SELECT 1 FROM aggregate WHERE id = one.aggregate) FROM inbox AS one
WHERE number > :after ORDER BY number LIMIT :most;

-- name: stuck_messages
-- Messages that wait to be acted on and say neither by whom nor with what.
SELECT number, tenant, message_id FROM inbox WHERE status = 0 AND aggregate IS NULL AND body IS NULL
AND number > :after ORDER BY number LIMIT :most;

-- name: scan_entities
-- Entities of all tenants in order, a page at a time.
SELECT tenant, entity, key, version, is_deleted, data, hash FROM entity
WHERE (tenant, entity, key) > (:after_tenant, :after_entity, :after_key) ORDER BY tenant, entity, key LIMIT :most;

-- name: scan_entity_history
-- Every version of every entity in order, a page at a time.
SELECT tenant, entity, key, version, is_deleted, data, hash FROM entity_history
WHERE (tenant, entity, key, version) > (:after_tenant, :after_entity, :after_key, :after_version)
ORDER BY tenant, entity, key, version LIMIT :most;

-- name: journal_end
-- The newest position of the journal, 0 when it is empty.
SELECT coalesce(max(position), 0) FROM journal;

-- name: count_records_after
-- How many records stand after a position.
SELECT count(*) FROM journal WHERE position > :after;

-- name: seal_over
-- The seal that covers a position.
SELECT number, at, cursor, leaves, root, previous, hash, key_id, signature FROM seal WHERE cursor >= :position
ORDER BY number LIMIT 1;

-- name: newest_history
-- The newest version an entity's history knows.
SELECT version, is_deleted, data, hash FROM entity_history WHERE tenant = :tenant AND entity = :entity AND key = :key
ORDER BY version DESC LIMIT 1;

-- name: stretch_bytes
-- How much there is to read between two ids, before it is read at once.
SELECT (SELECT coalesce(sum(length(body)), 0) FROM journal WHERE aggregate > :after AND aggregate <= :until)
  + (SELECT coalesce(sum(length(body)), 0) FROM part WHERE aggregate > :after AND aggregate <= :until)
  + (SELECT coalesce(sum(length(stored)), 0) FROM payload WHERE aggregate > :after AND aggregate <= :until);

-- name: aggregates_between
-- The aggregates between two ids.
SELECT id, tenant, kind, version, status, ended_at, state, head, checksum FROM aggregate
WHERE id > :after AND id <= :until;

-- name: records_between
-- The records of the aggregates between two ids.
SELECT aggregate, sequence, body, hash FROM journal WHERE aggregate > :after AND aggregate <= :until
ORDER BY aggregate, sequence;

-- name: parts_between
-- The parts of the aggregates between two ids.
SELECT aggregate, number, body FROM part WHERE aggregate > :after AND aggregate <= :until ORDER BY aggregate, number;

-- name: payloads_between
-- The payloads of the aggregates between two ids; of each aggregate in the order they were written.
SELECT aggregate, number, hash, stored FROM payload WHERE aggregate > :after AND aggregate <= :until ORDER BY number;

-- name: parked_between
-- The tokens of the aggregates between two ids, with everything that is derived from a state.
SELECT aggregate, step, token, tenant, name, key, slot, status, definition, kind FROM parked
WHERE aggregate > :after AND aggregate <= :until;

-- name: jobs_between
-- The jobs of the aggregates between two ids, with everything that is derived from a state.
SELECT aggregate, step, tenant, worker, definition FROM job WHERE aggregate > :after AND aggregate <= :until;

-- name: incidents_between
-- The incidents of the aggregates between two ids, with everything that is derived from a state.
SELECT aggregate, step, tenant, code, opened_at FROM incident WHERE aggregate > :after AND aggregate <= :until;

-- name: listed_between
-- What is marked as a plan, in one stretch of ids.
SELECT id, is_plan FROM aggregate WHERE id > :after AND id <= :until;

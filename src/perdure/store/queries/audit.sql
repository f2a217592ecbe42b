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
SELECT 'journal', aggregate FROM journal AS one WHERE aggregate > :after AND aggregate <= :until AND aggregate < :rows
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
UNION SELECT 'entity_history', aggregate FROM entity_history AS one WHERE aggregate > :after AND aggregate <= :until
  AND NOT EXISTS (SELECT 1 FROM aggregate WHERE id = one.aggregate)
UNION SELECT 'document', aggregate FROM document AS one WHERE aggregate > :after AND aggregate <= :until
  AND NOT EXISTS (SELECT 1 FROM aggregate WHERE id = one.aggregate)
UNION SELECT 'document_blob', aggregate FROM document_blob AS one WHERE aggregate > :after AND aggregate <= :until
  AND NOT EXISTS (SELECT 1 FROM aggregate WHERE id = one.aggregate)
LIMIT :most;

-- name: scan_starts
-- Keys of starts, a page at a time, whether their call is there, and the record it began with.
SELECT tenant, key, aggregate, request, EXISTS (SELECT 1 FROM aggregate WHERE id = one.aggregate),
  (SELECT body FROM journal WHERE journal.aggregate = one.aggregate AND sequence = 1) FROM idempotency AS one
WHERE (tenant, key) > (:after_tenant, :after_key) ORDER BY tenant, key LIMIT :most;

-- name: scan_messages
-- Messages, a page at a time, whether the aggregate they name is there, and the record that tells of them.
SELECT one.number, one.tenant, one.message_id, one.kind, one.key, one.received_at, one.status, one.answer, one.aggregate,
  one.body, one.name, one.expires_at, one.checksum,
  one.aggregate IS NULL OR EXISTS (SELECT 1 FROM aggregate WHERE id = one.aggregate),
  one.told_by, one.told, record.body, record.hash
FROM inbox AS one LEFT JOIN journal AS record ON record.aggregate = one.told_by AND record.sequence = one.told
WHERE one.number > :after ORDER BY one.number LIMIT :most;

-- name: told_message
-- One message with every column that its digest covers, and the record that tells of it.
SELECT tenant, message_id, kind, key, received_at, status, answer, aggregate, body, name, expires_at, told_by
FROM inbox WHERE tenant = :tenant AND message_id = :message_id;

-- name: messages_named
-- How messages of one tenant stand, by a JSON list of their ids.
SELECT message_id, status FROM inbox
WHERE tenant = :tenant AND message_id IN (SELECT value FROM json_each(:names));

-- name: starts_named
-- The keys of starts of one tenant, by a JSON list of them.
SELECT key, aggregate, request FROM idempotency
WHERE tenant = :tenant AND key IN (SELECT value FROM json_each(:names));

-- name: history_of
-- The versions of entities that one aggregate wrote.
SELECT tenant, entity, key, version, is_deleted, hash, at, principal, length(data), EXISTS (
  SELECT 1 FROM entity WHERE entity.tenant = one.tenant AND entity.entity = one.entity AND entity.key = one.key
  AND entity.version = one.version AND entity.is_deleted = 0
) FROM entity_history AS one WHERE aggregate = :aggregate ORDER BY entity, key, version;

-- name: history_between
-- The versions of entities that the aggregates between two ids wrote.
SELECT aggregate, tenant, entity, key, version, is_deleted, hash, at, principal, length(data), EXISTS (
  SELECT 1 FROM entity WHERE entity.tenant = one.tenant AND entity.entity = one.entity AND entity.key = one.key
  AND entity.version = one.version AND entity.is_deleted = 0
) FROM entity_history AS one WHERE aggregate > :after AND aggregate <= :until;

-- name: index_between
-- The index rows of the aggregates between two ids.
SELECT aggregate, tenant, verb, field, value FROM index_entry WHERE aggregate > :after AND aggregate <= :until;

-- name: index_columns
-- The index rows of one aggregate with every column.
SELECT tenant, verb, field, value FROM index_entry WHERE aggregate = :aggregate ORDER BY tenant, verb, field, value;

-- name: heirless_history
-- Versions of entities that are not there at all, a page at a time.
SELECT DISTINCT tenant, entity, key FROM entity_history AS one
WHERE (tenant, entity, key) > (:after_tenant, :after_entity, :after_key) AND NOT EXISTS (
  SELECT 1 FROM entity WHERE entity.tenant = one.tenant AND entity.entity = one.entity AND entity.key = one.key
) ORDER BY tenant, entity, key LIMIT :most;

-- name: record_position
-- The place of the first record of one aggregate in the journal.
SELECT position FROM journal WHERE aggregate = :aggregate AND sequence = 1;

-- name: rows_told_before
-- Whether rows by themselves were told of before a place in the journal.
SELECT 1 FROM journal WHERE aggregate >= :rows AND position < :position LIMIT 1;

-- name: scan_row_records
-- Records of rows that no aggregate answers for, a page at a time; those of one row stand together.
SELECT aggregate, sequence, body, hash, position FROM journal
WHERE aggregate >= :rows AND aggregate > :after ORDER BY aggregate LIMIT :most;

-- name: row_records_between
-- The records of one row.
SELECT aggregate, sequence, body, hash, position FROM journal WHERE aggregate > :after AND aggregate < :until
ORDER BY aggregate;

-- name: is_row_told
-- Whether the journal tells of a row.
SELECT 1 FROM journal WHERE aggregate > :after AND aggregate < :until LIMIT 1;

-- name: scan_definitions
-- Definitions with every column, a page at a time.
SELECT hash, short, name, version, body, seen_at FROM definition WHERE hash > :after ORDER BY hash LIMIT :most;

-- name: whole_definition
-- One definition with every column.
SELECT hash, short, name, version, body, seen_at FROM definition WHERE hash = :hash;

-- name: scan_answers
-- Answers and claims, a page at a time.
SELECT tenant, principal, key, request, status, body, at FROM answer
WHERE (tenant, principal, key) > (:after_tenant, :after_principal, :after_key)
ORDER BY tenant, principal, key LIMIT :most;

-- name: scan_cursors
-- Cursors, a page at a time.
SELECT tenant, name, value FROM cursor WHERE (tenant, name) > (:after_tenant, :after_name)
ORDER BY tenant, name LIMIT :most;

-- name: scan_workers
-- Leases, a page at a time.
SELECT number, host, process, schema_number, is_fenced FROM worker WHERE number > :after ORDER BY number LIMIT :most;

-- name: whole_worker
-- One lease.
SELECT number, host, process, schema_number, is_fenced FROM worker WHERE number = :number;

-- name: scan_serves
-- Which workers say that they can run definitions, a page at a time.
SELECT DISTINCT worker FROM serves WHERE worker > :after ORDER BY worker LIMIT :most;

-- name: serves_of
-- The definitions one worker says that it can run.
SELECT definition FROM serves WHERE worker = :worker ORDER BY definition;

-- name: scan_quarantine
-- What is set aside, a page at a time.
SELECT aggregate, place, fact, found_at FROM quarantine WHERE (aggregate, place) > (:after_aggregate, :after_place)
ORDER BY aggregate, place LIMIT :most;

-- name: whole_quarantine
-- One note of damage.
SELECT aggregate, place, fact, found_at FROM quarantine WHERE aggregate = :aggregate AND place = :place;

-- name: scan_meta
-- Every fact about the store itself.
SELECT name, value FROM meta ORDER BY name;

-- name: is_journal_base
-- Whether a number may be the base of transactions.
SELECT 0 WHERE 1 = 0;

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

-- name: document_columns
-- The row of one document with everything that is derived from its state.
SELECT tenant, type, subject, status, version, valid_from, valid_until, created_at, decided_at, reason, parent, correlation
FROM document WHERE aggregate = :aggregate;

-- name: documents_between
-- The rows of documents between two ids, with everything that is derived from a state.
SELECT aggregate, tenant, type, subject, status, version, valid_from, valid_until, created_at, decided_at, reason, parent, correlation
FROM document WHERE aggregate > :after AND aggregate <= :until;

-- name: document_blob_columns
-- The blobs that one document needs.
SELECT hash, tenant FROM document_blob WHERE aggregate = :aggregate ORDER BY hash;

-- name: blobs_between
-- The blobs that documents between two ids need.
SELECT aggregate, hash, tenant FROM document_blob WHERE aggregate > :after AND aggregate <= :until;

-- name: texts_of
-- The texts of one document.
SELECT document_text.rowid % 1000, words FROM document JOIN document_text
ON document_text.rowid BETWEEN document.number * 1000 AND document.number * 1000 + 999 WHERE document.aggregate = :aggregate;

-- name: stray_texts
-- Texts of documents that are not there, up to a bound.
SELECT rowid / 1000, rowid % 1000 FROM document_text
WHERE rowid / 1000 NOT IN (SELECT number FROM document) LIMIT :most;

-- name: check_texts
-- Compare the index of words with the texts it was made of; fails when they differ.
INSERT INTO document_text (document_text) VALUES ('integrity-check');

-- name: astray_aggregates
-- Differs because a sample of everything reads the table and never an index, and rows have another identity.
SELECT encode(one.id, 'hex') FROM aggregate AS one TABLESAMPLE SYSTEM (100)
WHERE (
  SELECT CASE count(*) WHEN 1 THEN (array_agg(other.ctid))[1] END FROM aggregate AS other
  WHERE other.id = one.id
) IS DISTINCT FROM one.ctid LIMIT :most;

-- name: astray_records
-- Differs because a sample of everything reads the table and never an index, and rows have another identity.
SELECT encode(one.aggregate, 'hex') || '/' || one.sequence FROM journal AS one TABLESAMPLE SYSTEM (100)
WHERE (
  SELECT CASE count(*) WHEN 1 THEN (array_agg(other.ctid))[1] END FROM journal AS other
  WHERE other.aggregate = one.aggregate AND other.sequence = one.sequence
) IS DISTINCT FROM one.ctid LIMIT :most;

-- name: astray_calls
-- Differs because a sample of everything reads the table and never an index, and rows have another identity.
SELECT one.tenant || '/' || one.key || '/' || one.name || '/' || encode(one.slot, 'hex') FROM parked AS one TABLESAMPLE SYSTEM (100)
WHERE one.kind = 'call' AND (
  SELECT CASE count(*) WHEN 1 THEN (array_agg(other.ctid))[1] END FROM parked AS other
  WHERE other.kind = 'call' AND other.tenant = one.tenant AND other.key = one.key AND other.name = one.name AND other.slot = one.slot
) IS DISTINCT FROM one.ctid LIMIT :most;

-- name: astray_tokens
-- Differs because a sample of everything reads the table and never an index, and rows have another identity.
SELECT encode(one.aggregate, 'hex') || '/' || one.step || '/' || one.token FROM parked AS one TABLESAMPLE SYSTEM (100)
WHERE (
  SELECT CASE count(*) WHEN 1 THEN (array_agg(other.ctid))[1] END FROM parked AS other
  WHERE other.aggregate = one.aggregate AND other.step = one.step AND other.token = one.token
) IS DISTINCT FROM one.ctid LIMIT :most;

-- name: astray_locks
-- Differs because a sample of everything reads the table and never an index, and rows have another identity.
SELECT one.tenant || '/' || one.key FROM parked AS one TABLESAMPLE SYSTEM (100)
WHERE one.kind = 'lock' AND (
  SELECT CASE count(*) WHEN 1 THEN (array_agg(other.ctid))[1] END FROM parked AS other
  WHERE other.kind = 'lock' AND other.tenant = one.tenant AND other.key = one.key
) IS DISTINCT FROM one.ctid LIMIT :most;

-- name: astray_messages
-- Differs because a sample of everything reads the table and never an index, and rows have another identity.
SELECT one.tenant || '/' || one.message_id FROM inbox AS one TABLESAMPLE SYSTEM (100)
WHERE (
  SELECT CASE count(*) WHEN 1 THEN (array_agg(other.ctid))[1] END FROM inbox AS other
  WHERE other.tenant = one.tenant AND other.message_id = one.message_id
) IS DISTINCT FROM one.ctid LIMIT :most;

-- name: astray_starts
-- Differs because a sample of everything reads the table and never an index, and rows have another identity.
SELECT one.tenant || '/' || one.key FROM idempotency AS one TABLESAMPLE SYSTEM (100)
WHERE (
  SELECT CASE count(*) WHEN 1 THEN (array_agg(other.ctid))[1] END FROM idempotency AS other
  WHERE other.tenant = one.tenant AND other.key = one.key
) IS DISTINCT FROM one.ctid LIMIT :most;

-- name: astray_answers
-- Differs because a sample of everything reads the table and never an index, and rows have another identity.
SELECT one.tenant || '/' || one.principal || '/' || one.key FROM answer AS one TABLESAMPLE SYSTEM (100)
WHERE (
  SELECT CASE count(*) WHEN 1 THEN (array_agg(other.ctid))[1] END FROM answer AS other
  WHERE other.tenant = one.tenant AND other.principal = one.principal AND other.key = one.key
) IS DISTINCT FROM one.ctid LIMIT :most;

-- name: astray_entities
-- Differs because a sample of everything reads the table and never an index, and rows have another identity.
SELECT one.tenant || '/' || one.entity || '/' || one.key FROM entity AS one TABLESAMPLE SYSTEM (100)
WHERE (
  SELECT CASE count(*) WHEN 1 THEN (array_agg(other.ctid))[1] END FROM entity AS other
  WHERE other.tenant = one.tenant AND other.entity = one.entity AND other.key = one.key
) IS DISTINCT FROM one.ctid LIMIT :most;

-- name: astray_versions
-- Differs because a sample of everything reads the table and never an index, and rows have another identity.
SELECT one.tenant || '/' || one.entity || '/' || one.key || '/' || one.version FROM entity_history AS one TABLESAMPLE SYSTEM (100)
WHERE (
  SELECT CASE count(*) WHEN 1 THEN (array_agg(other.ctid))[1] END FROM entity_history AS other
  WHERE other.tenant = one.tenant AND other.entity = one.entity AND other.key = one.key AND other.version = one.version
) IS DISTINCT FROM one.ctid LIMIT :most;

-- name: astray_indexed
-- Differs because a sample of everything reads the table and never an index, and rows have another identity.
SELECT one.tenant || '/' || one.verb || '/' || one.field || '/' || one.value || '/' || encode(one.aggregate, 'hex') FROM index_entry AS one TABLESAMPLE SYSTEM (100)
WHERE (
  SELECT CASE count(*) WHEN 1 THEN (array_agg(other.ctid))[1] END FROM index_entry AS other
  WHERE other.tenant = one.tenant AND other.verb = one.verb AND other.field = one.field AND other.value = one.value AND other.aggregate = one.aggregate
) IS DISTINCT FROM one.ctid LIMIT :most;

-- name: astray_timers
-- Differs because a sample of everything reads the table and never an index, and rows have another identity.
SELECT one.due || '/' || encode(one.aggregate, 'hex') || '/' || one.step || '/' || one.kind FROM timer AS one TABLESAMPLE SYSTEM (100)
WHERE (
  SELECT CASE count(*) WHEN 1 THEN (array_agg(other.ctid))[1] END FROM timer AS other
  WHERE other.due = one.due AND other.aggregate = one.aggregate AND other.step = one.step AND other.kind = one.kind
) IS DISTINCT FROM one.ctid LIMIT :most;

-- name: astray_jobs
-- Differs because a sample of everything reads the table and never an index, and rows have another identity.
SELECT encode(one.aggregate, 'hex') || '/' || one.step FROM job AS one TABLESAMPLE SYSTEM (100)
WHERE (
  SELECT CASE count(*) WHEN 1 THEN (array_agg(other.ctid))[1] END FROM job AS other
  WHERE other.aggregate = one.aggregate AND other.step = one.step
) IS DISTINCT FROM one.ctid LIMIT :most;

-- name: astray_incidents
-- Differs because a sample of everything reads the table and never an index, and rows have another identity.
SELECT encode(one.aggregate, 'hex') || '/' || one.step FROM incident AS one TABLESAMPLE SYSTEM (100)
WHERE (
  SELECT CASE count(*) WHEN 1 THEN (array_agg(other.ctid))[1] END FROM incident AS other
  WHERE other.aggregate = one.aggregate AND other.step = one.step
) IS DISTINCT FROM one.ctid LIMIT :most;

-- name: astray_parts
-- Differs because a sample of everything reads the table and never an index, and rows have another identity.
SELECT encode(one.aggregate, 'hex') || '/' || one.number FROM part AS one TABLESAMPLE SYSTEM (100)
WHERE (
  SELECT CASE count(*) WHEN 1 THEN (array_agg(other.ctid))[1] END FROM part AS other
  WHERE other.aggregate = one.aggregate AND other.number = one.number
) IS DISTINCT FROM one.ctid LIMIT :most;

-- name: astray_documents
-- Differs because a sample of everything reads the table and never an index, and rows have another identity.
SELECT encode(one.aggregate, 'hex') FROM document AS one TABLESAMPLE SYSTEM (100)
WHERE (
  SELECT CASE count(*) WHEN 1 THEN (array_agg(other.ctid))[1] END FROM document AS other
  WHERE other.aggregate = one.aggregate
) IS DISTINCT FROM one.ctid LIMIT :most;

-- name: astray_blobs
-- Differs because a sample of everything reads the table and never an index, and rows have another identity.
SELECT encode(one.aggregate, 'hex') || '/' || encode(one.hash, 'hex') FROM document_blob AS one TABLESAMPLE SYSTEM (100)
WHERE (
  SELECT CASE count(*) WHEN 1 THEN (array_agg(other.ctid))[1] END FROM document_blob AS other
  WHERE other.aggregate = one.aggregate AND other.hash = one.hash
) IS DISTINCT FROM one.ctid LIMIT :most;

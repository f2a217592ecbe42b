-- name: astray_aggregates
-- Of aggregates by their id, those that their unique key does not lead to, up to a bound.
SELECT hex(one.id) FROM aggregate AS one NOT INDEXED
WHERE (
  SELECT CASE count(*) WHEN 1 THEN min(other.rowid) END FROM aggregate AS other INDEXED BY aggregate_id
  WHERE other.id = one.id
) IS NOT one.rowid LIMIT :most;

-- name: astray_records
-- Of records by aggregate and number, those that their unique key does not lead to, up to a bound.
SELECT hex(one.aggregate) || '/' || one.sequence FROM journal AS one NOT INDEXED
WHERE (
  SELECT CASE count(*) WHEN 1 THEN min(other.rowid) END FROM journal AS other INDEXED BY journal_aggregate
  WHERE other.aggregate = one.aggregate AND other.sequence = one.sequence
) IS NOT one.rowid LIMIT :most;

-- name: astray_calls
-- Of waiting calls by their key, those that their unique key does not lead to, up to a bound.
SELECT one.tenant || '/' || one.key || '/' || one.name || '/' || hex(one.slot) FROM parked AS one NOT INDEXED
WHERE one.kind = 'call' AND (
  SELECT CASE count(*) WHEN 1 THEN min(other.rowid) END FROM parked AS other INDEXED BY parked_key
  WHERE other.kind = 'call' AND other.tenant = one.tenant AND other.key = one.key AND other.name = one.name AND other.slot = one.slot
) IS NOT one.rowid LIMIT :most;

-- name: astray_tokens
-- Of tokens by their place, those that their unique key does not lead to, up to a bound.
SELECT hex(one.aggregate) || '/' || one.step || '/' || one.token FROM parked AS one NOT INDEXED
WHERE (
  SELECT CASE count(*) WHEN 1 THEN min(other.rowid) END FROM parked AS other INDEXED BY parked_aggregate
  WHERE other.aggregate = one.aggregate AND other.step = one.step AND other.token = one.token
) IS NOT one.rowid LIMIT :most;

-- name: astray_locks
-- Of locks by their key, those that their unique key does not lead to, up to a bound.
SELECT one.tenant || '/' || one.key FROM parked AS one NOT INDEXED
WHERE one.kind = 'lock' AND (
  SELECT CASE count(*) WHEN 1 THEN min(other.rowid) END FROM parked AS other INDEXED BY parked_lock
  WHERE other.kind = 'lock' AND other.tenant = one.tenant AND other.key = one.key
) IS NOT one.rowid LIMIT :most;

-- name: astray_messages
-- Of messages by their id, those that their unique key does not lead to, up to a bound.
SELECT one.tenant || '/' || one.message_id FROM inbox AS one NOT INDEXED
WHERE (
  SELECT CASE count(*) WHEN 1 THEN min(other.rowid) END FROM inbox AS other INDEXED BY inbox_message
  WHERE other.tenant = one.tenant AND other.message_id = one.message_id
) IS NOT one.rowid LIMIT :most;

-- name: astray_starts
-- Of idempotency keys, those that their unique key does not lead to, up to a bound.
SELECT one.tenant || '/' || one.key FROM idempotency AS one
WHERE (
  SELECT count(*) FROM idempotency AS other WHERE other.tenant = one.tenant AND other.key = one.key
) <> 1 LIMIT :most;

-- name: astray_answers
-- Of answers by the key of their request, those that their unique key does not lead to, up to a bound.
SELECT one.tenant || '/' || one.principal || '/' || one.key FROM answer AS one NOT INDEXED
WHERE (
  SELECT CASE count(*) WHEN 1 THEN min(other.rowid) END FROM answer AS other INDEXED BY sqlite_autoindex_answer_1
  WHERE other.tenant = one.tenant AND other.principal = one.principal AND other.key = one.key
) IS NOT one.rowid LIMIT :most;

-- name: astray_entities
-- Of records of entities by their key, those that their unique key does not lead to, up to a bound.
SELECT one.tenant || '/' || one.entity || '/' || one.key FROM entity AS one NOT INDEXED
WHERE (
  SELECT CASE count(*) WHEN 1 THEN min(other.rowid) END FROM entity AS other INDEXED BY sqlite_autoindex_entity_1
  WHERE other.tenant = one.tenant AND other.entity = one.entity AND other.key = one.key
) IS NOT one.rowid LIMIT :most;

-- name: astray_versions
-- Of versions of entities, those that their unique key does not lead to, up to a bound.
SELECT one.tenant || '/' || one.entity || '/' || one.key || '/' || one.version FROM entity_history AS one NOT INDEXED
WHERE (
  SELECT CASE count(*) WHEN 1 THEN min(other.rowid) END FROM entity_history AS other INDEXED BY sqlite_autoindex_entity_history_1
  WHERE other.tenant = one.tenant AND other.entity = one.entity AND other.key = one.key AND other.version = one.version
) IS NOT one.rowid LIMIT :most;

-- name: astray_indexed
-- Of values of indexes, those that their unique key does not lead to, up to a bound.
SELECT one.tenant || '/' || one.verb || '/' || one.field || '/' || one.value || '/' || hex(one.aggregate) FROM index_entry AS one
WHERE (
  SELECT count(*) FROM index_entry AS other WHERE other.tenant = one.tenant AND other.verb = one.verb AND other.field = one.field AND other.value = one.value AND other.aggregate = one.aggregate
) <> 1 LIMIT :most;

-- name: astray_timers
-- Of timers, those that their unique key does not lead to, up to a bound.
SELECT one.due || '/' || hex(one.aggregate) || '/' || one.step || '/' || one.kind FROM timer AS one
WHERE (
  SELECT count(*) FROM timer AS other WHERE other.due = one.due AND other.aggregate = one.aggregate AND other.step = one.step AND other.kind = one.kind
) <> 1 LIMIT :most;

-- name: astray_jobs
-- Of jobs by their place, those that their unique key does not lead to, up to a bound.
SELECT hex(one.aggregate) || '/' || one.step FROM job AS one
WHERE (
  SELECT count(*) FROM job AS other WHERE other.aggregate = one.aggregate AND other.step = one.step
) <> 1 LIMIT :most;

-- name: astray_incidents
-- Of incidents by their place, those that their unique key does not lead to, up to a bound.
SELECT hex(one.aggregate) || '/' || one.step FROM incident AS one
WHERE (
  SELECT count(*) FROM incident AS other WHERE other.aggregate = one.aggregate AND other.step = one.step
) <> 1 LIMIT :most;

-- name: astray_parts
-- Of parts of states, those that their unique key does not lead to, up to a bound.
SELECT hex(one.aggregate) || '/' || one.number FROM part AS one
WHERE (
  SELECT count(*) FROM part AS other WHERE other.aggregate = one.aggregate AND other.number = one.number
) <> 1 LIMIT :most;

-- name: astray_documents
-- Of documents by their aggregate, those that their unique key does not lead to, up to a bound.
SELECT hex(one.aggregate) FROM document AS one NOT INDEXED
WHERE (
  SELECT CASE count(*) WHEN 1 THEN min(other.rowid) END FROM document AS other INDEXED BY sqlite_autoindex_document_1
  WHERE other.aggregate = one.aggregate
) IS NOT one.rowid LIMIT :most;

-- name: astray_blobs
-- Of blobs that documents need, those that their unique key does not lead to, up to a bound.
SELECT hex(one.aggregate) || '/' || hex(one.hash) FROM document_blob AS one
WHERE (
  SELECT count(*) FROM document_blob AS other WHERE other.aggregate = one.aggregate AND other.hash = one.hash
) <> 1 LIMIT :most;

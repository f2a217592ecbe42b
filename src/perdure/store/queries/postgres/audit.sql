-- name: schema_version
-- Differs because the schema's version is a row here.
SELECT value::bigint FROM meta WHERE name = 'schema';

-- name: durability
-- Differs because each database has settings of its own.
SELECT name, setting FROM pg_settings WHERE name IN ('fsync', 'full_page_writes', 'synchronous_commit') ORDER BY name;

-- name: table_names
-- Differs because the catalogue is another one.
SELECT tablename::text FROM pg_tables WHERE schemaname = current_schema() ORDER BY tablename;

-- name: record_positions
-- Differs because the cursor is the transaction and the place in it.
SELECT sequence, (xact::text::bigint << 20)
  + (SELECT count(*) FROM journal AS same WHERE same.xact = one.xact AND same.position <= one.position)
FROM journal AS one WHERE aggregate = :aggregate AND sequence > :after ORDER BY sequence LIMIT :most;

-- name: journal_end
-- Differs because the cursor is the transaction and the place in it.
SELECT coalesce((SELECT (xact::text::bigint << 20) + (SELECT count(*) FROM journal AS same WHERE same.xact = one.xact)
  FROM journal AS one ORDER BY xact DESC LIMIT 1), 0);

-- name: count_records_after
-- Differs because the cursor is the transaction and the place in it.
SELECT (SELECT count(*) FROM journal WHERE xact > (:after::bigint >> 20)::text::xid8)
  + greatest(0, (SELECT count(*) FROM journal WHERE xact = (:after::bigint >> 20)::text::xid8) - (:after::bigint & 1048575));

-- name: messages_named
-- Differs because a JSON list is read in another way.
SELECT message_id, status FROM inbox
WHERE tenant = :tenant AND message_id IN (SELECT json_array_elements_text(:names::text::json));

-- name: starts_named
-- Differs because a JSON list is read in another way.
SELECT key, aggregate, request FROM idempotency
WHERE tenant = :tenant AND key IN (SELECT json_array_elements_text(:names::text::json));

-- name: is_journal_base
-- Differs because only here transactions have a base: nothing, or the last transaction before a backup was restored.
SELECT 1::bigint WHERE :value::bigint = 0 OR EXISTS (SELECT 1 FROM journal WHERE xact = :value::text::xid8);

-- name: fence_everyone
-- Differs because commits under way are waited for, which a plain update would overtake.
WITH held AS (SELECT number FROM worker WHERE is_fenced = 0 ORDER BY number FOR UPDATE)
UPDATE worker SET is_fenced = 1 FROM held WHERE worker.number = held.number;

-- name: texts_of
-- Differs because texts are rows of a table with a key of their own, and words are lexemes.
SELECT version, array_to_string(tsvector_to_array(words), ' ') FROM document_text WHERE aggregate = :aggregate;

-- name: stray_texts
-- Differs because texts are rows of a table with a key of their own.
SELECT 0::bigint, version FROM document_text AS one
WHERE NOT EXISTS (SELECT 1 FROM document WHERE document.aggregate = one.aggregate) LIMIT :most;

-- name: check_texts
-- Differs because the index of words belongs to the server, whose own check looks at it.
SELECT 1::bigint;

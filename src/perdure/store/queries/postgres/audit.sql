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


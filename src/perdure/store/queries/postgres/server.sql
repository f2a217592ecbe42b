-- name: prepare_session
-- Differs because a server is shared: what a session relies on is set and read back in one round trip.
-- Scans are discouraged because plans are kept, and one made while a table was empty would scan it forever.
SELECT set_config('jit', 'off', false), set_config('enable_seqscan', 'off', false), set_config('enable_hashjoin', 'off', false),
  set_config('enable_mergejoin', 'off', false), set_config('enable_bitmapscan', 'off', false), set_config('enable_material', 'off', false),
  set_config('plan_cache_mode', 'force_generic_plan', false),
  set_config('statement_timeout', '60s', false), set_config('idle_in_transaction_session_timeout', '15s', false),
  current_setting('synchronous_commit') AS synchronous_commit, current_setting('fsync') AS fsync,
  current_setting('full_page_writes') AS full_page_writes, current_setting('server_encoding') AS server_encoding,
  current_setting('server_version_num') AS server_version_num;

-- name: migration_lock
-- Differs because several processes may open a database at once: one migrates, the others wait for it.
SELECT pg_advisory_xact_lock(7306372, 1)::text;

-- name: has_meta
-- Differs because the schema's version is a row here, and there may be no table for it yet.
-- Read from the catalogue's rows: name look-ups are cached and may miss a table another process has just made.
SELECT EXISTS (SELECT 1 FROM pg_catalog.pg_tables WHERE schemaname = current_schema() AND tablename = 'meta');

-- name: server_clock
-- Differs because time is the server's, in microseconds, unless a test gives it.
SELECT coalesce(:now::bigint, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint);

-- name: share_schema
-- Differs because a small write and a migration exclude each other: the migration's lock is taken for reading.
SELECT pg_advisory_xact_lock_shared(7306372, 1)::text;

-- name: hold_schema
-- Differs because writes sent in the same round trip must not happen on a newer schema: on one this fails.
SELECT 1 / count(*) FROM meta WHERE name = 'schema' AND value = :schema;

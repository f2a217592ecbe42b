-- name: has_amcheck
-- Differs because a server has its check in an extension: whether that is installed.
SELECT count(*) AS installed FROM pg_extension WHERE extname = 'amcheck';

-- name: checked_indexes
-- Differs because a server checks one index at a time: the B-tree indexes of the schema.
SELECT relation.oid::bigint AS oid, relation.relname::text AS name FROM pg_class AS relation
JOIN pg_am ON pg_am.oid = relation.relam AND pg_am.amname = 'btree'
JOIN pg_namespace AS space ON space.oid = relation.relnamespace AND space.nspname = current_schema()
WHERE relation.relkind = 'i' ORDER BY relation.relname;

-- name: checked_tables
-- Differs because a server checks one table at a time: the tables of the schema.
SELECT relation.oid::bigint AS oid, relation.relname::text AS name FROM pg_class AS relation
JOIN pg_namespace AS space ON space.oid = relation.relnamespace AND space.nspname = current_schema()
WHERE relation.relkind = 'r' ORDER BY relation.relname;

-- name: take_time
-- Differs because a server ends long statements: checks may take as long as they need, for the rest of a transaction.
SELECT set_config('statement_timeout', '0', true), set_config('idle_in_transaction_session_timeout', '0', true);

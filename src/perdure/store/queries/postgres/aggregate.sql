-- name: aggregate_versions
-- Differs because all rows are locked, in the order of their ids, until the batch commits, and so all are answered.
SELECT id, version FROM aggregate WHERE id = ANY(:id::bytea[]) ORDER BY id FOR UPDATE;

-- name: put_aggregate
-- Differs because a batch is one statement with an array for each column.
INSERT INTO aggregate (id, tenant, kind, version, status, ended_at, state, head, checksum, is_plan)
SELECT * FROM unnest(:id::bytea[], :tenant::text[], :kind::text[], :version::bigint[], :status::text[], :ended_at::bigint[],
  :state::bytea[], :head::bytea[], :checksum::bytea[], :is_plan::bigint[])
ON CONFLICT (id) DO UPDATE SET version = excluded.version, status = excluded.status, ended_at = excluded.ended_at,
  state = excluded.state, head = excluded.head, checksum = excluded.checksum;

-- name: load_aggregates
-- Differs because loads asked for in one turn of the loop go to the server together.
SELECT id, tenant, kind, version, status, ended_at, state, head, checksum FROM aggregate WHERE id = ANY(:id::bytea[]);

-- name: put_parts
-- Differs because a batch is one statement with an array for each column.
INSERT INTO part (aggregate, number, body)
SELECT * FROM unnest(:aggregate::bytea[], :number::bigint[], :body::bytea[])
ON CONFLICT (aggregate, number) DO UPDATE SET body = excluded.body;

-- name: watched_tenants
-- Differs because a batch is one statement with an array for each column.
SELECT claim.tenant FROM unnest(:tenant::text[]) AS claim (tenant) WHERE EXISTS (
  SELECT 1 FROM aggregate WHERE kind <> 'runbook' AND kind = 'lifecycle_definition' AND aggregate.tenant = claim.tenant
);

-- name: share_records
-- Differs because commits overlap: whoever changes records without a notice holds this until it has committed.
SELECT pg_advisory_xact_lock_shared(7306372, 2)::text;

-- name: await_record_writers
-- Differs because commits overlap: those that could not see what was committed before are waited for.
SELECT pg_advisory_xact_lock(7306372, 2)::text;

-- name: entity_versions
-- Differs because rows are locked, in the order of their keys, until the batch commits.
SELECT entity.tenant, entity.entity, entity.key, entity.version FROM entity
JOIN unnest(:tenant::text[], :entity::text[], :key::text[]) AS claim (tenant, entity, key)
ON entity.tenant = claim.tenant AND entity.entity = claim.entity AND entity.key = claim.key
ORDER BY entity.tenant, entity.entity, entity.key FOR UPDATE OF entity;

-- name: put_entities
-- Differs because a batch is one statement with an array for each column.
INSERT INTO entity (tenant, entity, key, version, is_deleted, data, hash)
SELECT * FROM unnest(:tenant::text[], :entity::text[], :key::text[], :version::bigint[], :is_deleted::bigint[],
  :data::bytea[], :hash::bytea[])
ON CONFLICT (tenant, entity, key) DO UPDATE SET version = excluded.version, is_deleted = excluded.is_deleted,
  data = excluded.data, hash = excluded.hash;

-- name: add_entity_history
-- Differs because a batch is one statement with an array for each column.
INSERT INTO entity_history (tenant, entity, key, version, is_deleted, data, hash, aggregate, at, principal)
SELECT * FROM unnest(:tenant::text[], :entity::text[], :key::text[], :version::bigint[], :is_deleted::bigint[],
  :data::bytea[], :hash::bytea[], :aggregate::bytea[], :at::bigint[], :principal::text[]);

-- name: watched_tenants
-- In which tenants of a batch somebody may wait for records, for the gate: those that have a lifecycle.
SELECT DISTINCT tenant FROM aggregate WHERE kind <> 'runbook' AND kind = 'lifecycle_definition'
AND tenant IN (SELECT * FROM (VALUES (:tenant)));

-- name: await_record_writers
-- Commits exclude each other here: none is under way that did not see what was committed before.
SELECT 1;

-- name: entity_versions
-- Where the entities of a batch stand, for the gate.
SELECT tenant, entity, key, version FROM entity WHERE (tenant, entity, key) IN (SELECT * FROM (VALUES (:tenant, :entity, :key)));

-- name: put_entities
-- Write entities that passed the gate.
INSERT INTO entity (tenant, entity, key, version, is_deleted, data, hash)
VALUES (:tenant, :entity, :key, :version, :is_deleted, :data, :hash)
ON CONFLICT (tenant, entity, key) DO UPDATE SET version = excluded.version, is_deleted = excluded.is_deleted,
  data = excluded.data, hash = excluded.hash;

-- name: add_entity_history
-- Every version an entity ever had.
INSERT INTO entity_history (tenant, entity, key, version, is_deleted, data, hash, aggregate, at, principal)
VALUES (:tenant, :entity, :key, :version, :is_deleted, :data, :hash, :aggregate, :at, :principal);

-- name: read_entity
-- One entity by its key.
SELECT version, is_deleted, data, hash FROM entity WHERE tenant = :tenant AND entity = :entity AND key = :key;

-- name: list_entities
-- Entities in the order of their keys, deleted ones left out, a page at a time.
SELECT key, version, data, hash FROM entity
WHERE tenant = :tenant AND entity = :entity AND is_deleted = 0 AND key > :after ORDER BY key LIMIT :most;

-- name: entity_history
-- The versions of one entity, oldest first, a page at a time.
SELECT version, is_deleted, data, hash, aggregate, at, principal FROM entity_history
WHERE tenant = :tenant AND entity = :entity AND key = :key AND version > :after
ORDER BY version LIMIT :most;

-- name: erase_versions
-- The data of the versions one aggregate wrote goes, but for a version that is how a record stands now.
UPDATE entity_history SET data = :nothing WHERE aggregate = :aggregate AND NOT EXISTS (
  SELECT 1 FROM entity WHERE entity.tenant = entity_history.tenant AND entity.entity = entity_history.entity
  AND entity.key = entity_history.key AND entity.version = entity_history.version AND entity.is_deleted = 0
);

-- name: erase_deleted
-- The data of records that one aggregate deleted goes.
UPDATE entity SET data = :nothing WHERE is_deleted = 1 AND EXISTS (
  SELECT 1 FROM entity_history AS one WHERE one.tenant = entity.tenant AND one.entity = entity.entity
  AND one.key = entity.key AND one.version = entity.version AND one.aggregate = :aggregate
);

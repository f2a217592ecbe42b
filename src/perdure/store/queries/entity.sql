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

-- name: add_index
-- Declared scalars of the data, by which people find a call.
INSERT INTO index_entry (tenant, verb, field, value, aggregate) VALUES (:tenant, :verb, :field, :value, :aggregate)
ON CONFLICT DO NOTHING;

-- name: remove_index
-- Forget how aggregates were found, before new values or after erasure.
DELETE FROM index_entry WHERE aggregate IN (SELECT * FROM (VALUES (:aggregate)));

-- name: find_index
-- Calls of a verb by one field's value, newest first.
SELECT aggregate FROM index_entry WHERE tenant = :tenant AND verb = :verb AND field = :field AND value = :value
ORDER BY aggregate DESC LIMIT :most;

-- name: index_of
-- The index rows of one aggregate, for audits.
SELECT verb, field, value FROM index_entry WHERE aggregate = :aggregate ORDER BY field, value;

-- name: list_indexed
-- Aggregates by one field's value with their rows, newest first, a page at a time.
SELECT one.id, one.tenant, one.kind, one.version, one.status, one.ended_at, one.state, one.head, one.checksum
FROM index_entry JOIN aggregate AS one ON one.id = index_entry.aggregate
WHERE index_entry.tenant = :tenant AND index_entry.verb = :verb AND index_entry.field = :field
AND index_entry.value = :value AND index_entry.aggregate < :before
ORDER BY index_entry.aggregate DESC LIMIT :most;

-- name: list_indexed_ids
-- Aggregates by one field's value, newest first, a page at a time, without their states.
SELECT index_entry.aggregate, one.status, one.version
FROM index_entry JOIN aggregate AS one ON one.id = index_entry.aggregate
WHERE index_entry.tenant = :tenant AND index_entry.verb = :verb AND index_entry.field = :field
AND index_entry.value = :value AND index_entry.aggregate < :before
ORDER BY index_entry.aggregate DESC LIMIT :most;

-- name: indexed_field
-- The next verb and field of a tenant that have an index.
SELECT * FROM (
  SELECT verb, field FROM index_entry WHERE tenant = :tenant AND verb = :verb AND field > :field ORDER BY verb, field LIMIT 1
) AS same
UNION ALL SELECT * FROM (
  SELECT verb, field FROM index_entry WHERE tenant = :tenant AND verb > :verb ORDER BY verb, field LIMIT 1
) AS later LIMIT 1;

-- name: indexed_before
-- Aggregates by values of one field from one on, before a place, the last value and the newest first.
SELECT value, aggregate FROM index_entry
WHERE tenant = :tenant AND verb = :verb AND field = :field AND value >= :low AND (value, aggregate) < (:value, :aggregate)
ORDER BY value DESC, aggregate DESC LIMIT :most;

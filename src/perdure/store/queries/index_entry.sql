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

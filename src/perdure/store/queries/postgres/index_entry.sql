-- name: add_index
-- Differs because a batch is one statement with an array for each column.
INSERT INTO index_entry (tenant, verb, field, value, aggregate)
SELECT * FROM unnest(:tenant::text[], :verb::text[], :field::text[], :value::text[], :aggregate::bytea[])
ON CONFLICT DO NOTHING;

-- name: remove_index
-- Differs because a batch is one statement with an array for each column.
DELETE FROM index_entry WHERE aggregate = ANY(:aggregate::bytea[]);

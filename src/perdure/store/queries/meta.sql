-- name: read_meta
-- One setting of the database itself.
SELECT value FROM meta WHERE name = :name;

-- name: put_meta
-- Write one setting of the database itself.
INSERT INTO meta (name, value) VALUES (:name, :value) ON CONFLICT (name) DO UPDATE SET value = excluded.value;

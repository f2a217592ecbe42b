-- name: read_cursor
-- How far a reader of the feed has come.
SELECT value FROM cursor WHERE tenant = :tenant AND name = :name;

-- name: put_cursor
-- Remember how far a reader of the feed has come.
INSERT INTO cursor (tenant, name, value) VALUES (:tenant, :name, :value)
ON CONFLICT (tenant, name) DO UPDATE SET value = excluded.value;

-- name: remove_cursor
-- A reader of the feed is no more.
DELETE FROM cursor WHERE tenant = :tenant AND name = :name;

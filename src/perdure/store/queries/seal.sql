-- name: last_seal
-- The newest seal, to chain the next one to.
SELECT number, cursor, hash FROM seal ORDER BY number DESC LIMIT 1;

-- name: add_seal
-- A signed root over the heads that changed; returns nothing when another process took the number.
INSERT INTO seal (number, at, cursor, leaves, root, previous, hash, key_id, signature)
VALUES (:number, :at, :cursor, :leaves, :root, :previous, :hash, :key_id, :signature)
ON CONFLICT (number) DO NOTHING RETURNING number;

-- name: read_seals
-- Seals in order, a page at a time, for audits.
SELECT number, at, cursor, leaves, root, previous, hash, key_id, signature FROM seal WHERE number > :after
ORDER BY number LIMIT :most;

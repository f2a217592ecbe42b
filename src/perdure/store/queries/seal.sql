-- name: last_seal
-- The newest seal, to chain the next one to.
SELECT number, cursor, hash, key_id FROM seal ORDER BY number DESC LIMIT 1;

-- name: seal_at
-- The hash of one seal.
SELECT hash FROM seal WHERE number = :number;

-- name: first_record
-- The hash of the first record there is: it tells stores apart.
SELECT hash FROM journal ORDER BY position LIMIT 1;

-- name: tell_seal_key
-- The record of a key that a seal was just written with, unless another process took the number.
INSERT INTO journal (aggregate, sequence, body, hash) SELECT :aggregate, 1, :body, :hash
WHERE EXISTS (SELECT 1 FROM seal WHERE number = :number AND signature = :signature)
ON CONFLICT DO NOTHING;

-- name: add_seal
-- A signed root over the heads that changed; returns nothing when another process took the number.
INSERT INTO seal (number, at, cursor, leaves, root, previous, hash, key_id, signature)
VALUES (:number, :at, :cursor, :leaves, :root, :previous, :hash, :key_id, :signature)
ON CONFLICT (number) DO NOTHING RETURNING number;

-- name: read_seals
-- Seals in order, a page at a time, for audits.
SELECT number, at, cursor, leaves, root, previous, hash, key_id, signature FROM seal WHERE number > :after
ORDER BY number LIMIT :most;

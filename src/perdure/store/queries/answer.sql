-- name: read_answer
-- What was answered to a principal under a key.
SELECT request, status, body, at FROM answer WHERE tenant = :tenant AND principal = :principal AND key = :key;

-- name: add_answer
-- The first answer under a key; nothing comes back when there is one already.
INSERT INTO answer (tenant, principal, key, request, status, body, at)
VALUES (:tenant, :principal, :key, :request, :status, :body, :at)
ON CONFLICT (tenant, principal, key) DO NOTHING RETURNING key;

-- name: has_old_answers
-- Whether some answer was given before a time.
SELECT 1 FROM answer WHERE at < :before LIMIT 1;

-- name: forget_answers
-- Some of the answers given before a time.
DELETE FROM answer WHERE (tenant, principal, key) IN (
  SELECT tenant, principal, key FROM answer WHERE at < :before ORDER BY at LIMIT :most
) RETURNING key;

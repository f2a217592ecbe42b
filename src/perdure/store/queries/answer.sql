-- name: read_answer
-- What was answered to a principal under a key; status 0 is a claim of who is about to.
SELECT request, status, body, at FROM answer WHERE tenant = :tenant AND principal = :principal AND key = :key;

-- name: claim_answer
-- The right to answer under a key: to the first, or to the next once its claim is stale. Nothing comes back to others.
INSERT INTO answer (tenant, principal, key, request, status, body, at)
VALUES (:tenant, :principal, :key, :request, 0, :owner, :at)
ON CONFLICT (tenant, principal, key) DO UPDATE SET request = excluded.request, body = excluded.body, at = excluded.at
WHERE answer.status = 0 AND answer.at <= :stale RETURNING key;

-- name: renew_claim
-- Whoever has a claim is still at it.
UPDATE answer SET at = :at
WHERE tenant = :tenant AND principal = :principal AND key = :key AND status = 0 AND body = :owner RETURNING key;

-- name: release_claim
-- Whoever had a claim has nothing to answer with.
DELETE FROM answer
WHERE tenant = :tenant AND principal = :principal AND key = :key AND status = 0 AND body = :owner RETURNING key;

-- name: settle_claim
-- The answer of whoever has the claim; nothing comes back when it was taken over.
UPDATE answer SET request = :request, status = :status, body = :body, at = :at
WHERE tenant = :tenant AND principal = :principal AND key = :key AND status = 0 AND body = :owner RETURNING key;

-- name: has_old_answers
-- Whether some answer was given before a time.
SELECT 1 FROM answer WHERE at < :before LIMIT 1;

-- name: forget_answers
-- Some of the answers given before a time.
DELETE FROM answer WHERE (tenant, principal, key) IN (
  SELECT tenant, principal, key FROM answer WHERE at < :before ORDER BY at LIMIT :most
) RETURNING key;

-- name: tell_answer
-- The record of an answer that was just given, unless the claim was taken over.
INSERT INTO journal (aggregate, sequence, body, hash) SELECT :aggregate, 1, :body, :hash
WHERE EXISTS (SELECT 1 FROM answer
  WHERE tenant = :tenant AND principal = :principal AND key = :key AND status = :status AND at = :at)
ON CONFLICT DO NOTHING;

-- name: answers_of
-- The answers of a tenant, a page at a time.
SELECT principal, key, request, status, body, at FROM answer
WHERE tenant = :tenant AND status > 0 AND (principal, key) > (:after_principal, :after_key)
ORDER BY principal, key LIMIT :most;

-- name: erase_answer
-- An answer whose data was erased: that there was one stays.
UPDATE answer SET status = :status, body = :body
WHERE tenant = :tenant AND principal = :principal AND key = :key AND status > 0 AND at = :at;

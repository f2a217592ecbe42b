-- name: add_inbox
-- What arrived, once per message id.
INSERT INTO inbox (tenant, message_id, kind, key, received_at, status, answer, aggregate, body, name, expires_at,
  checksum, told_by, told)
VALUES (:tenant, :message_id, :kind, :key, :received_at, :status, :answer, :aggregate, :body, :name, :expires_at,
  :checksum, :told_by, :told);

-- name: known_messages
-- Which message ids of a batch have arrived before, for the gate.
SELECT tenant, message_id, answer, aggregate FROM inbox WHERE (tenant, message_id) IN (SELECT * FROM (VALUES (:tenant, :message_id)));

-- name: news_of_facts
-- Notices of changes of the facts that a batch stands on, which nobody has acted on yet, for the gate.
SELECT claim.column1, claim.column2, inbox.message_id FROM (VALUES (:tenant, :fact)) AS claim
JOIN inbox ON inbox.status = 0 AND inbox.expires_at = 0 AND inbox.tenant = claim.column1 AND inbox.kind = 'fact_changed'
AND instr(inbox.body, claim.column2) > 0;

-- name: pending_news
-- Notices of changes of a fact that nobody has acted on yet; of all facts where none is named.
SELECT message_id FROM inbox WHERE status = 0 AND expires_at = 0 AND tenant = :tenant AND kind = 'fact_changed'
AND instr(body, :fact) > 0;

-- name: settle_inbox
-- A pending message was acted on in this commit: its body is no longer needed.
UPDATE inbox SET status = 1, answer = 'applied', body = NULL, told_by = claim.column3, told = claim.column4,
  checksum = CASE WHEN length(checksum) = 32 THEN substr(checksum, 17) ELSE checksum END
FROM (VALUES (:tenant, :message_id, :told_by, :told)) AS claim
WHERE inbox.tenant = claim.column1 AND inbox.message_id = claim.column2;

-- name: pending_inbox
-- Messages between aggregates, and broadcasts, that still have to be acted on.
SELECT number, tenant, message_id, kind, aggregate FROM inbox
WHERE status = 0 AND expires_at = 0 AND number > :after ORDER BY number LIMIT :most;

-- name: list_dead
-- Dead letters of a tenant, oldest first.
SELECT message_id, kind, key, received_at, answer, body FROM inbox
WHERE status = 2 AND tenant = :tenant ORDER BY received_at, number LIMIT :most;

-- name: early_letters
-- Dead letters under a key since a time: answers that came before their call had parked.
SELECT message_id FROM inbox WHERE status = 2 AND tenant = :tenant AND received_at >= :since AND key = :key
AND kind = 'completion' ORDER BY received_at, number LIMIT 20;

-- name: read_message
-- One message by its id.
SELECT message_id, kind, key, received_at, status, answer, aggregate, body, name, expires_at
FROM inbox WHERE tenant = :tenant AND message_id = :message_id;

-- name: whole_message
-- One message with every column that its checksum covers.
SELECT tenant, message_id, kind, key, received_at, status, answer, aggregate, body, name, expires_at, checksum
FROM inbox WHERE tenant = :tenant AND message_id = :message_id;

-- name: mark_message
-- A person decided about a dead letter.
UPDATE inbox SET status = :status, answer = :answer, body = NULL, checksum = :checksum, told_by = :told_by, told = 1
WHERE tenant = :tenant AND message_id = :message_id AND status = 2 RETURNING message_id;

-- name: buffered_messages
-- Messages kept until someone waits for them, by name and key, oldest first; those whose time is over are left out.
SELECT message_id, received_at, expires_at, number FROM inbox
WHERE status = 0 AND expires_at > 0 AND tenant = :tenant AND name = :name AND key = :key AND expires_at > :now
AND number > :after ORDER BY number LIMIT :most;

-- name: buffered_page
-- Kept messages of all tenants whose time is not over, a page at a time, and whether someone waits for them by now.
SELECT tenant, message_id, name, key, expires_at, number, EXISTS (
  SELECT 1 FROM parked WHERE parked.kind <> 'call' AND parked.tenant = inbox.tenant AND parked.kind = 'message'
  AND parked.name = inbox.name AND parked.key = inbox.key
) FROM inbox WHERE status = 0 AND expires_at > 0 AND (expires_at, number) > (:after_expiry, :after)
ORDER BY expires_at, number LIMIT :most;

-- name: expired_messages
-- Kept messages that nobody waited for in time, earliest first.
SELECT tenant, message_id, name, key, expires_at FROM inbox
WHERE status = 0 AND expires_at > 0 AND expires_at <= :now ORDER BY expires_at, number LIMIT :most;

-- name: bury_message
-- A kept message becomes a dead letter, unless someone took it first.
UPDATE inbox SET status = 2, answer = :answer, checksum = :checksum, told_by = :told_by, told = 1
WHERE tenant = :tenant AND message_id = :message_id AND status = 0 RETURNING message_id;

-- name: dead_after
-- Dead letters of a tenant after a place, oldest first.
SELECT number, message_id, kind, key, received_at, answer, body FROM inbox
WHERE status = 2 AND tenant = :tenant AND (received_at, number) > (:received_at, :number)
ORDER BY received_at, number LIMIT :most;

-- name: count_dead_of
-- How many dead letters there are, up to a bound.
SELECT count(*) FROM (SELECT 1 FROM inbox WHERE status = 2 AND tenant = :tenant LIMIT :most) AS counted;

-- name: tell_message
-- The record of a message that was just decided about, unless someone was faster.
INSERT INTO journal (aggregate, sequence, body, hash) SELECT :aggregate, 1, :body, :hash
WHERE EXISTS (SELECT 1 FROM inbox WHERE tenant = :tenant AND message_id = :message_id AND told_by = :aggregate)
ON CONFLICT DO NOTHING;

-- name: letters_about
-- Dead letters that came for one aggregate: under a key it waited under, or under its own id.
SELECT message_id, received_at FROM inbox WHERE status = 2 AND tenant = :tenant AND (
  key IN (SELECT key FROM parked WHERE parked.aggregate = :aggregate AND key <> '')
  OR substr(key, 1, 26) = :letters
) ORDER BY received_at, number;

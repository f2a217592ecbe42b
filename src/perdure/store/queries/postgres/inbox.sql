-- name: add_inbox
-- Differs because a batch is one statement with an array for each column.
INSERT INTO inbox (tenant, message_id, kind, key, received_at, status, answer, aggregate, body, name, expires_at,
  checksum, told_by, told)
SELECT * FROM unnest(:tenant::text[], :message_id::text[], :kind::text[], :key::text[], :received_at::bigint[],
  :status::bigint[], :answer::text[], :aggregate::bytea[], :body::bytea[], :name::text[], :expires_at::bigint[],
  :checksum::bytea[], :told_by::bytea[], :told::bigint[]);

-- name: known_messages
-- Differs because a batch is one statement with an array for each column.
SELECT inbox.tenant, inbox.message_id, inbox.answer, inbox.aggregate FROM inbox
JOIN unnest(:tenant::text[], :message_id::text[]) AS claim (tenant, message_id)
ON inbox.tenant = claim.tenant AND inbox.message_id = claim.message_id;

-- name: news_of_facts
-- Differs because a batch is one statement with an array for each column.
SELECT claim.tenant, claim.fact, inbox.message_id FROM unnest(:tenant::text[], :fact::text[]) AS claim (tenant, fact)
JOIN inbox ON inbox.status = 0 AND inbox.expires_at = 0 AND inbox.tenant = claim.tenant AND inbox.kind = 'fact_changed'
AND position(convert_to(claim.fact, 'UTF8') IN inbox.body) > 0;

-- name: pending_news
-- Differs because bytes are looked for among bytes.
SELECT message_id FROM inbox WHERE status = 0 AND expires_at = 0 AND tenant = :tenant AND kind = 'fact_changed'
AND position(convert_to(:fact, 'UTF8') IN body) > 0;

-- name: settle_inbox
-- Differs because rows are locked in the order of their keys first, so that two processes cannot deadlock.
WITH settled AS (
  SELECT inbox.tenant, inbox.message_id, claim.told_by, claim.told FROM inbox
  JOIN unnest(:tenant::text[], :message_id::text[], :told_by::bytea[], :told::bigint[])
    AS claim (tenant, message_id, told_by, told)
  ON inbox.tenant = claim.tenant AND inbox.message_id = claim.message_id
  ORDER BY inbox.tenant, inbox.message_id FOR UPDATE OF inbox
)
UPDATE inbox SET status = 1, answer = 'applied', body = NULL, told_by = settled.told_by, told = settled.told,
  checksum = CASE WHEN length(inbox.checksum) = 32 THEN substr(inbox.checksum, 17) ELSE inbox.checksum END FROM settled
WHERE inbox.tenant = settled.tenant AND inbox.message_id = settled.message_id;

-- name: tell_message
-- Differs because each row of the journal knows its transaction.
INSERT INTO journal (aggregate, sequence, body, hash, xact) SELECT :aggregate::bytea, 1, :body::bytea, :hash::bytea,
  (SELECT (pg_current_xact_id()::text::bigint + value::bigint)::text::xid8 FROM meta WHERE name = 'journal_base')
WHERE EXISTS (SELECT 1 FROM inbox WHERE tenant = :tenant AND message_id = :message_id AND told_by = :aggregate)
ON CONFLICT DO NOTHING;

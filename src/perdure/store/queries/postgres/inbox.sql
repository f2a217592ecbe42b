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

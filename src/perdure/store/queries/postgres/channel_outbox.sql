-- name: tell_outbox
-- Differs because each row of the journal knows its transaction.
INSERT INTO journal (aggregate, sequence, body, hash, xact) SELECT :aggregate::bytea, 1, :body::bytea, :hash::bytea,
  (SELECT (pg_current_xact_id()::text::bigint + value::bigint)::text::xid8 FROM meta WHERE name = 'journal_base')
WHERE EXISTS (SELECT 1 FROM channel_outbox
  WHERE tenant = :tenant AND effect_id = :effect_id AND body = :written AND created_at = :created_at)
ON CONFLICT DO NOTHING;

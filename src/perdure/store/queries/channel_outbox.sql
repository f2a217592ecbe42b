-- name: put_outbox_message
-- A message for whoever reads the table; under the same effect id it is the same row, also when it was taken before.
INSERT INTO channel_outbox (tenant, effect_id, channel, recipient, correlation_id, body, created_at)
VALUES (:tenant, :effect_id, :channel, :recipient, :correlation_id, :body, :created_at)
ON CONFLICT (tenant, effect_id) DO NOTHING;

-- name: outbox_messages
-- Messages of a tenant in the order they were put.
SELECT number, effect_id, channel, recipient, correlation_id, body FROM channel_outbox
WHERE tenant = :tenant AND number > :after ORDER BY number LIMIT :most;

-- name: erase_outbox_message
-- The message that an erased call put, where nobody removed it.
DELETE FROM channel_outbox WHERE tenant = :tenant AND effect_id = :letters;

-- name: outbox_left
-- Whether the outbox still holds what a call put.
SELECT 1 FROM channel_outbox WHERE tenant = :tenant AND effect_id = :letters LIMIT 1;

-- name: tell_outbox
-- The record of a message that was just put, unless one lay there already.
INSERT INTO journal (aggregate, sequence, body, hash) SELECT :aggregate, 1, :body, :hash
WHERE EXISTS (SELECT 1 FROM channel_outbox
  WHERE tenant = :tenant AND effect_id = :effect_id AND body = :written AND created_at = :created_at)
ON CONFLICT DO NOTHING;

-- name: whole_outbox_message
-- One message, for audits.
SELECT tenant, effect_id, channel, recipient, correlation_id, body, created_at FROM channel_outbox
WHERE tenant = :tenant AND effect_id = :effect_id;

-- name: scan_outbox
-- All messages by their keys, a page at a time, for audits.
SELECT tenant, effect_id FROM channel_outbox
WHERE (tenant, effect_id) > (:after_tenant, :after_effect) ORDER BY tenant, effect_id LIMIT :most;

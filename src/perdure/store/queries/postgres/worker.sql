-- name: check_fence
-- Differs because the lease is held until the batch commits; heartbeats still pass, taking the lease away waits.
SELECT 1::bigint FROM worker WHERE number = :number AND is_fenced = 0 FOR KEY SHARE;

-- name: hold_fence
-- Differs because writes sent in the same round trip must not happen without the lease: without it this fails.
SELECT 1 / count(*) FROM (SELECT 1 FROM worker WHERE number = :number AND is_fenced = 0 FOR KEY SHARE) AS held;

-- name: fence_worker
-- Differs because it waits for the commit under way under that lease, which a plain update would overtake.
WITH held AS (
  SELECT number FROM worker WHERE number = :number AND is_fenced = 0 AND lease_until <= :lease_until FOR UPDATE
)
UPDATE worker SET is_fenced = 1 FROM held WHERE worker.number = held.number RETURNING worker.number;

-- name: tell_fence
-- Differs because each row of the journal knows its transaction.
INSERT INTO journal (aggregate, sequence, body, hash, xact) SELECT :aggregate::bytea, 1, :body::bytea, :hash::bytea,
  (SELECT (pg_current_xact_id()::text::bigint + value::bigint)::text::xid8 FROM meta WHERE name = 'journal_base')
WHERE EXISTS (SELECT 1 FROM worker WHERE number = :number AND is_fenced = 1)
ON CONFLICT DO NOTHING;

-- name: tell_forgotten
-- Differs because each row of the journal knows its transaction.
INSERT INTO journal (aggregate, sequence, body, hash, xact) SELECT :aggregate::bytea, 1, :body::bytea, :hash::bytea,
  (SELECT (pg_current_xact_id()::text::bigint + value::bigint)::text::xid8 FROM meta WHERE name = 'journal_base')
WHERE EXISTS (SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM worker WHERE number = :number))
ON CONFLICT DO NOTHING;

-- name: fence_lapsed
-- Differs because the server's clock says whether a lease has run out, and the commit under way under it is waited for.
WITH held AS (
  SELECT number FROM worker WHERE number = :number AND is_fenced = 0
  AND lease_until < coalesce(:now::bigint, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint) FOR UPDATE
)
UPDATE worker SET is_fenced = 1 FROM held WHERE worker.number = held.number RETURNING worker.number;

-- name: add_worker
-- Differs because a lease lasts by the server's clock.
INSERT INTO worker (host, process, lease_until, schema_number, is_fenced)
VALUES (:host, :process, coalesce(:now::bigint, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint) + :duration::bigint,
  :schema, 1) RETURNING number;

-- name: beat
-- Differs because a lease lasts by the server's clock.
UPDATE worker SET lease_until = coalesce(:now::bigint, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint) + :duration::bigint
WHERE number = :number AND is_fenced = 0 RETURNING lease_until;

-- name: live_workers
-- Differs because the server's clock says whether a lease has run out.
SELECT number, host, process, lease_until, lease_until < coalesce(:now::bigint, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint)
FROM worker WHERE is_fenced = 0 ORDER BY number;

-- name: outgrown_workers
-- Differs because the server's clock says whether a lease has run out.
SELECT host, process FROM worker WHERE is_fenced = 1 AND schema_number < :schema
AND lease_until >= coalesce(:now::bigint, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint) ORDER BY number;

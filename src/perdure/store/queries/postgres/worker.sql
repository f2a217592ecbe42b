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

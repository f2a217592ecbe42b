-- name: add_worker
-- A process takes a lease; its number is its fence. The lease begins when the journal knows of it.
INSERT INTO worker (host, process, lease_until, schema_number, is_fenced)
VALUES (:host, :process, :now + :duration, :schema, 1) RETURNING number;

-- name: begin_lease
-- The lease of a process that the journal knows of.
UPDATE worker SET is_fenced = 0 WHERE number = :number;

-- name: check_fence
-- Whether a process may still write.
SELECT 1 FROM worker WHERE number = :number AND is_fenced = 0;

-- name: beat
-- Extend a lease that has not been taken away; answers until when, and so what time it is.
UPDATE worker SET lease_until = :now + :duration WHERE number = :number AND is_fenced = 0 RETURNING lease_until;

-- name: fence_worker
-- Take a lease away, for good, unless it was extended past a moment.
UPDATE worker SET is_fenced = 1 WHERE number = :number AND is_fenced = 0 AND lease_until <= :lease_until RETURNING number;

-- name: fence_lapsed
-- Take a lease away, for good, once it has run out.
UPDATE worker SET is_fenced = 1 WHERE number = :number AND is_fenced = 0 AND lease_until < :now RETURNING number;

-- name: live_workers
-- Every lease that has not been taken away, and whether it has run out.
SELECT number, host, process, lease_until, lease_until < :now FROM worker WHERE is_fenced = 0 ORDER BY number;

-- name: outgrown_workers
-- Processes that had a lease when the schema was brought up to date, and so may still run.
SELECT host, process FROM worker
WHERE is_fenced = 1 AND schema_number < :schema AND lease_until >= :now ORDER BY number;

-- name: old_workers
-- Old fenced leases that hold no job.
SELECT number FROM worker WHERE is_fenced = 1 AND lease_until < :before
AND NOT EXISTS (SELECT 1 FROM job WHERE job.worker = worker.number) ORDER BY number;

-- name: forget_worker
-- An old fenced lease that holds no job.
DELETE FROM worker WHERE number = :number AND is_fenced = 1 AND lease_until < :before
AND NOT EXISTS (SELECT 1 FROM job WHERE job.worker = worker.number);

-- name: tell_fence
-- The record of a lease that was just taken away, unless it was extended.
INSERT INTO journal (aggregate, sequence, body, hash) SELECT :aggregate, 1, :body, :hash
WHERE EXISTS (SELECT 1 FROM worker WHERE number = :number AND is_fenced = 1)
ON CONFLICT DO NOTHING;

-- name: tell_forgotten
-- The record of a lease that was just forgotten, unless it holds a job.
INSERT INTO journal (aggregate, sequence, body, hash) SELECT :aggregate, 1, :body, :hash
WHERE EXISTS (SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM worker WHERE number = :number))
ON CONFLICT DO NOTHING;

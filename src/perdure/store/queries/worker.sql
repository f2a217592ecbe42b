-- name: add_worker
-- A process takes a lease; its number is its fence.
INSERT INTO worker (host, process, lease_until) VALUES (:host, :process, :lease_until) RETURNING number;

-- name: check_fence
-- Whether a process may still write.
SELECT 1 FROM worker WHERE number = :number AND is_fenced = 0;

-- name: beat
-- Extend a lease that has not been taken away.
UPDATE worker SET lease_until = :lease_until WHERE number = :number AND is_fenced = 0 RETURNING number;

-- name: fence_worker
-- Take a lease away, for good.
UPDATE worker SET is_fenced = 1 WHERE number = :number AND is_fenced = 0 AND lease_until <= :lease_until RETURNING number;

-- name: live_workers
-- Every lease that has not been taken away.
SELECT number, host, process, lease_until FROM worker WHERE is_fenced = 0 ORDER BY number;

-- name: forget_workers
-- Old fenced leases that hold no job.
DELETE FROM worker WHERE is_fenced = 1 AND lease_until < :before
AND NOT EXISTS (SELECT 1 FROM job WHERE job.worker = worker.number);

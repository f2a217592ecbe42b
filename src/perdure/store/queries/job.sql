-- name: put_jobs
-- Jobs ready for, or leased to, a worker.
INSERT INTO job (aggregate, step, tenant, worker, definition) VALUES (:aggregate, :step, :tenant, :worker, :definition)
ON CONFLICT (aggregate, step) DO UPDATE SET worker = excluded.worker;

-- name: remove_jobs
-- Jobs that have ended.
DELETE FROM job WHERE (aggregate, step) IN (SELECT * FROM (VALUES (:aggregate, :step)));

-- name: open_jobs
-- Jobs nobody holds: ready ones and those of workers that are gone, a page at a time.
SELECT job.aggregate, job.step, job.tenant, job.worker, job.definition FROM job
LEFT JOIN worker ON worker.number = job.worker AND worker.is_fenced = 0
WHERE worker.number IS NULL AND (job.aggregate, job.step) > (:after_aggregate, :after_step)
ORDER BY job.aggregate, job.step LIMIT :most;

-- name: jobs_of_worker
-- Jobs leased to one worker, a page at a time, to find those it no longer knows of.
SELECT aggregate, step, tenant, worker, definition FROM job
WHERE worker = :worker AND (aggregate, step) > (:after_aggregate, :after_step) ORDER BY aggregate, step LIMIT :most;

-- name: jobs_of
-- The jobs of one aggregate, for audits.
SELECT step, worker, definition FROM job WHERE aggregate = :aggregate ORDER BY step;

-- name: jobs_by_definition
-- Jobs of one definition that nobody runs.
SELECT job.aggregate, job.step, job.tenant FROM job LEFT JOIN worker ON worker.number = job.worker AND worker.is_fenced = 0
WHERE job.definition = :definition AND worker.number IS NULL LIMIT :most;

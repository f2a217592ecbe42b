-- name: put_jobs
-- Differs because a batch is one statement with an array for each column.
INSERT INTO job (aggregate, step, tenant, worker, definition)
SELECT * FROM unnest(:aggregate::bytea[], :step::bigint[], :tenant::text[], :worker::bigint[], :definition::bigint[])
ON CONFLICT (aggregate, step) DO UPDATE SET worker = excluded.worker;

-- name: remove_jobs
-- Differs because a batch is one statement with an array for each column.
DELETE FROM job USING unnest(:aggregate::bytea[], :step::bigint[]) AS gone (aggregate, step)
WHERE job.aggregate = gone.aggregate AND job.step = gone.step;

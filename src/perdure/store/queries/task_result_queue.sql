-- name: has_task_results
-- Whether a row waits that nobody has leased: asked at every look, so that an idle store writes nothing.
SELECT 1 FROM task_result_queue WHERE processed_at IS NULL AND leased_until <= :now LIMIT 1;

-- name: lease_task_results
-- Rows that nobody has leased, for whoever asks: of each tenant the oldest, by turns. Of a text that is too long, the beginning.
UPDATE task_result_queue SET leased_until = :until, tries = tries + 1 WHERE id IN (
  SELECT id FROM (
    SELECT id, row_number() OVER (PARTITION BY tenant ORDER BY id) AS turn FROM task_result_queue
    WHERE processed_at IS NULL AND leased_until <= :now
  ) AS waiting ORDER BY turn, id LIMIT :most
) RETURNING id, tenant, tries, substr(correlation_id, 1, 4001), substr(verb, 1, 4001), status,
  substr(error, 1, 4001), substr(cargo_type, 1, 4001), substr(cargo_ref, 1, 4001),
  substr(items, 1, 1048577), substr(idempotency_key, 1, 4001);

-- name: settle_task_result
-- A row was taken in or parked: it is never looked at again.
UPDATE task_result_queue SET processed_at = :now, leased_until = 0, outcome = :outcome
WHERE id = :id AND processed_at IS NULL RETURNING id;

-- name: release_task_result
-- A row met an error of the moment: it is leased again after a while.
UPDATE task_result_queue SET leased_until = :until, outcome = :outcome
WHERE id = :id AND processed_at IS NULL RETURNING id;

-- name: count_task_results
-- How many rows wait, up to a bound.
SELECT count(*) FROM (SELECT 1 FROM task_result_queue WHERE processed_at IS NULL LIMIT :most) AS counted;

-- name: forget_task_results
-- Rows that were dealt with before a time leave.
DELETE FROM task_result_queue WHERE id IN (
  SELECT id FROM task_result_queue WHERE processed_at IS NOT NULL AND processed_at < :before
  ORDER BY processed_at LIMIT :most
) RETURNING id;

-- name: erase_task_results
-- Results for the tasks of an erased lifecycle or call, taken in or not.
DELETE FROM task_result_queue WHERE tenant = :tenant AND substr(correlation_id, 1, 26) = :letters;

-- name: task_results_left
-- Whether the queue still holds results for the tasks of a lifecycle or a call.
SELECT 1 FROM task_result_queue WHERE tenant = :tenant AND substr(correlation_id, 1, 26) = :letters LIMIT 1;

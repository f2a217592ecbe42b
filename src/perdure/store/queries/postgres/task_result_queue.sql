-- name: lease_task_results
-- Differs because several workers lease at once: each skips what another is just leasing; of a text that is too long only its beginning is read.
UPDATE task_result_queue SET leased_until = :until, tries = tries + 1 WHERE id IN (
  SELECT id FROM task_result_queue WHERE processed_at IS NULL AND leased_until <= :now AND id IN (
    SELECT id FROM (
      SELECT id, row_number() OVER (PARTITION BY tenant ORDER BY id) AS turn FROM task_result_queue
      WHERE processed_at IS NULL AND leased_until <= :now
    ) AS waiting ORDER BY turn, id LIMIT :most
  ) FOR UPDATE SKIP LOCKED
) RETURNING id, tenant, tries, substr(correlation_id, 1, 4001), substr(verb, 1, 4001), status,
  substr(error, 1, 4001), substr(cargo_type, 1, 4001), substr(cargo_ref, 1, 4001),
  substr(items, 1, 1048577), substr(idempotency_key, 1, 4001);

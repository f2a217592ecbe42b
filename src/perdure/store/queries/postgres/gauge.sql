-- name: gauge_dispatches
-- Differs because a text is split by another function.
SELECT begins, count(*), min(received_at) FROM (
  SELECT split_part(message_id, '/', 1) AS begins, received_at FROM inbox
  WHERE status = 0 AND expires_at = 0 AND kind IN ('dispatch', 'camunda_dispatch', 'camunda_fact') LIMIT :most
) AS found GROUP BY begins ORDER BY begins;

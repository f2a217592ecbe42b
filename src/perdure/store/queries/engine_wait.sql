-- name: read_engine_wait
-- What is known of a step that waits for its engine.
SELECT engine, since, tries, tried_at, next_at, reason FROM engine_wait WHERE aggregate = :aggregate AND step = :step;

-- name: put_engine_wait
-- An attempt to reach the engine of a step failed; the first one says since when it waits.
INSERT INTO engine_wait (aggregate, step, tenant, engine, since, tries, tried_at, next_at, reason)
VALUES (:aggregate, :step, :tenant, :engine, :now, 1, :now, :next_at, :reason)
ON CONFLICT (aggregate, step) DO UPDATE SET engine = excluded.engine, tries = engine_wait.tries + 1,
  tried_at = excluded.tried_at, next_at = excluded.next_at, reason = excluded.reason
RETURNING engine, since, tries, tried_at, next_at, reason;

-- name: end_engine_wait
-- A step does not wait for its engine any more.
DELETE FROM engine_wait WHERE aggregate = :aggregate AND step = :step RETURNING step;

-- name: count_engine_waits
-- How many steps wait for each engine, and since when the longest.
SELECT engine, count(*), min(since) FROM engine_wait GROUP BY engine ORDER BY engine;

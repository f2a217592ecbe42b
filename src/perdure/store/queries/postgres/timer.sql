-- name: add_timers
-- Differs because a batch is one statement with an array for each column.
INSERT INTO timer (due, aggregate, step, kind, tenant)
SELECT * FROM unnest(:due::bigint[], :aggregate::bytea[], :step::bigint[], :kind::text[], :tenant::text[]);

-- name: remove_timers
-- Differs because a batch is one statement with an array for each column.
DELETE FROM timer USING unnest(:due::bigint[], :aggregate::bytea[], :step::bigint[], :kind::text[]) AS gone (due, aggregate, step, kind)
WHERE timer.due = gone.due AND timer.aggregate = gone.aggregate AND timer.step = gone.step AND timer.kind = gone.kind;

-- name: add_timers
-- Differs because a batch is one statement with an array for each column.
INSERT INTO timer (due, aggregate, step, kind, tenant)
SELECT * FROM unnest(:due::bigint[], :aggregate::bytea[], :step::bigint[], :kind::text[], :tenant::text[]);

-- name: remove_timers
-- Differs because a batch is one statement with an array for each column.
DELETE FROM timer USING unnest(:due::bigint[], :aggregate::bytea[], :step::bigint[], :kind::text[]) AS gone (due, aggregate, step, kind)
WHERE timer.due = gone.due AND timer.aggregate = gone.aggregate AND timer.step = gone.step AND timer.kind = gone.kind;

-- name: timers_within
-- Differs because the server's clock says what is due.
SELECT due, aggregate, step, kind, tenant FROM timer
WHERE (due, aggregate) > (:after_due, :after_aggregate)
AND due <= coalesce(:now::bigint, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint) + :window::bigint ORDER BY due, aggregate LIMIT :most;

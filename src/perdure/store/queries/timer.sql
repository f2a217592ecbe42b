-- name: add_timers
-- Timers committed with the transition that set them.
INSERT INTO timer (due, aggregate, step, kind, tenant) VALUES (:due, :aggregate, :step, :kind, :tenant);

-- name: remove_timers
-- Timers whose cause has ended.
DELETE FROM timer WHERE (due, aggregate, step, kind) IN (SELECT * FROM (VALUES (:due, :aggregate, :step, :kind)));

-- name: due_timers
-- What is due before a time, earliest first, after a place already read.
SELECT due, aggregate, step, kind, tenant FROM timer
WHERE (due, aggregate) > (:after_due, :after_aggregate) AND due <= :until ORDER BY due, aggregate LIMIT :most;

-- name: timers_within
-- What is due within a span from now, earliest first, after a place already read.
SELECT due, aggregate, step, kind, tenant FROM timer
WHERE (due, aggregate) > (:after_due, :after_aggregate) AND due <= :now + :window ORDER BY due, aggregate LIMIT :most;

-- name: timers_of
-- The timers of one aggregate among the times its state names, for audits.
SELECT due, step, kind FROM timer WHERE due = :due AND aggregate = :aggregate;

-- name: scan_timers
-- All timers, a page at a time, for audits.
SELECT due, aggregate, step, kind FROM timer WHERE (due, aggregate) > (:after_due, :after_aggregate)
ORDER BY due, aggregate LIMIT :most;

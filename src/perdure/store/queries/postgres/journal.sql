-- name: add_records
-- Differs because a batch is one statement with an array for each column, and each row knows its transaction.
INSERT INTO journal (aggregate, sequence, body, hash, xact)
SELECT record.*,
  (SELECT (pg_current_xact_id()::text::bigint + value::bigint)::text::xid8 FROM meta WHERE name = 'journal_base')
FROM unnest(:aggregate::bytea[], :sequence::bigint[], :body::bytea[], :hash::bytea[]) AS record;

-- name: add_row_records
-- Differs because a batch is one statement with an array for each column, and each row knows its transaction.
INSERT INTO journal (aggregate, sequence, body, hash, xact)
SELECT record.*,
  (SELECT (pg_current_xact_id()::text::bigint + value::bigint)::text::xid8 FROM meta WHERE name = 'journal_base')
FROM unnest(:aggregate::bytea[], :sequence::bigint[], :body::bytea[], :hash::bytea[]) AS record
ON CONFLICT DO NOTHING;

-- name: add_row_record
-- Differs because each row knows its transaction.
INSERT INTO journal (aggregate, sequence, body, hash, xact)
SELECT :aggregate::bytea, 1, :body::bytea, :hash::bytea,
  (SELECT (pg_current_xact_id()::text::bigint + value::bigint)::text::xid8 FROM meta WHERE name = 'journal_base')
ON CONFLICT DO NOTHING;

-- name: journal_since
-- Differs because concurrent transactions become visible out of the order of their positions: the cursor is the
-- transaction and the place in it (up to a million), and only transactions older than every running one are shown.
-- Numbers of transactions begin anew where a backup is restored: the base keeps later ones above earlier ones.
SELECT cursor, aggregate, sequence, hash FROM (
  SELECT (xact::text::bigint << 20) + row_number() OVER (PARTITION BY xact ORDER BY position) AS cursor,
    aggregate, sequence, hash, xact, position FROM journal
  WHERE xact >= (:after::bigint >> 20)::text::xid8
    AND xact < (SELECT (pg_snapshot_xmin(pg_current_snapshot())::text::bigint + value::bigint)::text::xid8
      FROM meta WHERE name = 'journal_base')
) AS settled
WHERE cursor > :after::bigint ORDER BY xact, position LIMIT :most;

-- name: raise_journal_base
-- Differs because a database restored on another server holds transactions its server has not reached yet.
UPDATE meta SET value = (SELECT xact::text FROM journal ORDER BY xact DESC LIMIT 1)
WHERE name = 'journal_base' AND EXISTS (
  SELECT 1 FROM journal WHERE xact >= (pg_snapshot_xmax(pg_current_snapshot())::text::bigint + meta.value::bigint)::text::xid8
);

-- name: feed_since
-- Differs because concurrent transactions become visible out of order: as for `journal_since`.
SELECT page.cursor, one.tenant, one.kind, one.status, page.aggregate, page.sequence, page.body FROM (
  SELECT cursor, aggregate, sequence, body FROM (
    SELECT (xact::text::bigint << 20) + row_number() OVER (PARTITION BY xact ORDER BY position) AS cursor,
      aggregate, sequence, body, xact, position FROM journal
    WHERE xact >= (:after::bigint >> 20)::text::xid8
      AND xact < (SELECT (pg_snapshot_xmin(pg_current_snapshot())::text::bigint + value::bigint)::text::xid8
        FROM meta WHERE name = 'journal_base')
  ) AS settled
  WHERE cursor > :after::bigint ORDER BY xact, position LIMIT :most
) AS page LEFT JOIN aggregate AS one ON one.id = page.aggregate ORDER BY page.cursor;

-- name: feed_end
-- Differs because concurrent transactions become visible out of order: the newest record older than every running one.
SELECT coalesce((
  SELECT (xact::text::bigint << 20) + (SELECT count(*) FROM journal AS same WHERE same.xact = one.xact)
  FROM journal AS one WHERE xact < (
    SELECT (pg_snapshot_xmin(pg_current_snapshot())::text::bigint + value::bigint)::text::xid8
    FROM meta WHERE name = 'journal_base'
  ) ORDER BY xact DESC LIMIT 1
), 0);

-- name: record_places
-- Differs because concurrent transactions become visible out of order: as for `journal_since`.
SELECT sequence, (xact::text::bigint << 20)
  + (SELECT count(*) FROM journal AS same WHERE same.xact = one.xact AND same.position <= one.position)
FROM journal AS one WHERE aggregate = :aggregate AND sequence > :after
  AND xact < (SELECT (pg_snapshot_xmin(pg_current_snapshot())::text::bigint + value::bigint)::text::xid8
    FROM meta WHERE name = 'journal_base')
ORDER BY sequence LIMIT :most;

-- name: add_records
-- Differs because a batch is one statement with an array for each column.
INSERT INTO journal (aggregate, sequence, body, hash)
SELECT * FROM unnest(:aggregate::bytea[], :sequence::bigint[], :body::bytea[], :hash::bytea[]);

-- name: journal_since
-- Differs because concurrent transactions become visible out of the order of their positions: the cursor is the
-- transaction and the place in it (up to a million), and only transactions older than every running one are shown.
SELECT cursor, aggregate, sequence, hash FROM (
  SELECT (xact::text::bigint << 20) + row_number() OVER (PARTITION BY xact ORDER BY position) AS cursor,
    aggregate, sequence, hash, xact, position FROM journal
  WHERE xact >= (:after::bigint >> 20)::text::xid8 AND xact < pg_snapshot_xmin(pg_current_snapshot())
) AS settled
WHERE cursor > :after::bigint ORDER BY xact, position LIMIT :most;

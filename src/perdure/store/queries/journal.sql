-- name: add_records
-- Append the records of a batch.
INSERT INTO journal (aggregate, sequence, body, hash) VALUES (:aggregate, :sequence, :body, :hash);

-- name: add_row_records
-- Records of rows that no aggregate answers for; a row told the same twice in one commit is told once.
INSERT INTO journal (aggregate, sequence, body, hash) VALUES (:aggregate, :sequence, :body, :hash) ON CONFLICT DO NOTHING;

-- name: add_row_record
-- The record of one row, in the transaction that changes the row.
INSERT INTO journal (aggregate, sequence, body, hash) VALUES (:aggregate, 1, :body, :hash) ON CONFLICT DO NOTHING;

-- name: read_records
-- The records of one aggregate after a sequence, in order.
SELECT sequence, body, hash FROM journal WHERE aggregate = :aggregate AND sequence > :after ORDER BY sequence LIMIT :most;

-- name: record_places
-- The places of one aggregate's records in the order of commits, after a sequence.
SELECT sequence, position FROM journal WHERE aggregate = :aggregate AND sequence > :after ORDER BY sequence LIMIT :most;

-- name: record_hash
-- The hash of one record, to settle a commit whose answer was lost.
SELECT hash FROM journal WHERE aggregate = :aggregate AND sequence = :sequence;

-- name: journal_since
-- Heads changed after a cursor up to a bound, for the sealer.
SELECT position, aggregate, sequence, hash FROM journal WHERE position > :after ORDER BY position LIMIT :most;

-- name: scan_journal_aggregates
-- Ids that have records, a page at a time, to find journals without an aggregate.
SELECT DISTINCT aggregate FROM journal WHERE aggregate > :after ORDER BY aggregate LIMIT :most;

-- name: feed_since
-- Records after a cursor in the order of commits, with whose they are.
SELECT journal.position, one.tenant, one.kind, one.status, journal.aggregate, journal.sequence, journal.body
FROM journal LEFT JOIN aggregate AS one ON one.id = journal.aggregate
WHERE journal.position > :after ORDER BY journal.position LIMIT :most;

-- name: feed_end
-- The cursor of the newest record.
SELECT coalesce((SELECT position FROM journal ORDER BY position DESC LIMIT 1), 0);

-- Rows that no state stands for have an anchor in the journal. Each message says which record tells of it.
ALTER TABLE inbox ADD COLUMN told_by BLOB NOT NULL DEFAULT x'';
ALTER TABLE inbox ADD COLUMN told INTEGER NOT NULL DEFAULT 0;

-- The versions of entities that one aggregate wrote, for audits.
CREATE INDEX entity_history_aggregate ON entity_history (aggregate);

-- What came before anchors is told apart by this record: a store that begins with anchors has none.
INSERT INTO journal (aggregate, sequence, body, hash)
SELECT x'ffffffffdf05b2475a9044bac17415a4', 1, x'96ad706572647572652e726f772f31a573746f726591a8616e63686f726564c40000c400',
  x'4e4eba77726554ae8970f1504aecd8fcfd025d0fa1fdf4e29a9886ccfc0c3eaa'
WHERE EXISTS (SELECT 1 FROM journal);

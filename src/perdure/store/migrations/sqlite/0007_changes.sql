-- Payloads of instances are stored as changes of the one before. Releases that cannot read those are refused by the number
-- when they open the store, and by the column's new name when they have it open: they wait instead of finding damage.
ALTER TABLE payload RENAME COLUMN data TO stored;

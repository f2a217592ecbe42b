-- Parts of large states: each a row by itself, so that what a change writes does not grow with the state.
CREATE TABLE part (
  aggregate BLOB NOT NULL,
  number INTEGER NOT NULL CHECK (number >= 0),
  body BLOB NOT NULL,
  PRIMARY KEY (aggregate, number)
) WITHOUT ROWID;

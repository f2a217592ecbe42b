-- Parts of large states: each a row by itself, so that what a change writes does not grow with the state.
CREATE TABLE part (
  aggregate BYTEA NOT NULL,
  number BIGINT NOT NULL CHECK (number >= 0),
  body BYTEA NOT NULL,
  PRIMARY KEY (aggregate, number)
);

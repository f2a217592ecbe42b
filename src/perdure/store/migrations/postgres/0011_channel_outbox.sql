-- Messages of channels of the kind `row`: the platform puts them, others read and remove them.
CREATE TABLE channel_outbox (
  number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  tenant TEXT NOT NULL,
  effect_id TEXT NOT NULL,
  channel TEXT NOT NULL,
  recipient TEXT NOT NULL,
  correlation_id TEXT NOT NULL,
  body TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  UNIQUE (tenant, effect_id)
);

"""The embedded engine: instances are aggregates of our own kernel, on SQLite or Postgres.

| what | where |
|---|---|
| starting and asking | `instances` |
| running sub-verbs | `jobs` |
| human tasks and incidents | `people` |
| cancel, suspend, modify, migrate | `changes` |
| what one aggregate tells another | `notices` |
"""

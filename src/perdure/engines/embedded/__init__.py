"""The embedded engine: instances are aggregates of our own kernel, on SQLite or Postgres.

| what | where |
|---|---|
| which version, and its plan | `definitions`, `binding`, `plans` |
| starting, asking, reading | `instances` |
| payloads across every crossing | `payloads`, `merging` |
| running sub-verbs | `jobs` |
| human tasks and incidents | `people` |
| cancel, suspend, modify, migrate | `changes` |
| what one aggregate tells another | `notices` |
"""

from perdure.engines.embedded.engine import EmbeddedEngine

__all__ = ["EmbeddedEngine"]

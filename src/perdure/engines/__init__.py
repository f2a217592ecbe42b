"""Engines: what can carry a process, each behind the one contract of `perdure.engine`."""

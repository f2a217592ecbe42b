"""Engines: where processes run, each behind the same contract."""

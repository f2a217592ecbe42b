"""Telemetry of the platform: committed entries become metrics and spans, after the commit and beside it."""

from perdure.app.telemetry.commit_observer import CommitObserver

__all__ = ["CommitObserver"]

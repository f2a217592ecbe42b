"""Watching the platform from inside: committed entries become metrics and spans, after the commit and beside it."""

from perdure.app.observing.observer import Observer

__all__ = ["Observer"]

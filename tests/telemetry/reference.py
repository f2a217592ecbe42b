"""Writes the page of metrics from the table of names: `python -m tests.telemetry.reference`."""

from __future__ import annotations

from pathlib import Path

from perdure.telemetry.metric_names import ABOUT, LABELS, kind_of

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "metrics.md"
HEAD = """# Metrics

What a process shows at `/metrics`, in the text format of Prometheus. How to switch it on, and what one process can and
cannot know, is in [telemetry](../operate/telemetry.md). Names do not change; new ones may come.

Counters and histograms count what *this process* committed: sum them over processes. Gauges of the whole store
are the same in every process: take the `max`. They are read when somebody looks, at most every five seconds.

| metric | kind | labels | meaning |
|---|---|---|---|
"""
FOOT = """
A `verb` is a name of the catalogue, or `other`. A `route` is the pattern of a route, never the path that was asked for.
A tenant, an id or data is never a label.
"""


def page() -> str:
    return HEAD + "\n".join(_row(name) for name in ABOUT) + "\n" + FOOT


def _row(name: str) -> str:
    labels = ", ".join(f"`{label}`" for label in LABELS.get(name, ()))
    return f"| `{name}` | {kind_of(name)} | {labels} | {ABOUT[name]} |"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")

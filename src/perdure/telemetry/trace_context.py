"""W3C trace contexts, and ids that are derived from what a span stands for: whoever emits it, it is the same span."""

from __future__ import annotations

import re
from hashlib import sha256
from typing import NamedTuple

_TRACEPARENT = re.compile(r"(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?")
NO_TRACE = "0" * 32
NO_SPAN = "0" * 16
SAMPLED = 1
_HALF = 1 << 64


class TraceContext(NamedTuple):
    """A place in a trace, as hexadecimal text."""

    trace_id: str
    span_id: str
    is_sampled: bool = True


def parse_traceparent(text: str) -> TraceContext | None:
    """The context behind a `traceparent`; None for whatever is none, which is then as if nothing had been sent."""
    match = _TRACEPARENT.fullmatch(text.strip().lower()) if len(text) <= 512 else None
    if match is None or match[1] == NO_TRACE or match[2] == NO_SPAN:
        return None
    if text.strip()[:2] == "00" and match[4]:
        return None
    return TraceContext(match[1], match[2], bool(int(match[3], 16) & SAMPLED))


def traceparent(context: TraceContext) -> str:
    return f"00-{context.trace_id}-{context.span_id}-{'01' if context.is_sampled else '00'}"


def derived_trace_id(root: str) -> str:
    """The trace of what began without one: by the id of the runbook or process it all began with."""
    return sha256(f"perdure trace\0{root}".encode()).hexdigest()[:32]


def span_id(*parts: str | int) -> str:
    """The span that stands for something, named by its parts: the same from every process and at every delivery."""
    seed = "\0".join(str(part) for part in ("perdure span", *parts))
    return sha256(seed.encode()).hexdigest()[:16]


def is_kept(trace_id: str, part: float) -> bool:
    """Whether a trace is among the kept part: decided by its id, so that all processes agree."""
    return int(trace_id[16:], 16) < round(part * _HALF)

"""Progress in words: how many steps are complete, what is awaited, and what somebody reported."""

from __future__ import annotations


def counted(done: int, total: int, *, is_ended: bool) -> str:
    """`3 of 5 steps complete`; of what has ended by another way than all its steps, `3 steps complete`."""
    if is_ended and (done != total or not total):
        return f"{done} {'step' if done == 1 else 'steps'} complete"
    return f"{done} of {total} {'step' if total == 1 else 'steps'} complete"


def reported(progress: str, posted: str, *, is_ended: bool) -> str:
    """The progress of a step with what somebody posted about it, which says nothing once the step has ended."""
    if not posted or is_ended:
        return progress
    return f"{progress} (reported: {posted})" if progress else posted

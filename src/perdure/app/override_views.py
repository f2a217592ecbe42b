"""Override views: acts around human tasks, with who asked for them, who agreed and why."""

from __future__ import annotations

import msgspec

from perdure.overrides import Override
from perdure.sources import iso


class OverrideView(msgspec.Struct, frozen=True):
    """An act around tasks. `proposed` it waits for somebody of `needs`; `used` it was done."""

    number: int
    what: str
    tasks: list[str]
    needs: str
    by: str
    reason: str
    at: str | None
    state: str
    agreed_by: list[str] = []
    reasons: list[str] = []


def override_text(view: OverrideView) -> str:
    """An override in a sentence, as command line and conversation show it."""
    told = f"{view.what} around {', '.join(view.tasks)}, asked for by {view.by} ({view.reason})"
    if view.agreed_by:
        agreed = zip(view.agreed_by, view.reasons, strict=True)
        told += "; agreed to by " + ", ".join(f"{name} ({reason})" for name, reason in agreed)
    return told if view.state == "used" else f"{told}; waits for {view.needs}"


def override_views(overrides: tuple[Override, ...]) -> list[OverrideView]:
    """Overrides as every surface shows them, oldest first."""
    return [
        OverrideView(
            each.number,
            each.what,
            list(each.tasks),
            each.needs,
            each.by,
            each.reason,
            iso(each.at),
            "used" if each.is_used else "proposed",
            [name for name, _ in each.agreed],
            [reason for _, reason in each.agreed],
        )
        for each in overrides
    ]

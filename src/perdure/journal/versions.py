"""Old forms of states and records are lifted by pure steps; `apply` knows the newest only."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from perdure.errors import InvariantBroken


class Upcaster(NamedTuple):
    """Turns the plain form of one version into that of the next; element 0 of a form is its version."""

    source: int
    lift: Callable[[list[Any]], list[Any]]


def lift(form: list[Any], target: int, upcasters: tuple[Upcaster, ...]) -> list[Any]:
    """The form at `target`, one version at a time; a form from the future is refused."""
    steps = {upcaster.source: upcaster.lift for upcaster in upcasters}
    while form[0] != target:
        step = steps.get(form[0])
        if step is None:
            raise InvariantBroken(
                "read", "stored form of version", str(form[0]), f"this release knows versions up to {target}",
                "Upgrade to the release that wrote it.",
            )  # fmt: skip
        form = step(form)
    return form

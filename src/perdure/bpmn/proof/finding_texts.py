"""The sentences of findings: what is wrong, and what to do about it."""

from __future__ import annotations

from collections.abc import Callable


def texts(code: str, element: str, detail: str) -> tuple[str, str]:
    """The fact, without a full stop, and the hint."""
    return _TEXTS[code](detail)


def _dead(detail: str) -> tuple[str, str]:
    more = f", nor are {detail} more behind it" if detail else ""
    return (
        f"it is never reached{more}",
        "Some condition before it can never hold, or nothing leads to it: correct the condition or remove the element.",
    )


def _unending(detail: str) -> tuple[str, str]:
    if detail == "endless":
        return (
            "from here the process can never end: it goes round for ever",
            "Give the loop a way out that some verb, message or timer can take.",
        )
    return (
        "every turn of the loop leaves one more token behind",
        "Join the branches before the loop goes back, or take the parallel split out of it.",
    )


MERGE = "merge"
"""The detail of tokens that meet where nothing waits."""

FAILS, UNDONE = "fails:", "undone:"
"""What the detail of an error begins with that an end event raises: the instance fails, or what undoes something."""


def _unhandled(detail: str) -> tuple[str, str]:
    if detail.startswith(FAILS):
        code = detail.removeprefix(FAILS)
        return (
            f"it ends a subprocess with the error {code}, which no event catches: the instance fails",
            f"Attach a boundary error event for {code} to the subprocess, or catch it in an event subprocess.",
        )
    if detail.startswith(UNDONE):
        code = detail.removeprefix(UNDONE)
        return (
            f"what undoes something ends here with the error {code}, which no event catches: it becomes an incident",
            f"Catch {code} inside what undoes it.",
        )
    return (
        f"its business error {detail} is caught by no event and undone by no compensation: it becomes an incident",
        f"Add a boundary error event for {detail}, here or around it, or declare a compensation.",
    )


_TEXTS: dict[str, Callable[[str], tuple[str, str]]] = {
    "SND001": lambda detail: (
        "a token waits here for ever: what it waits for can no longer come",
        "A parallel join needs a token from every flow: after an exclusive gateway join with an exclusive one, "
        "after an inclusive one with an inclusive one.",
    ),
    "SND002": lambda detail: (
        "a second token comes here after the first has passed, so that what follows happens twice"
        if detail == MERGE
        else "two tokens can be here at the same time, so that what follows happens twice",
        "Branches that run at once must meet in a parallel or inclusive gateway before they go on as one.",
    ),
    "SND003": _dead,
    "SND004": lambda detail: (
        "there are values of the flags for which no flow leaves it",
        "Give it a default flow, or conditions that cover every value.",
    ),
    "SND005": lambda detail: (
        "tokens come round here again and again without anything to wait for",
        "Put a task, a message or a timer into the loop, or a condition that ends it.",
    ),
    "SND006": _unending,
    "SND007": _unhandled,
    "SND008": lambda detail: (
        "it never occurs" + (f", so {detail} elements behind it are never reached" if detail else ""),
        "Nothing inside raises, throws or sets what it waits for: correct it or remove it.",
    ),
    "SND009": lambda detail: (
        f"a token cannot go on here: {detail.rstrip('.')}",
        "Correct the element; until then every instance that gets here needs a person.",
    ),
    "SND011": lambda detail: (
        f"no flow leaves it as long as {detail} is not set, and no contract says that it is",
        "Make one flow the default, or let the verb that the process carries declare the flag.",
    ),
}

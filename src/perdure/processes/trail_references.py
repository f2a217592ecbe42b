"""Trail references: a payload names the stream that holds its whole trail, of which it carries the last entries."""

from __future__ import annotations

from perdure.identifiers import Id, id_text

CARRIED = "step:"
"""The beginning of the parent of an instance that carries a step."""
TRAIL = "/outcome-events"


def trail_ref(instance: Id, parent: str) -> str:
    """The path of the API that answers with the stream.

    `calls/ID/outcome-events?step=1` of the step that an instance carries, `instances/ID/events` where it carries none.
    """
    if not parent.startswith(CARRIED):
        return f"instances/{id_text(instance)}/events"
    call, _, step = parent.removeprefix(CARRIED).partition(":")
    return f"calls/{call}{TRAIL}?step={step.partition('.')[0]}"


def trail_place(text: str, step: int = 0) -> tuple[str, int]:
    """The call and the step that a reference names; any other text is an id, whose step is the one given."""
    path, _, query = text.partition("?step=")
    if not path.startswith("calls/") or not path.endswith(TRAIL):
        return text, step
    return path.removeprefix("calls/").removesuffix(TRAIL), int(query) if query.isdecimal() else step

"""Consoles that print data as it is: no markup in it is obeyed, no control character in it reaches the terminal."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, ConsoleRenderable, RenderableType, RenderHook, RenderResult
from rich.segment import Segment

KEPT = frozenset("\n\t")


def make_console(is_error: bool = False) -> Console:
    """Where people read; plain when it is not a terminal."""
    console = Console(stderr=is_error, highlight=False, markup=False, emoji=False)
    console.push_render_hook(_Cleaning())
    return console


def clean(text: str) -> str:
    """The text with anything a terminal might obey made visible."""
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() or each in KEPT else "�" for each in text)


class _Cleaning(RenderHook):
    def process_renderables(self, renderables: list[ConsoleRenderable]) -> list[ConsoleRenderable]:
        return [_Cleaned(each) for each in renderables]


class _Cleaned:
    """Colours are kept beside the text until it is printed: what is in the text itself came from outside."""

    def __init__(self, inner: RenderableType) -> None:
        self._inner = inner

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield from _segments(console.render(self._inner, options))


def _segments(found: Iterable[Segment]) -> Iterable[Segment]:
    for segment in found:
        yield segment if segment.control else Segment(clean(segment.text), segment.style)

"""The renderer: sayings of a conversation as text of any width, with or without colours."""

from __future__ import annotations

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from perdure.surfaces.repl.conversation_messages import Ask, Code, Playback, Rows, Say, Saying, Sentence

TONES = {
    "plain": "", "good": "green", "warning": "yellow", "bad": "red", "quiet": "dim", "title": "bold",
}  # fmt: skip
STATES = {
    "completed": ("✓", "green"), "confirmed": ("✓", "green"), "failed": ("✗", "red"), "parked": ("…", "cyan"),
    "running": ("→", "cyan"), "disabled": ("-", "dim"), "skipped": ("-", "dim"), "cancelled": ("✗", "dim"),
}  # fmt: skip


def show(console: Console, saying: Saying) -> None:
    console.print(picture(saying), soft_wrap=isinstance(saying, Code))


def picture(saying: Saying) -> RenderableType:
    match saying:
        case Say(text, tone):
            return Text(text, style=TONES[tone])
        case Ask():
            return _question(saying)
        case Playback():
            return _playback(saying)
        case Rows():
            return _rows(saying)
        case Code(text):
            return Text(text.rstrip("\n"), style="cyan")


def _question(asked: Ask) -> RenderableType:
    text = Text(asked.text, style="bold")
    if asked.default:
        shown = {"yes": "Y/n", "no": "y/N"}.get(asked.default, asked.default)
        text.append(f" [{shown}]", style="dim")
    if not asked.options:
        return text
    lines = [Text(f"  {number}. {each}") for number, each in enumerate(asked.options, 1)]
    return Group(text, *lines)


def _playback(view: Playback) -> RenderableType:
    parts: list[RenderableType] = [Text(view.title, style="bold")] if view.title else []
    for title, sentences in view.chapters:
        if title:
            parts.append(Text(f"  {title}", style="italic"))
        table = Table.grid(padding=(0, 1))
        table.add_column(justify="right", no_wrap=True, min_width=4)
        table.add_column(no_wrap=True)
        table.add_column(overflow="fold")
        for each in sentences:
            sign, style = STATES.get(each.state, ("·", ""))
            table.add_row(Text(sign, style=style), Text(f"{each.number}."), _sentence(each))
        parts.append(table)
    return Group(*parts)


def _sentence(said: Sentence) -> Text:
    text = Text(said.text, style="dim" if said.state == "disabled" else "")
    if said.note:
        text.append(f"  ({said.note})", style="dim")
    return text


def _rows(rows: Rows) -> RenderableType:
    if not rows.rows:
        return Text(rows.empty, style="dim")
    table = Table(title=Text(rows.title, style="bold") if rows.title else None, title_justify="left", box=None,
                  pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")  # fmt: skip
    for column in rows.columns:
        table.add_column(column, overflow="fold", no_wrap=column == "id")
    for row in rows.rows:
        table.add_row(*(Text(cell) for cell in row))
    return table

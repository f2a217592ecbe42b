"""The drawing of a lifecycle: states from left to right by their distance from the first, the present one marked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from html import escape

from perdure.lifecycles.machine.definition import Lifecycle, State

Place = tuple[int, int]
WIDTH, HEIGHT, ACROSS, DOWN, MARGIN = 150, 48, 90, 44, 24
LONGEST_NAME = 16
"""Letters that fit into a box; a longer name is drawn narrower."""
APART = 10
"""Between two lines that lead from the same state to the same state."""
STYLE = """
text { font: 13px sans-serif; fill: #1b1f24; text-anchor: middle; dominant-baseline: middle }
.small { font-size: 11px; fill: #57606a }
rect { fill: #ffffff; stroke: #57606a; stroke-width: 1.5 }
.terminal { stroke-width: 3 }
.present { fill: #ddf4ff; stroke: #0969da; stroke-width: 3 }
path { fill: none; stroke: #57606a; stroke-width: 1.3 }
.manual { stroke-dasharray: 6 4 }
.time { stroke-dasharray: 2 3 }
"""
MARKER = (
    '<marker id="end" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
    '<path d="M0 0 L8 4 L0 8 z" style="fill:#57606a;stroke:none"/></marker>'
)


def draw_lifecycle(definition: Lifecycle, present: str = "") -> str:
    """SVG. Automatic transitions are solid, manual ones dashed, those by time dotted."""
    places = _places(definition)
    width = max(x for x, _ in places.values()) + WIDTH + MARGIN
    height = max(y for _, y in places.values()) + HEIGHT + MARGIN
    title = f"{definition.name}: {present}" if present else definition.name
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">',
        f"<title>{escape(title)}</title><style>{STYLE}</style><defs>{MARKER}</defs>",
        *_edges(definition, places),
        *(_box(each, places[each.name], each.name == present) for each in definition.states),
        "</svg>\n",
    ]
    return "\n".join(parts)


def _places(definition: Lifecycle) -> dict[str, Place]:
    columns: dict[str, int] = {definition.initial.name: 0}
    border = [definition.initial.name]
    while border:
        state = border.pop(0)
        for _, way in definition.leaving(state):
            if way.target not in columns:
                columns[way.target] = columns[state] + 1
                border.append(way.target)
    last = max(columns.values()) + 1
    leads_back = any(columns.get(each.target, last) < columns.get(each.source, last) for each in definition.transitions)
    top = MARGIN + (DOWN if leads_back else 0)
    rows: dict[int, int] = {}
    found: dict[str, Place] = {}
    for each in definition.states:
        column = columns.get(each.name, last)
        row = rows.get(column, 0)
        rows[column] = row + 1
        found[each.name] = (MARGIN + column * (WIDTH + ACROSS), top + row * (HEIGHT + DOWN))
    return found


def _box(state: State, place: Place, is_present: bool) -> str:
    x, y = place
    words = ("terminal" if state.is_terminal else "", "present" if is_present else "")
    marks = " ".join(word for word in words if word)
    said = f"{len(state.requirements)} required" if state.requirements else ""
    middle = x + WIDTH // 2
    lines = [f'<rect class="{marks}" x="{x}" y="{y}" width="{WIDTH}" height="{HEIGHT}" rx="8"/>']
    fitted = f' textLength="{WIDTH - 14}" lengthAdjust="spacingAndGlyphs"' if len(state.name) > LONGEST_NAME else ""
    lines.append(f'<text x="{middle}" y="{y + (18 if said else HEIGHT // 2)}"{fitted}>{escape(state.name)}</text>')
    if said:
        lines.append(f'<text class="small" x="{middle}" y="{y + 35}">{said}</text>')
    return "".join(lines)


def _edges(definition: Lifecycle, places: dict[str, Place]) -> Iterator[str]:
    """Every transition; those between the same two states run beside one another."""
    drawn: Counter[tuple[str, str]] = Counter()
    for each in definition.transitions:
        ends = each.source, each.target
        path = _path(places[each.source], places[each.target], drawn[ends] * APART)
        drawn[ends] += 1
        yield f'<path class="{each.mode}" d="{path}" marker-end="url(#end)"/>'


def _path(source: Place, target: Place, aside: int) -> str:
    """A line from state to state: rightwards, up or down within a column, or back above or below the others."""
    (x, y), (across, down) = source, target
    middle, side = HEIGHT // 2, WIDTH // 2 + aside
    if across > x:
        begin, end = y + middle + aside, down + middle + aside
        return f"M{x + WIDTH} {begin} C{x + WIDTH + ACROSS // 2} {begin} {across - ACROSS // 2} {end} {across} {end}"
    if across == x and abs(down - y) == HEIGHT + DOWN:
        # A line down and one up between neighbours stand on either side of the middle.
        along = x + side + APART if down > y else x + side - APART
        begin, end = (y + HEIGHT, down) if down > y else (y, down + HEIGHT)
        return f"M{along} {begin} L{along} {end}"
    if across == x and down != y:
        edge, out = x + WIDTH, x + WIDTH + ACROSS // 2
        return f"M{edge} {y + middle} C{out} {y + middle} {out} {down + middle} {edge} {down + middle}"
    if down > y:
        right, level = across + WIDTH, down + middle
        return f"M{x + side} {y + HEIGHT} C{x + side} {level} {right + ACROSS // 2} {level} {right} {level}"
    high = min(y, down) - DOWN
    return f"M{x + side} {y} C{x + side} {high} {across + side} {high} {across + side} {down}"

"""The drawing of a lifecycle: states from left to right by their distance from the first, the present one marked."""

from __future__ import annotations

from html import escape

from perdure.lifecycles.machine.definition import Lifecycle, State, Transition

WIDTH, HEIGHT, ACROSS, DOWN, MARGIN = 150, 48, 90, 44, 24
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
    height = max(y for _, y in places.values()) + HEIGHT + MARGIN + DOWN
    title = f"{definition.name}: {present}" if present else definition.name
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">',
        f"<title>{escape(title)}</title><style>{STYLE}</style><defs>{MARKER}</defs>",
        *(_edge(each, places) for each in definition.transitions),
        *(_box(each, places[each.name], each.name == present) for each in definition.states),
        "</svg>\n",
    ]
    return "\n".join(parts)


def _places(definition: Lifecycle) -> dict[str, tuple[int, int]]:
    columns: dict[str, int] = {definition.initial.name: 0}
    border = [definition.initial.name]
    while border:
        state = border.pop(0)
        for _, way in definition.leaving(state):
            if way.target not in columns:
                columns[way.target] = columns[state] + 1
                border.append(way.target)
    last = max(columns.values()) + 1
    rows: dict[int, int] = {}
    found: dict[str, tuple[int, int]] = {}
    for each in definition.states:
        column = columns.get(each.name, last)
        row = rows.get(column, 0)
        rows[column] = row + 1
        found[each.name] = (MARGIN + column * (WIDTH + ACROSS), MARGIN + DOWN + row * (HEIGHT + DOWN))
    return found


def _box(state: State, place: tuple[int, int], is_present: bool) -> str:
    x, y = place
    words = ("terminal" if state.is_terminal else "", "present" if is_present else "")
    marks = " ".join(word for word in words if word)
    said = f"{len(state.requirements)} required" if state.requirements else ""
    middle = x + WIDTH // 2
    lines = [f'<rect class="{marks}" x="{x}" y="{y}" width="{WIDTH}" height="{HEIGHT}" rx="8"/>']
    lines.append(f'<text x="{middle}" y="{y + (18 if said else HEIGHT // 2)}">{escape(state.name)}</text>')
    if said:
        lines.append(f'<text class="small" x="{middle}" y="{y + 35}">{said}</text>')
    return "".join(lines)


def _edge(transition: Transition, places: dict[str, tuple[int, int]]) -> str:
    (x, y), (across, down) = places[transition.source], places[transition.target]
    if across > x:
        start, end = (x + WIDTH, y + HEIGHT // 2), (across, down + HEIGHT // 2)
        bend = ACROSS // 2
        path = f"M{start[0]} {start[1]} C{start[0] + bend} {start[1]} {end[0] - bend} {end[1]} {end[0]} {end[1]}"
    elif across == x and down != y:
        start, end, left = (x, y + HEIGHT // 2), (x, down + HEIGHT // 2), x - MARGIN
        path = f"M{start[0]} {start[1]} C{left} {start[1]} {left} {end[1]} {end[0]} {end[1]}"
    else:
        start, end = (x + WIDTH // 2, y), (across + WIDTH // 2, down)
        high = min(y, down) - DOWN
        path = f"M{start[0]} {start[1]} C{start[0]} {high} {end[0]} {high} {end[0]} {end[1]}"
    return f'<path class="{transition.mode}" d="{path}" marker-end="url(#end)"/>'

"""SVG as text: elements with escaped attributes, numbers without noise."""

from __future__ import annotations

import re
from collections.abc import Iterable

from perdure.bpmn.layout.boxes import Point

# What XML cannot hold even when escaped.
_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def escaped(text: str) -> str:
    """Text that cannot end what it stands in."""
    clean = _FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", text)
    for character, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;"), ("'", "&#39;")):
        clean = clean.replace(character, entity)
    return clean


def number(value: float) -> str:
    """At most two decimals."""
    return f"{value:.2f}".rstrip("0").rstrip(".") if value else "0"


def element(name: str, content: Iterable[str] | str = (), **attributes: str | float) -> str:
    """One element; `class_` is `class`, other underscores are hyphens. The content is SVG already."""
    said = "".join(f' {_attribute(key)}="{_value(value)}"' for key, value in attributes.items() if value != "")
    inside = content if isinstance(content, str) else "".join(content)
    return f"<{name}{said}>{inside}</{name}>" if inside else f"<{name}{said}/>"


def group(content: Iterable[str] | str, **attributes: str | float) -> str:
    return element("g", content, **attributes)


def path(commands: str, kind: str) -> str:
    """A path with fixed commands."""
    return element("path", d=commands, class_=kind)


def at(x: float, y: float, content: Iterable[str] | str, scale: float = 1.0) -> str:
    """Content moved, and scaled around that point."""
    size = "" if scale == 1 else f" scale({number(scale)})"
    return group(content, transform=f"translate({number(x)} {number(y)}){size}")


def polygon(points: Iterable[Point], kind: str) -> str:
    return element("polygon", points=" ".join(f"{number(x)},{number(y)}" for x, y in points), class_=kind)


def circle(x: float, y: float, radius: float, kind: str) -> str:
    return element("circle", cx=x, cy=y, r=radius, class_=kind)


def rectangle(x: float, y: float, width: float, height: float, kind: str, radius: float = 0) -> str:
    width, height = max(0.0, width), max(0.0, height)
    return element("rect", x=x, y=y, width=width, height=height, rx=radius or "", class_=kind)


def _attribute(key: str) -> str:
    return key.rstrip("_").replace("_", "-")


def _value(value: str | float) -> str:
    return escaped(value) if isinstance(value, str) else number(value)

"""The one style sheet of a picture: readable on light and dark pages, and without support for variables."""

from __future__ import annotations

LIGHT = {
    "page": "#ffffff", "paper": "#ffffff", "shade": "#f4f6f9", "ink": "#22272e", "soft": "#6b7280",
    "way": "#2563eb", "active": "#dbeafe", "waiting": "#fef3c7", "completed": "#dcfce7", "failed": "#fee2e2",
    "cancelled": "#e5e7eb", "token": "#2563eb", "good": "#15803d", "bad": "#dc2626", "warn": "#b45309", "on": "#ffffff",
}  # fmt: skip
DARK = {
    "page": "#12161c", "paper": "#1c222b", "shade": "#181d25", "ink": "#dfe4ea", "soft": "#98a2b0",
    "way": "#6ea8fe", "active": "#1d3557", "waiting": "#4a3a12", "completed": "#17402a", "failed": "#4d1f22",
    "cancelled": "#2b313b", "token": "#3b82f6", "good": "#22a55a", "bad": "#ef4444", "warn": "#d97706", "on": "#ffffff",
}  # fmt: skip
FONT = "Inter,'Segoe UI','Helvetica Neue',Arial,'Liberation Sans',sans-serif"
STATES = ("active", "waiting", "completed", "failed", "cancelled")
RULES = (
    ("text", "fill:ink;font-family:FONT"),
    (".page", "fill:page"),
    (".box", "fill:paper;stroke:ink;stroke-width:1.5"),
    (".pool", "fill:paper;stroke:ink;stroke-width:1.5"),
    (".lane", "fill:none;stroke:ink;stroke-width:1"),
    (".header", "fill:shade;stroke:ink;stroke-width:1.5"),
    (".scope", "fill:shade;fill-opacity:.6;stroke:ink;stroke-width:1.5"),
    (".thin", "fill:none;stroke:ink;stroke-width:1.2;stroke-linejoin:round;stroke-linecap:round"),
    (".line", "fill:none;stroke:ink;stroke-width:1.5;stroke-linejoin:round;stroke-linecap:round"),
    (".heavy", "fill:none;stroke:ink;stroke-width:3;stroke-linecap:round"),
    (".full", "fill:ink;stroke:ink;stroke-width:1.2;stroke-linejoin:round"),
    (".hollow", "fill:paper;stroke:ink;stroke-width:1.2;stroke-linejoin:round"),
    (".inlay", "fill:none;stroke:paper;stroke-width:1.3;stroke-linejoin:round;stroke-linecap:round"),
    (".thick", "stroke-width:3.5"),
    (".dashed", "stroke-dasharray:5 3"),
    (".dotted", "stroke-dasharray:1 4"),
    (".dotdash", "stroke-dasharray:8 3 1 3"),
    (".flow", "fill:none;stroke:ink;stroke-width:1.5;stroke-linejoin:round"),
    (".message", "fill:none;stroke:ink;stroke-width:1.3;stroke-dasharray:7 4"),
    (".association", "fill:none;stroke:soft;stroke-width:1.4;stroke-dasharray:1 4;stroke-linecap:round"),
    (".halo", "stroke:page;stroke-width:3;stroke-linejoin:round;paint-order:stroke"),
    (".soft", "fill:soft"),
    (".taken .box, .taken .scope", "stroke:way;stroke-width:2.5"),
    (".taken .flow, .taken .message", "stroke:way;stroke-width:3"),
    (".taken .tip", "fill:way;stroke:way"),
    *((f".{state} .box, .{state} .scope", f"fill:{state}") for state in STATES),
    (".failed .box, .failed .scope", "stroke:bad"),
    (".badge", "stroke:page;stroke-width:1.5"),
    (".badge.token", "fill:token"),
    (".badge.good", "fill:good"),
    (".badge.bad", "fill:bad"),
    (".badge.warn", "fill:warn"),
    (".badge.step", "fill:way"),
    (".on", "fill:on;font-weight:600"),
    (".glyph", "fill:none;stroke:on;stroke-width:1.6;stroke-linecap:round;stroke-linejoin:round"),
)  # fmt: skip
SCOPE = ".perdure-bpmn"


def style_sheet() -> str:
    """Colours as variables, each rule with its light colour first for readers that know no variables."""
    rules = [f"{_selectors(selector)}{{{_declared(body)}}}" for selector, body in RULES]
    dark = f"@media (prefers-color-scheme:dark){{{SCOPE}{{{_variables(DARK)}}}}}"
    return "\n".join([f"{SCOPE}{{{_variables(LIGHT)}}}", dark, *rules])


def _selectors(selector: str) -> str:
    return ",".join(f"{SCOPE} {each.strip()}" for each in selector.split(","))


def _variables(colours: dict[str, str]) -> str:
    return ";".join(f"--{name}:{value}" for name, value in colours.items())


def _declared(body: str) -> str:
    return ";".join(_declaration(*part.split(":", 1)) for part in body.split(";"))


def _declaration(name: str, value: str) -> str:
    if name == "font-family":
        return f"font-family:{FONT}"
    if value in LIGHT:
        return f"{name}:{LIGHT[value]};{name}:var(--{value},{LIGHT[value]})"
    return f"{name}:{value}"

r"""Templates of the contract profile: text with placeholders `${…}`; `\${` is a literal `${`. Nothing evaluates.

>>> parse_template("job/${state.order.id}").render({"order": {"id": 7}}, {})
'job/7'
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any, Literal, get_args

import msgspec

from perdure.bpmn.contract.paths import Missing, Path, parse_path, read_path

Identity = Literal["process_instance_id", "process_run_id", "step_id", "step_instance_id"]
"""Placeholders that the engine fills: instance, run of it, id of the node, `<step_id>/<n>` of one scheduling of it."""
IDENTITIES: tuple[Identity, ...] = get_args(Identity)
Failure = Literal["template.missing_path", "template.not_scalar", "template.empty"]
"""Why a template gives no text: its path reaches nothing, or no text, number or boolean; or the text is empty."""

MAX_TEMPLATE_LENGTH = 1000
_OPENING, _ESCAPED = "${", "\\${"


class Text(msgspec.Struct, frozen=True, tag="text", tag_field="is"):
    """Stands for itself."""

    text: str


class Given(msgspec.Struct, frozen=True, tag="given", tag_field="is"):
    """`${step_id}` and the like."""

    name: Identity


class FromState(msgspec.Struct, frozen=True, tag="state", tag_field="is"):
    """`${state.<path>}`; the path begins with its root, `state`."""

    path: Path


Part = Text | Given | FromState


class TemplateFault(msgspec.Struct, frozen=True):
    """What of a template does not follow the grammar. `is_path`: the placeholder is allowed, its path is not."""

    fact: str
    hint: str
    offset: int
    is_path: bool = False


class RenderFailure(msgspec.Struct, frozen=True):
    """A template that gave no text, with the path that is to blame."""

    failure: Failure
    path: str = ""


class Template(msgspec.Struct, frozen=True):
    """A template as written and as read. With faults it must not be rendered."""

    text: str
    parts: tuple[Part, ...] = ()
    faults: tuple[TemplateFault, ...] = ()

    @property
    def paths(self) -> tuple[Path, ...]:
        """What it reads of the state, in order."""
        return tuple(part.path for part in self.parts if isinstance(part, FromState))

    @property
    def identities(self) -> tuple[Identity, ...]:
        """What it reads of the engine, in order."""
        return tuple(part.name for part in self.parts if isinstance(part, Given))

    def render(self, state: Mapping[str, Any], given: Mapping[str, str]) -> str | RenderFailure:
        """The text with every placeholder replaced, never empty; or why there is none."""
        texts = []
        for part in self.parts:
            text = _rendered(part, state, given)
            if isinstance(text, RenderFailure):
                return text
            texts.append(text)
        return "".join(texts) or RenderFailure("template.empty")


def parse_template(text: str) -> Template:
    """The template with every fault found in it."""
    if len(text) > MAX_TEMPLATE_LENGTH:
        fact = f"it has {len(text):,} characters and may have {MAX_TEMPLATE_LENGTH:,}"
        return Template(text, (), (TemplateFault(fact, "Shorten it.", MAX_TEMPLATE_LENGTH),))
    parts: list[Part] = []
    faults: list[TemplateFault] = []
    for part in _parts(text):
        if isinstance(part, TemplateFault):
            faults.append(part)
        elif isinstance(part, Text) and parts and isinstance(parts[-1], Text):
            parts[-1] = Text(parts[-1].text + part.text)
        else:
            parts.append(part)
    return Template(text, tuple(parts), tuple(faults))


def show_template(parts: tuple[Part, ...]) -> str:
    """The text that reads as these parts. A backslash right before a placeholder cannot be said in a template."""
    shown = []
    for part in parts:
        match part:
            case Text(text):
                shown.append(text.replace(_OPENING, _ESCAPED))
            case Given(name):
                shown.append(f"{_OPENING}{name}}}")
            case FromState(path):
                shown.append(f"{_OPENING}{path.text}}}")
    return "".join(shown)


def scalar_text(value: Any) -> str | None:
    """A value as templates show it; None for what they do not show: lists, objects and fractions."""
    match value:
        case bool():
            return "true" if value else "false"
        case int() | str():
            return str(value)
        case _:
            return None


def _parts(text: str) -> Iterator[Part | TemplateFault]:
    at, end = 0, len(text)
    while at < end:
        if text.startswith(_ESCAPED, at):
            yield Text(_OPENING)
            at += len(_ESCAPED)
        elif text.startswith(_OPENING, at):
            close = text.find("}", at)
            if close < 0:
                yield TemplateFault("a placeholder is not closed", "Close it with }, or write \\${ for the text.", at)
                return
            yield _placeholder(text[at + len(_OPENING) : close], at)
            at = close + 1
        else:
            next_sign = min(
                (found for sign in (_ESCAPED, _OPENING) if (found := text.find(sign, at)) >= 0), default=end
            )
            yield Text(text[at:next_sign])
            at = next_sign


def _placeholder(inside: str, offset: int) -> Given | FromState | TemplateFault:
    for name in IDENTITIES:
        if inside == name:
            return Given(name)
    if inside.startswith("state."):
        path = parse_path(inside)
        if not path.fault:
            return FromState(path)
        hint = "Write identifiers joined by dots, e.g. ${state.order.id}."
        return TemplateFault(f"the path of '${{{inside[:80]}}}' is wrong: {path.fault}", hint, offset, is_path=True)
    allowed = ", ".join(f"${{{each}}}" for each in (*IDENTITIES, "state.<path>"))
    near = get_close_matches(inside.strip()[:80], IDENTITIES, 1)
    hint = f"Did you mean ${{{near[0]}}}?" if near else f"Allowed: {allowed}."
    return TemplateFault(f"'${{{inside[:80]}}}' is no placeholder", hint, offset)


def _rendered(part: Part, state: Mapping[str, Any], given: Mapping[str, str]) -> str | RenderFailure:
    match part:
        case Text(text):
            return text
        case Given(name):
            return given[name]
        case FromState(path):
            value = read_path(state, path.inner)
            if isinstance(value, Missing):
                return RenderFailure("template.missing_path", path.text)
            text_of_value = scalar_text(value)
            return RenderFailure("template.not_scalar", path.text) if text_of_value is None else text_of_value

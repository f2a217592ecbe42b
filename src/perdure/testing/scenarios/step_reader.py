"""Reads the `do` list: one mapping per step, with one word that says what is done."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from perdure.durations import DurationError, Span, parse_span
from perdure.sources import SECOND
from perdure.testing.scenarios import scenario as v
from perdure.verb_contract import FLAG_NAME, MAX_FLAG_TEXT
from perdure.verbs.mapping_reader import Fields
from perdure.verbs.yaml_nodes import Node, Report

KIND = "scenario"


class Reader:
    """One file being read: its folder, its report, and the mappings in it."""

    def __init__(self, file: str, folder: Path, report: Report) -> None:
        self.file = file
        self.folder = folder
        self.report = report
        self.notes: list[str] = []
        """What is passed over, and said."""

    def fields(self, node: Node, *accepted: str) -> Fields:
        """A mapping with these keys; nothing written counts as an empty one."""
        held = node if node.value is not None else node.beside({})
        return Fields(held, KIND, self.file, self.report, frozenset(accepted))

    def wrong(self, node: Node, code: str, reason: str, hint: str = "") -> None:
        self.report.add((self.file, node.line, node.column), f"{KIND}.{code}", node.path, reason, hint)

    def mapping(self, fields: Fields, key: str) -> dict[str, Any]:
        node = fields.get(key)
        if node is None:
            return {}
        if isinstance(node.value, dict):
            plain: dict[str, Any] = node.plain()
            return plain
        self.wrong(node, "wrong_type", f"expected a mapping, found {node.kind()}")
        return {}

    def flags(self, fields: Fields, key: str = "flags") -> v.Flags:
        """Flags and their values; `orch.x` is another spelling of `orch_x`."""
        node = fields.get(key)
        values: v.Flags = {}
        for written, value in self.mapping(fields, key).items():
            name = f"orch_{written[5:]}" if written.startswith("orch.") else written
            if node is not None and (fault := _flag_fault(name, value)):
                self.wrong(node.value[written], "flag", f"'{written}' cannot be a flag: {fault}")
            values[name] = value
        return values

    def model(self, fields: Fields) -> Path:
        """A model, looked for from this file's folder."""
        model = self.folder / fields.text("model", required=True)
        node = fields.get("model")
        if node is not None and not model.is_file():
            self.wrong(node, "missing", f"there is no model '{node.plain()}' beside this file")
        return model

    def texts(self, fields: Fields, key: str) -> tuple[str, ...]:
        return fields.texts(key)

    def span(self, node: Node) -> Span:
        if isinstance(node.value, list | dict | None):
            self.wrong(node, "duration", f"expected an ISO 8601 duration, found {node.kind()}", "Write e.g. P3D.")
            return Span(0, 0)
        try:
            return parse_span(node.value if isinstance(node.value, str) else str(node.value))
        except DurationError as error:
            self.wrong(node, "duration", f"'{error.id}' is refused: {error.fact}", error.hint)
            return Span(0, 0)


def _flag_fault(name: str, value: Any) -> str:
    if not FLAG_NAME.fullmatch(name):
        return "flags are called orch_ and lower case letters"
    if not isinstance(value, str | bool | int):
        return "it holds text, a whole number, true or false"
    return (
        f"it has more than {MAX_FLAG_TEXT} characters" if isinstance(value, str) and len(value) > MAX_FLAG_TEXT else ""
    )


def read_step(reader: Reader, node: Node) -> v.Step | None:
    """One item of the list; whom it is for may also stand beside the word, and a word alone is a step."""
    if isinstance(node.value, str) and node.value in READERS:
        node = node.beside({node.value: node.beside(None)})
    fields = reader.fields(node, *NAMES, *READERS)
    words = [key for key in READERS if key in fields]
    if len(words) != 1:
        said = " and ".join(words) or "none"
        reader.wrong(
            node, "step", f"a step has one word that says what is done, found {said}", f"One of {', '.join(READERS)}."
        )
        return None
    return READERS[words[0]](reader, _with_names(words[0], fields, node.value[words[0]]))


def _with_names(word: str, fields: Fields, body: Node) -> Node:
    """The body with what stands beside it; a text alone is the one thing the step is about, `true` nothing more."""
    if body.value is True and word != "advance":
        body = body.beside({})
    if isinstance(body.value, str) and word in SHORT:
        body = body.beside({SHORT[word]: body})
    if not isinstance(body.value, dict | None):
        return body
    beside = {key: found for key in NAMES if (found := fields.get(key)) is not None}
    held = {**beside, **(body.value or {})}
    other = next((key for key in ("as", "instance") if key in held), "")
    if word in FOR_ONE and other and "to" not in held:
        held = {"to" if key == other else key: child for key, child in held.items()}
    return body.with_children(held)


def _start(reader: Reader, node: Node) -> v.Step:
    fields = reader.fields(node, "process", "flags", "data", "as", "business_key", "message", "signal")
    message, signal = fields.get("message"), fields.get("signal")
    return v.Start(
        process=fields.text("process"), flags=reader.flags(fields), data=reader.mapping(fields, "data"),
        name=_word(fields, "as"), business_key=_word(fields, "business_key"),
        message=_message(reader, message) if message is not None else None,
        signal=_signal(reader, signal) if signal is not None else None,
    )  # fmt: skip


def _advance(reader: Reader, node: Node) -> v.Step:
    months, micros = reader.span(node)
    return v.Advance(seconds=micros / SECOND, months=months)


def _message(reader: Reader, node: Node) -> v.Message:
    fields = reader.fields(_called(node), "name", "key", "id", "ttl", "data", "flags")
    return v.Message(
        name=fields.text("name", required=True), key=_word(fields, "key"), id=_word(fields, "id"),
        ttl_seconds=fields.duration("ttl") or 0.0, data=reader.mapping(fields, "data"), flags=reader.flags(fields),
    )  # fmt: skip


def _signal(reader: Reader, node: Node) -> v.Signal:
    fields = reader.fields(_called(node), "name", "id", "data", "flags")
    return v.Signal(
        name=fields.text("name", required=True), id=_word(fields, "id"), data=reader.mapping(fields, "data"),
        flags=reader.flags(fields),
    )  # fmt: skip


def _called(node: Node) -> Node:
    """A message or signal that has nothing but a name may be just that."""
    return node.beside({"name": node}) if isinstance(node.value, str) else node


def _task(reader: Reader, node: Node) -> v.Step:
    fields = reader.fields(node, "element", "by", "groups", "flags", "data", "to")
    return v.Task(
        element=fields.text("element", required=True), by=_word(fields, "by"), groups=fields.texts("groups"),
        flags=reader.flags(fields), data=reader.mapping(fields, "data"), to=_word(fields, "to"),
    )  # fmt: skip


def _cancel(reader: Reader, node: Node) -> v.Step:
    fields = reader.fields(node, "reason", "compensate", "to")
    return v.Cancel(reason=fields.text("reason"), compensates=fields.boolean("compensate"), to=_word(fields, "to"))


def _crash(reader: Reader, node: Node) -> v.Step:
    reader.fields(node)
    return v.Crash()


def _suspend(reader: Reader, node: Node) -> v.Step:
    return v.Suspend(to=_word(reader.fields(node, "to"), "to"))


def _resume(reader: Reader, node: Node) -> v.Step:
    fields = reader.fields(node, "timers", "to")
    return v.Resume(timers=fields.word("timers", ("keep", "shift"), "keep"), to=_word(fields, "to"))


def _retry(reader: Reader, node: Node) -> v.Step:
    fields = reader.fields(node, "element", "flags", "to")
    return v.Retry(element=fields.text("element"), flags=reader.flags(fields), to=_word(fields, "to"))


def _resolve(reader: Reader, node: Node) -> v.Step:
    fields = reader.fields(node, "element", "data", "flags", "error", "to")
    return v.Resolve(
        element=fields.text("element"), data=reader.mapping(fields, "data"), flags=reader.flags(fields),
        error=fields.text("error"), to=_word(fields, "to"),
    )  # fmt: skip


def _modify(reader: Reader, node: Node) -> v.Step:
    fields = reader.fields(node, "cancel", "start", "flags", "to")
    return v.Modify(
        cancel=fields.texts("cancel"), start=fields.texts("start"), flags=reader.flags(fields), to=_word(fields, "to")
    )


def _deploy(reader: Reader, node: Node) -> v.Step:
    return v.Deploy(model=reader.model(reader.fields(node, "model")))


def _migrate(reader: Reader, node: Node) -> v.Step:
    fields = reader.fields(node, "mapping", "to")
    return v.Migrate(mapping=reader.mapping(fields, "mapping"), to=_word(fields, "to"))


def _word(fields: Fields, key: str) -> str:
    """A key, id or name; a number written without quotes is its text."""
    node = fields.get(key)
    if node is not None and isinstance(node.value, int) and not isinstance(node.value, bool):
        return str(node.value)
    return fields.text(key)


NAMES = ("to", "as", "instance")
FOR_ONE = frozenset({"task", "cancel", "suspend", "resume", "retry", "resolve", "modify", "migrate"})
"""Steps for one instance: it is named by `to`, or in other words."""
SHORT = {
    "cancel": "to", "suspend": "to", "resume": "to", "migrate": "to", "task": "element", "retry": "element",
    "resolve": "element", "deploy": "model",
}  # fmt: skip
"""What a text alone says."""

READERS: dict[str, Callable[[Reader, Node], v.Step]] = {
    "start": _start, "advance": _advance, "message": _message, "signal": _signal, "task": _task, "cancel": _cancel,
    "crash": _crash, "suspend": _suspend, "resume": _resume, "retry": _retry, "resolve": _resolve,
    "modify": _modify, "deploy": _deploy, "migrate": _migrate,
}  # fmt: skip

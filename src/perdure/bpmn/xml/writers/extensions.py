"""Extension elements out: what the process model holds joined with what was kept of the same element."""

from __future__ import annotations

from perdure.bpmn.model import CallActivity, Event, Extension, Mapping, Task, Value
from perdure.bpmn.xml import extension_schema
from perdure.bpmn.xml.element import Tag
from perdure.bpmn.xml.namespaces import EVENT_DEFINITIONS, EXPRESSIONS, KEPT
from perdure.bpmn.xml.value_text import show_value

Modelled = dict[str, Tag]
_JOINED = frozenset((*EXPRESSIONS, "bpmn:extensionElements"))


class Kept:
    """The extensions of one element, by where they are written."""

    def __init__(self, extensions: tuple[Extension, ...], modelled: frozenset[str]) -> None:
        self.attributes: dict[str, str] = {}
        self.residuals: dict[str, Extension] = {}
        self.definitions: list[Extension] = []
        self.standard: list[Tag] = []
        self.others: list[Tag] = []
        for each in extensions:
            if each.name == extension_schema.ATTRIBUTES:
                self.attributes |= each.attributes
            elif each.name in modelled and each.name not in self.residuals:
                self.residuals[each.name] = each
            elif each.name in EVENT_DEFINITIONS:
                self.definitions.append(each)
            elif each.name in KEPT:
                self.standard.append(_tag(each))
            else:
                self.others.append(_tag(each))

    def elements(self, modelled: Modelled) -> Tag | None:
        """The `extensionElements`; none where there is nothing to put in."""
        found = [self.joined(name, modelled.get(name)) for name in extension_schema.MODELLED]
        children = [tag for tag in (*found, *self.others) if tag is not None]
        return Tag("bpmn:extensionElements").with_children(*children) if children else None

    def joined(self, name: str, tag: Tag | None) -> Tag | None:
        """An element of ours with what was kept of it."""
        kept = self.residuals.get(name)
        return tag if kept is None else _joined(Tag(name) if tag is None else tag, kept)

    def triggers(self, tags: list[Tag]) -> list[Tag]:
        """Event definitions, each with the first thing kept of its kind that is not yet written."""
        waiting = list(self.definitions)
        for place, tag in enumerate(tags):
            kept = next((each for each in waiting if each.name == tag.name), None)
            if kept is not None:
                waiting.remove(kept)
                tags[place] = _joined(tag, kept)
        return tags


def properties(table: dict[str, str]) -> Modelled:
    return _filled("zeebe:properties", [Tag("zeebe:property", {"name": n, "value": v}) for n, v in table.items()])


def mappings(mapped: tuple[Mapping, ...]) -> Modelled:
    tags = [Tag(f"zeebe:{m.direction}", {"source": show_value(m.source), "target": m.target}) for m in mapped]
    return _filled("zeebe:ioMapping", tags)


def called(call: CallActivity) -> Modelled:
    """Which process is called, and whether flags go there and back by themselves."""
    attributes = {
        "processId": call.process,
        "propagateAllParentVariables": "" if call.hands_all else "false",
        "propagateAllChildVariables": "" if call.returns_all else "false",
    }
    return _given("zeebe:calledElement", {name: text for name, text in attributes.items() if text})


def work(node: Task | Event) -> Modelled:
    """What a worker is told: type, retries and headers."""
    headers = [Tag("zeebe:header", {"key": key, "value": value}) for key, value in node.headers.items()]
    attributes = {"type": node.type} if node.type else {}
    if node.retries is not None:
        attributes["retries"] = str(node.retries)
    return _given("zeebe:taskDefinition", attributes) | _filled("zeebe:taskHeaders", headers)


def people(task: Task, kept: Kept) -> Modelled:
    """Who may do a human task, and when."""
    found = {"zeebe:userTask": Tag("zeebe:userTask")} if task.is_native else {}
    found |= _values(
        "zeebe:assignmentDefinition", assignee=task.assignee, candidateGroups=task.groups, candidateUsers=task.users
    )
    found |= _values("zeebe:taskSchedule", dueDate=task.due, followUpDate=task.follow_up)
    found |= _values("zeebe:priorityDefinition", priority=task.priority)
    return found | _form(task.form, kept)


def _form(form: str, kept: Kept) -> Modelled:
    residual = kept.residuals.get("zeebe:formDefinition")
    has_key = residual is not None and residual.attributes.get("formKey") == form
    return _given("zeebe:formDefinition", {"formId": form} if form and not has_key else {})


def _values(name: str, **values: Value | None) -> Modelled:
    return _given(name, {key: show_value(value) for key, value in values.items() if value is not None})


def _given(name: str, attributes: dict[str, str]) -> Modelled:
    return {name: Tag(name, attributes)} if attributes else {}


def _filled(name: str, children: list[Tag]) -> Modelled:
    return {name: Tag(name).with_children(*children)} if children else {}


def _joined(tag: Tag, kept: Extension) -> Tag:
    joined = Tag(tag.name, {**tag.attributes, **kept.attributes}, tag.text).with_children(*tag.children)
    for each in kept.children:
        same = _same(joined, each)
        if same is None:
            joined.children.insert(0 if each.name == "bpmn:extensionElements" else len(joined.children), _tag(each))
        else:
            joined.children[joined.children.index(same)] = _joined(same, each)
    return joined


def _same(tag: Tag, kept: Extension) -> Tag | None:
    """The child that something kept is of: the only one of its name, or the part of the same key."""
    if key := extension_schema.PARTS_OF.get(tag.name, {}).get(kept.name):
        return next((each for each in tag.all(kept.name) if each.get(key) == kept.attributes.get(key)), None)
    return tag.first(kept.name) if kept.name in _JOINED else None


def _tag(extension: Extension) -> Tag:
    tag = Tag(extension.name, extension.attributes, extension.text)
    return tag.with_children(*map(_tag, extension.children))

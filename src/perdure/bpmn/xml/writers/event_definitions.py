"""Event definitions, loops and conditions out."""

from __future__ import annotations

from typing import assert_never

from perdure.bpmn.conditions.printer import show_condition
from perdure.bpmn.conditions.tree import Condition, Foreign
from perdure.bpmn.model import (
    CancelTrigger,
    CompensationTrigger,
    ConditionalTrigger,
    ErrorTrigger,
    EscalationTrigger,
    LinkTrigger,
    MessageTrigger,
    MultiInstance,
    SignalTrigger,
    StandardLoop,
    TerminateTrigger,
    TimerTrigger,
    Trigger,
)
from perdure.bpmn.xml import extension_schema
from perdure.bpmn.xml.element import Tag
from perdure.bpmn.xml.value_text import show_cardinality, show_collection, show_value
from perdure.bpmn.xml.writers.extensions import Kept

_TIMES = {"duration": "bpmn:timeDuration", "date": "bpmn:timeDate", "cycle": "bpmn:timeCycle"}


def given(**attributes: str) -> dict[str, str]:
    """The attributes that are not empty."""
    return {name: text for name, text in attributes.items() if text}


def expression(name: str, text: str) -> Tag:
    return Tag(name, {"xsi:type": "bpmn:tFormalExpression"}, text)


def condition(name: str, tree: Condition | None) -> Tag | None:
    if tree is None:
        return None
    tag = expression(name, show_condition(tree))
    if isinstance(tree, Foreign) and tree.language:
        tag.attributes["language"] = tree.language
    return tag


def trigger_tag(trigger: Trigger) -> Tag:
    match trigger:
        case MessageTrigger(message):
            return Tag("bpmn:messageEventDefinition", given(messageRef=message))
        case TimerTrigger(kind, value):
            return Tag("bpmn:timerEventDefinition").with_children(expression(_TIMES[kind], show_value(value)))
        case SignalTrigger(signal):
            return Tag("bpmn:signalEventDefinition", given(signalRef=signal))
        case ErrorTrigger(error):
            return Tag("bpmn:errorEventDefinition", given(errorRef=error))
        case EscalationTrigger(escalation):
            return Tag("bpmn:escalationEventDefinition", given(escalationRef=escalation))
        case CompensationTrigger(activity, waits):
            attributes = given(activityRef=activity, waitForCompletion="" if waits else "false")
            return Tag("bpmn:compensateEventDefinition", attributes)
        case LinkTrigger(name):
            return Tag("bpmn:linkEventDefinition", {"name": name})
        case ConditionalTrigger(tree):
            return Tag("bpmn:conditionalEventDefinition").with_children(condition("bpmn:condition", tree))
        case TerminateTrigger():
            return Tag("bpmn:terminateEventDefinition")
        case CancelTrigger():
            return Tag("bpmn:cancelEventDefinition")
        case _:
            assert_never(trigger)


def repeat_tag(repeat: StandardLoop | MultiInstance | None, kept: Kept) -> Tag | None:
    match repeat:
        case None:
            return None
        case StandardLoop():
            return kept.joined(extension_schema.STANDARD_LOOP, _standard(repeat))
        case MultiInstance():
            return _multi_instance(repeat, kept)
        case _:
            assert_never(repeat)


def _standard(loop: StandardLoop) -> Tag:
    attributes = given(
        testBefore="true" if loop.is_tested_before else "",
        loopMaximum="" if loop.maximum is None else str(loop.maximum),
    )
    return Tag(extension_schema.STANDARD_LOOP, attributes).with_children(
        condition("bpmn:loopCondition", loop.condition)
    )


def _multi_instance(repeat: MultiInstance, kept: Kept) -> Tag:
    collection = show_collection(repeat.cardinality)
    zeebe = kept.joined(
        extension_schema.LOOP,
        None if collection is None else Tag(extension_schema.LOOP, {"inputCollection": collection}),
    )
    tag = Tag(extension_schema.MULTI_INSTANCE, given(isSequential="true" if repeat.is_sequential else ""))
    if zeebe is not None:
        tag.with_children(Tag("bpmn:extensionElements").with_children(zeebe))
    if collection is None and repeat.cardinality.text:
        tag.with_children(expression("bpmn:loopCardinality", show_cardinality(repeat.cardinality)))
    tag.with_children(condition("bpmn:completionCondition", repeat.completion))
    return kept.joined(extension_schema.MULTI_INSTANCE, tag) or tag

"""The declared form of a pack: a guided journey over verbs, frozen and addressed by the hash of its file."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Any, Literal

import msgspec

from perdure.packs.conditions import Condition
from perdure.payload import data_hash
from perdure.runbooks.plan import OnFailure, PackPin, Reevaluate
from perdure.verb_contract import ConsequenceTier
from perdure.verbs.definition import same_verb_name

AnswerKind = Literal["string", "boolean", "list", "entity_ref", "enum"]
ExecutionMode = Literal["sync", "durable", "human_gate"]
StopRule = Literal["all_required_answered", "all_answered"]


class Rule(msgspec.Struct, frozen=True):
    """A condition as written and as understood."""

    text: str
    condition: Condition


class Question(msgspec.Struct, frozen=True):
    """One answer a journey needs, or offers to take."""

    field: str
    prompt: str
    answer_kind: AnswerKind = "string"
    options_source: str | None = None
    """`verb.argument`: the enum of that argument."""
    options: tuple[str, ...] = ()
    entity: str | None = None
    default: Any = None
    ask_when: Rule | None = None
    is_required: bool = True
    line: int = 0


class TemplateStep(msgspec.Struct, frozen=True):
    """One call of a template; repeated for each item of a list, or left out."""

    verb: str
    args: dict[str, Any] = {}
    name: str = ""
    repeat_for: tuple[str, ...] = ()
    when: Rule | None = None
    execution_mode: ExecutionMode | None = None
    after: tuple[str, ...] = ()
    gate: str = ""
    on_failure: OnFailure = "fail"
    reevaluate: Reevaluate = "decisions"
    line: int = 0


class Template(msgspec.Struct, frozen=True):
    template_id: str
    when_to_use: str = ""
    when: Rule | None = None
    """Chosen by itself when this holds; the first template otherwise."""
    ordered: bool = False
    """Each step comes after the one before it; otherwise only where one needs another's result."""
    steps: tuple[TemplateStep, ...] = ()
    line: int = 0

    @property
    def content_hash(self) -> str:
        """`sha256:` of what the template says; where it stands in the file is not part of it."""
        return data_hash(_without_lines(msgspec.to_builtins(self)))


class Escalation(msgspec.Struct, frozen=True):
    """Raises the consequence tier of a call whose arguments fit; never lowers one."""

    name: str
    when: Rule
    tier: ConsequenceTier
    reason: str
    verbs: tuple[str, ...] = ("*",)


class RiskPolicy(msgspec.Struct, frozen=True):
    require_confirm_before_execute: bool = True
    max_steps_without_confirm: int = 10
    escalations: tuple[Escalation, ...] = ()


class Section(msgspec.Struct, frozen=True):
    """A chapter of the playback: the calls of these verbs."""

    title: str
    verbs: tuple[str, ...]
    line: int = 0


class Signal(msgspec.Struct, frozen=True):
    label: str
    condition: Rule


class Pack(msgspec.Struct, frozen=True):
    """Everything one pack file says; `hash` is `sha256:` of its bytes."""

    id: str
    name: str
    version: str
    hash: str = ""
    description: str = ""
    invocation_phrases: tuple[str, ...] = ()
    required_context: tuple[str, ...] = ()
    optional_context: tuple[str, ...] = ()
    workspaces: tuple[str, ...] = ()
    allowed_verbs: tuple[str, ...] = ()
    forbidden_verbs: tuple[str, ...] = ()
    risk_policy: RiskPolicy = RiskPolicy()
    questions: tuple[Question, ...] = ()
    """Required ones first, as they are asked."""
    stop_rules: tuple[StopRule, ...] = ("all_required_answered",)
    templates: tuple[Template, ...] = ()
    pack_summary_template: str = ""
    section_layout: tuple[Section, ...] = ()
    definition_of_done: tuple[Rule, ...] = ()
    progress_signals: tuple[Signal, ...] = ()
    handoff_target: str | None = None
    file: str = ""
    lines: dict[str, int] = {}
    """Where each top-level key was written."""

    def question(self, field: str) -> Question | None:
        return next((each for each in self.questions if each.field == field), None)

    def template(self, template_id: str) -> Template | None:
        return next((each for each in self.templates if each.template_id == template_id), None)

    def allows(self, verb: str) -> bool:
        """Whether a step may call it: forbidden beats allowed, and nothing listed allows everything."""
        return not is_like(verb, self.forbidden_verbs) and (not self.allowed_verbs or is_like(verb, self.allowed_verbs))

    def section_of(self, verb: str) -> str:
        """The chapter a call stands in; empty when no section claims it."""
        return next((each.title for each in self.section_layout if is_like(verb, each.verbs)), "")

    def pin(self, template: Template | None = None) -> PackPin:
        if template is None:
            return PackPin(self.id, self.version, self.hash)
        return PackPin(self.id, self.version, self.hash, template.template_id, template.content_hash)


def is_like(verb: str, patterns: tuple[str, ...]) -> bool:
    """Whether a verb fits one of the patterns; `*` stands for any letters, hyphens and underscores are alike."""
    name = same_verb_name(verb)
    return any(fnmatchcase(name, same_verb_name(pattern)) for pattern in patterns)


def _without_lines(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_lines(each) for key, each in value.items() if key != "line"}
    return [_without_lines(each) for each in value] if isinstance(value, list | tuple) else value

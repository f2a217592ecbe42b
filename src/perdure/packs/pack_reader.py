"""Reads one pack file strictly: everything wrong becomes a problem with its place, its field and what to do."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, get_args

import msgspec

from perdure.packs.conditions import ConditionFault, IsSet, Path, leaves, parse_condition, renamed
from perdure.packs.definition import (
    AnswerKind,
    Escalation,
    ExecutionMode,
    Pack,
    Question,
    RiskPolicy,
    Rule,
    Section,
    Signal,
    StopRule,
    Template,
    TemplateStep,
)
from perdure.packs.placeholders import PlaceholderFault, parse_template, placeholders_in
from perdure.packs.yaml_keys import PLACES
from perdure.runbooks.plan import OnFailure, Reevaluate
from perdure.verb_contract import CONSEQUENCE_TIERS
from perdure.verbs.mapping_reader import Fields
from perdure.verbs.near_names import did_you_mean
from perdure.verbs.schema_shorthand import argument_name
from perdure.verbs.text_templates import placeholders
from perdure.verbs.yaml_nodes import Node, Report

PACK_ID = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*")
NAME = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*")
PATTERN = re.compile(r"[a-z0-9*][a-z0-9*._-]*")
STEP_NAMES = ("verb", "status", "section", "name")
STATUSES = (
    "proposed", "confirmed", "disabled", "pending", "ready", "running", "parked", "completed", "failed", "skipped",
    "cancelled",
)  # fmt: skip
MAX_STEPS = 500
MAX_QUESTIONS = 100


class PackReader:
    """Reads the pack of one file."""

    def __init__(self, file: str, report: Report) -> None:
        self._file = file
        self._report = report
        self._answers: dict[str, Question] = {}
        self._context: tuple[str, ...] = ()

    def read(self, node: Node, hash: str) -> Pack:
        fields = self._fields(node, "pack")
        self._context = self._names(fields, "required_context") + self._names(fields, "optional_context")
        # Conditions of questions may name any answer, so names come before conditions.
        asked = self._questions(fields, "required_questions", True) + self._questions(
            fields, "optional_questions", False
        )
        questions = tuple(self._with_condition(part, question) for part, question in asked)
        return Pack(
            id=self._id(fields),
            name=fields.text("name", required=True),
            version=fields.text("version", required=True),
            hash=hash,
            description=fields.text("description"),
            invocation_phrases=self._phrases(fields),
            required_context=self._names(fields, "required_context"),
            optional_context=self._names(fields, "optional_context"),
            workspaces=fields.texts("workspaces"),
            allowed_verbs=self._patterns(fields, "allowed_verbs"),
            forbidden_verbs=self._patterns(fields, "forbidden_verbs"),
            risk_policy=self._risk_policy(fields),
            questions=questions,
            stop_rules=self._stop_rules(fields),
            templates=self._templates(fields),
            pack_summary_template=self._sentence(fields, "pack_summary_template"),
            section_layout=self._sections(fields),
            definition_of_done=self._done(fields),
            progress_signals=self._signals(fields),
            handoff_target=fields.optional_text("handoff_target"),
            file=self._file,
            lines={key: place[0] for key, place in node.key_places.items()} | {"": node.line},
        )

    def _fields(self, node: Node, kind: str) -> Fields:
        return Fields(node, kind, self._file, self._report, accepted=frozenset(PLACES[kind]))

    def _id(self, fields: Fields) -> str:
        id = fields.text("id", required=True)
        if id and not PACK_ID.fullmatch(id):
            hint = "Use lower case words joined by hyphens: kyc-case."
            fields.wrong(fields.get("id"), "name", f"'{id[:80]}' is not a pack id", hint)
        return id

    def _names(self, fields: Fields, key: str) -> tuple[str, ...]:
        return tuple(self._name(fields, word, fields.get(key)) for word in fields.texts(key))

    def _name(self, fields: Fields, word: str, at: Node | None) -> str:
        name = argument_name(word)
        if not NAME.fullmatch(name):
            fields.wrong(at, "name", f"'{word[:80]}' is not a name", "Use lower case words joined by underscores.")
        return name

    def _patterns(self, fields: Fields, key: str) -> tuple[str, ...]:
        found = fields.texts(key)
        for pattern in found:
            if not PATTERN.fullmatch(pattern):
                hint = "Write a verb's name, with * for any letters: kyc.* or *.delete."
                fields.wrong(fields.get(key), "pattern", f"'{pattern[:80]}' is not a pattern of verbs", hint)
        return found

    def _phrases(self, fields: Fields) -> tuple[str, ...]:
        phrases = fields.texts("invocation_phrases")
        for phrase in phrases:
            for name in placeholders(phrase):
                if argument_name(name) not in self._answers:
                    hint = did_you_mean(name, self._answers) or "Ask for it in a question."
                    at = fields.get("invocation_phrases")
                    fields.wrong(
                        at, "unknown_name", f"'{phrase[:80]}' takes '{name}', which no question asks for", hint
                    )
        return phrases

    # --- questions -----------------------------------------------------------------------------------------------

    def _questions(self, fields: Fields, key: str, is_required: bool) -> list[tuple[Fields, Question]]:
        items = fields.items(key)
        if len(items) > MAX_QUESTIONS:
            fields.wrong(fields.get(key), "too_many", f"there are more than {MAX_QUESTIONS} questions")
        return [self._question(self._fields(item, "question"), is_required) for item in items[:MAX_QUESTIONS]]

    def _question(self, part: Fields, is_required: bool) -> tuple[Fields, Question]:
        field = self._name(part, part.text("field", required=True) or "unnamed", part.get("field"))
        if field in self._answers:
            hint = f"The other is on line {self._answers[field].line}."
            part.wrong(part.get("field"), "duplicate", f"the answer '{field}' is asked for twice", hint)
        source, options = self._options(part)
        kind = part.word("answer_kind", get_args(AnswerKind), "string")
        default = part.get("default")
        question = Question(
            field=field,
            prompt=part.text("prompt", required=True),
            answer_kind=kind,
            options_source=source,
            options=options,
            entity=part.optional_text("entity"),
            default=default.plain() if default is not None else None,
            is_required=is_required,
            line=part.node.line,
        )
        self._check_question(part, question)
        self._answers[field] = question
        return part, question

    def _options(self, part: Fields) -> tuple[str | None, tuple[str, ...]]:
        node = part.get("options_source")
        if node is None:
            return None, ()
        if isinstance(node.value, list):
            return None, part.texts("options_source")
        source = part.text("options_source")
        if "." not in source:
            hint = "Write verb.argument, as in kyc.open-case.case-type, or a list of options."
            part.wrong(node, "options", f"'{source}' names no argument of a verb", hint)
        return source, ()

    def _check_question(self, part: Fields, question: Question) -> None:
        if question.answer_kind == "enum" and not (question.options or question.options_source):
            hint = "Add options_source: verb.argument, or a list of options."
            part.wrong(None, "options", f"the enum '{question.field}' has no options", hint)
        if question.entity is not None and question.answer_kind != "entity_ref":
            part.wrong(part.get("entity"), "entity", "only an entity_ref is looked up in an entity")
        fault = _default_fault(question)
        if fault:
            part.wrong(part.get("default"), "default", fault)

    def _with_condition(self, part: Fields, question: Question) -> Question:
        return msgspec.structs.replace(question, ask_when=self._rule(part, "ask_when"))

    # --- templates -----------------------------------------------------------------------------------------------

    def _templates(self, fields: Fields) -> tuple[Template, ...]:
        found: dict[str, Template] = {}
        for item in fields.items("templates"):
            part = self._fields(item, "template")
            made = self._template(part)
            if made.template_id in found:
                hint = f"The other is on line {found[made.template_id].line}."
                part.wrong(part.get("template_id"), "duplicate", f"'{made.template_id}' is given twice", hint)
            found[made.template_id] = made
        return tuple(found.values())

    def _template(self, part: Fields) -> Template:
        items = part.items("steps")
        if not items:
            part.wrong(part.get("steps"), "empty", "a template has at least one step")
        if len(items) > MAX_STEPS:
            part.wrong(part.get("steps"), "too_many", f"there are more than {MAX_STEPS} steps")
        steps: list[TemplateStep] = []
        for item in items[:MAX_STEPS]:
            steps.append(self._step(self._fields(item, "step"), steps))
        return Template(
            template_id=part.text("template_id", required=True),
            when_to_use=part.text("when_to_use"),
            when=self._rule(part, "when"),
            ordered=part.boolean("ordered"),
            steps=tuple(steps),
            line=part.node.line,
        )

    def _step(self, part: Fields, earlier: list[TemplateStep]) -> TemplateStep:
        repeat = self._repeat(part)
        before = [step.name for step in earlier if step.name]
        single = [step.name for step in earlier if step.name and not step.repeat_for]
        args = {argument_name(name): node for name, node in part.mapping("args").items()}
        for node in args.values():
            self._check_placeholders(part, node, single, has_item=bool(repeat))
        after = tuple(argument_name(word) for word in part.texts("after"))
        for name in after:
            if name not in before:
                hint = did_you_mean(name, before) or "Name earlier steps with 'as'."
                part.wrong(part.get("after"), "unknown_step", f"no step before it is called '{name}'", hint)
        name = argument_name(part.text("as"))
        if name and name in before:
            part.wrong(part.get("as"), "duplicate", f"the step '{name}' is given twice")
        mode = part.word("execution_mode", get_args(ExecutionMode), "sync") if "execution_mode" in part else None
        gate = part.text("gate")
        if mode == "human_gate" and not gate:
            part.wrong(part.get("execution_mode"), "gate", "a human gate needs a 'gate': who may agree")
        return TemplateStep(
            verb=part.text("verb", required=True),
            args={key: node.plain() for key, node in args.items()},
            name=name,
            repeat_for=repeat,
            when=self._rule(part, "when", has_item=bool(repeat)),
            execution_mode=mode,
            after=after,
            gate=gate,
            on_failure=part.word("on_failure", get_args(OnFailure), "fail"),
            reevaluate=part.word("reevaluate", get_args(Reevaluate), "decisions"),
            line=part.node.line,
        )

    def _repeat(self, part: Fields) -> Path:
        text = part.text("repeat_for").strip("{} ")
        if not text:
            return ()
        path = self._spelled(tuple(argument_name(text).split(".")))
        reason = self._unknown(path, has_item=False)
        if reason:
            part.wrong(part.get("repeat_for"), "unknown_name", reason[0], reason[1])
        question = self._answers.get(path[1]) if path[0] == "answers" and len(path) > 1 else None
        if question is not None and question.answer_kind != "list":
            reason_text = f"'{text}' is {question.answer_kind} and not a list"
            part.wrong(part.get("repeat_for"), "not_a_list", reason_text, "Make its answer_kind list.")
        return path

    def _check_placeholders(self, part: Fields, node: Node, steps: Iterable[str], has_item: bool) -> None:
        if isinstance(node.value, dict | list):
            for child in node.value.values() if isinstance(node.value, dict) else node.value:
                self._check_placeholders(part, child, steps, has_item)
        if not isinstance(node.value, str):
            return
        try:
            parse_template(node.value)
        except PlaceholderFault as fault:
            part.wrong(node, "placeholder", str(fault))
        for each in placeholders_in(node.value):
            if each.root == "steps":
                if each.path[1] not in steps:
                    hint = did_you_mean(each.path[1], steps) or "Name earlier steps with 'as'."
                    reason = f"no single step before it is called '{each.path[1]}'"
                    part.wrong(node, "unknown_step", reason, hint)
                elif f"{{{'.'.join(each.path)}}}" != argument_name(node.value):
                    part.wrong(node, "placeholder", "a step's result stands alone, without text or filters")
            elif (unknown := self._unknown(each.path, has_item)) is not None:
                part.wrong(node, "unknown_name", *unknown)

    # --- the rest ------------------------------------------------------------------------------------------------

    def _risk_policy(self, fields: Fields) -> RiskPolicy:
        node = fields.get("risk_policy")
        if node is None:
            return RiskPolicy()
        part = self._fields(node, "risk_policy")
        return RiskPolicy(
            require_confirm_before_execute=part.boolean("require_confirm_before_execute", True),
            max_steps_without_confirm=part.integer("max_steps_without_confirm", 10, 0, 10_000),
            escalations=tuple(self._escalation(item) for item in part.items("escalations")),
        )

    def _escalation(self, item: Node) -> Escalation:
        part = self._fields(item, "escalation")
        name = part.text("name", required=True)
        when = self._rule(part, "when", roots=("args",))
        if when is None:
            if part.get("when") is None:
                part.missing("when")
            when = Rule("", IsSet(("args", "")))
        return Escalation(
            name=name,
            when=when,
            tier=part.word("tier", CONSEQUENCE_TIERS, "requires_confirmation"),
            reason=part.text("reason", required=True),
            verbs=self._patterns(part, "verbs") or ("*",),
        )

    def _stop_rules(self, fields: Fields) -> tuple[StopRule, ...]:
        known: tuple[StopRule, ...] = get_args(StopRule)
        found: list[StopRule] = []
        for word in fields.texts("stop_rules"):
            rule = next((each for each in known if each == word), None)
            if rule is None:
                hint = did_you_mean(word, known) or f"There are {' and '.join(known)}."
                fields.wrong(fields.get("stop_rules"), "stop_rule", f"'{word[:80]}' is not a stop rule", hint)
            else:
                found.append(rule)
        return tuple(found) or ("all_required_answered",)

    def _sentence(self, fields: Fields, key: str) -> str:
        node = fields.get(key)
        text = fields.text(key)
        if node is not None and text:
            self._check_placeholders(fields, node, (), has_item=False)
        return text

    def _sections(self, fields: Fields) -> tuple[Section, ...]:
        parts = [self._fields(item, "section") for item in fields.items("section_layout")]
        return tuple(
            Section(part.text("title", required=True), self._patterns(part, "verbs"), part.node.line) for part in parts
        )

    def _done(self, fields: Fields) -> tuple[Rule, ...]:
        node = fields.get("definition_of_done")
        if node is None:
            return ()
        nodes = [node] if isinstance(node.value, str) else fields.items("definition_of_done")
        rules = [self._parsed(fields, each, ("answers", "context"), False) for each in nodes if fields.is_text(each)]
        return tuple(rule for rule in rules if rule is not None)

    def _signals(self, fields: Fields) -> tuple[Signal, ...]:
        found = []
        for item in fields.items("progress_signals"):
            part = self._fields(item, "signal")
            label = part.text("label", required=True)
            rule = self._rule(part, "condition")
            if rule is not None:
                found.append(Signal(label, rule))
            elif part.get("condition") is None:
                part.missing("condition")
        return tuple(found)

    # --- conditions ----------------------------------------------------------------------------------------------

    def _rule(
        self, part: Fields, key: str, has_item: bool = False, roots: tuple[str, ...] = ("answers", "context")
    ) -> Rule | None:
        node = part.get(key)
        if node is None or not part.is_text(node):
            return None
        return self._parsed(part, node, roots, has_item)

    def _parsed(self, part: Fields, node: Node, roots: tuple[str, ...], has_item: bool) -> Rule | None:
        try:
            condition = parse_condition(node.value)
        except ConditionFault as fault:
            hint = "Write e.g. answers.x is set, answers.x == 'y', or exists(verb == 'a.b' and status == 'completed')."
            reason = f"'{node.value[:120]}' is no condition: {fault.reason} (at character {fault.at + 1})"
            part.wrong(node, "condition", reason, hint)
            return None
        if "answers" in roots:
            condition = renamed(condition, self._spelled)
        for leaf, is_inside in leaves(condition):
            wrong = self._of_step(leaf) if is_inside else self._of_names(leaf.path, roots, has_item)
            if wrong is not None:
                part.wrong(node, "unknown_name", *wrong)
        return Rule(node.value, condition)

    def _spelled(self, path: Path) -> Path:
        """A name alone is the answer of that name."""
        is_alone = len(path) == 1 and path[0] != "item"
        return ("answers", *path) if is_alone else path

    def _of_names(self, path: Path, roots: tuple[str, ...], has_item: bool) -> tuple[str, str] | None:
        if roots == ("args",):
            is_argument = path[0] == "args" and len(path) > 1
            return None if is_argument else (f"'{'.'.join(path)}' is not an argument of a call", "Write args.name.")
        return self._unknown(path, has_item)

    def _of_step(self, leaf: Any) -> tuple[str, str] | None:
        name = ".".join(leaf.path)
        if name not in STEP_NAMES:
            hint = did_you_mean(name, STEP_NAMES) or f"There are {', '.join(STEP_NAMES)}."
            return f"a step has no '{name}'", hint
        if name != "status" or isinstance(leaf, IsSet):
            return None
        for value in leaf.values if hasattr(leaf, "values") else (leaf.value,):
            if value not in STATUSES:
                return f"'{value}' is not the state of a step", did_you_mean(str(value), STATUSES)
        return None

    def _unknown(self, path: Path, has_item: bool) -> tuple[str, str] | None:
        """Why a path names nothing that the pack knows, and what to do."""
        shown = ".".join(path)
        match path[0]:
            case "answers" if len(path) > 1 and path[1] in self._answers:
                return None
            case "answers":
                hint = did_you_mean(path[-1], self._answers) or "Ask for it in a question."
                return f"no question asks for '{shown.removeprefix('answers.')}'", hint
            case "context" if len(path) > 1 and path[1] in self._context:
                return None
            case "context":
                hint = did_you_mean(path[-1], self._context) or "Add it to required_context or optional_context."
                return f"'{shown}' is not declared", hint
            case "item" if has_item:
                return None
            case "item":
                return "there is no item here", "Only a step with repeat_for has items."
            case _:
                return f"'{shown}' is not known here", "Names begin with answers or context."


def _default_fault(question: Question) -> str:
    default = question.default
    if default is None:
        return ""
    match question.answer_kind:
        case "boolean":
            return "" if isinstance(default, bool) else "the default of a boolean is true or false"
        case "list":
            return "" if isinstance(default, list) else "the default of a list is a list"
        case "enum":
            if question.options and default not in question.options:
                return f"the default '{default}' is not one of {', '.join(question.options)}"
            return "" if isinstance(default, str) else "the default of an enum is one of its texts"
        case "string" | "entity_ref":
            return "" if isinstance(default, str) else "the default is text; put it in quotes"

"""Holds packs against the verbs and entities they speak of: every finding has a stable code and a place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from perdure.errors import Problem
from perdure.packs.conditions import Compared, OneOf, leaves
from perdure.packs.definition import Pack, Question, Rule, Template, TemplateStep, is_like
from perdure.packs.loader import Shelf
from perdure.packs.placeholders import Placeholder, parse_template, placeholders_in
from perdure.verbs.catalogue import Catalogue
from perdure.verbs.compiled_schema import CompiledSchema
from perdure.verbs.compiled_verb import Verb
from perdure.verbs.near_names import did_you_mean
from perdure.verbs.schema_shorthand import argument_name


class LintRule(NamedTuple):
    """What a code means; the page of codes is made of these."""

    title: str
    severity: Literal["error", "warning"]
    why: str


RULES = MappingProxyType(
    {
        "PACK001": LintRule("unknown verb", "error", "A step calls a verb that no definition declares."),
        "PACK002": LintRule("verb not allowed", "error", "A step calls a verb the pack forbids or does not allow."),
        "PACK003": LintRule("unknown argument", "error", "A step gives an argument that the verb does not take."),
        "PACK004": LintRule("argument never filled", "error", "A required argument of a step's verb is never given."),
        "PACK005": LintRule("argument does not fit", "error", "A literal does not fit the schema of its argument."),
        "PACK006": LintRule("unknown options", "error", "Options come from a verb or an enum that is not there."),
        "PACK007": LintRule("default is no option", "error", "The default of an enum is not one of its options."),
        "PACK008": LintRule("unknown entity", "error", "An answer is looked up in an entity that is not declared."),
        "PACK009": LintRule("unknown handoff", "error", "The pack hands over to a pack that is not there."),
        "PACK010": LintRule("mode disagrees", "error", "A step is called sync or durable and its verb is the other."),
        "PACK011": LintRule("unknown verb in a condition", "error", "A condition waits for a verb nobody declares."),
        "PACK012": LintRule("section matches nothing", "warning", "No verb that the pack allows falls into a section."),
        "PACK013": LintRule("pattern matches nothing", "warning", "An allowed pattern fits no verb."),
        "PACK014": LintRule("answer never used", "warning", "No step, condition or sentence uses an answer."),
        "PACK015": LintRule("question never asked", "error", "A question waits for itself or for one never asked."),
        "PACK016": LintRule("never done", "warning", "The definition of done waits for a verb no template calls."),
        "PACK017": LintRule("no template", "warning", "The pack asks questions and makes no plan of the answers."),
        "PACK018": LintRule("step has no section", "warning", "The pack has sections, and a step falls into none."),
        "PACK019": LintRule("unknown result", "error", "A step takes a result that the other step's verb never gives."),
        "PACK020": LintRule("answer may be missing", "warning",
                            "A required argument comes from an optional answer without a default."),
        "PACK021": LintRule("template never chosen", "warning", "A template has no condition and another comes first."),
        "PACK022": LintRule("no phrase", "warning", "Nobody can begin the pack by saying what they want."),
    }
)  # fmt: skip


def lint_packs(shelf: Shelf, catalogue: Catalogue) -> list[Problem]:
    """Everything found in every pack, in the order of the files."""
    return [problem for pack in shelf for problem in lint_pack(pack, catalogue, shelf)]


def lint_pack(pack: Pack, catalogue: Catalogue, shelf: Shelf | None = None) -> list[Problem]:
    check = _Check(pack, catalogue)
    found = [*check.questions(), *check.templates(), *check.patterns(), *check.conditions(), *check.whole(shelf)]
    return sorted(dict.fromkeys(found), key=lambda each: (each.line, each.code))


def enum_of(catalogue: Catalogue, source: str) -> tuple[str, ...] | None:
    """The options of `verb.argument`; None when there is no such enum."""
    name, _, argument = source.rpartition(".")
    verb = catalogue.find(name)
    schema = None if verb is None else verb.input.properties.get(argument_name(argument))
    items = schema.get("items", schema) if isinstance(schema, dict) else {}
    values = items.get("enum") if isinstance(items, dict) else None
    return tuple(str(each) for each in values) if values else None


class _Check:
    def __init__(self, pack: Pack, catalogue: Catalogue) -> None:
        self._pack = pack
        self._catalogue = catalogue
        self._steps = [(template, step) for template in pack.templates for step in template.steps]

    def _found(self, code: str, line: int, field: str, reason: str, hint: str = "") -> Problem:
        return Problem(code, self._pack.file, line, 1, field, reason, hint, RULES[code].severity)

    # --- questions -----------------------------------------------------------------------------------------------

    def questions(self) -> Iterator[Problem]:
        used = set(self._used_answers())
        for question in self._pack.questions:
            yield from self._options(question)
            if question.entity is not None and question.entity not in self._catalogue.entities:
                hint = did_you_mean(question.entity, self._catalogue.entities)
                reason = f"the entity '{question.entity}' is not declared"
                yield self._found("PACK008", question.line, f"{question.field}.entity", reason, hint)
            if question.field not in used:
                reason = f"the answer '{question.field}' is never used"
                yield self._found("PACK014", question.line, question.field, reason, "Use it or ask less.")
        for question in self._never_asked():
            reason = f"'{question.field}' waits for an answer that is never asked for before it"
            yield self._found("PACK015", question.line, f"{question.field}.ask_when", reason)

    def _options(self, question: Question) -> Iterator[Problem]:
        options: Sequence[str] | None = question.options
        if question.options_source is not None:
            options = enum_of(self._catalogue, question.options_source)
            if options is None:
                reason = f"'{question.options_source}' is not an argument with an enum"
                sources = [f"{verb.name}.{name}" for verb in self._catalogue for name in verb.input.properties]
                hint = did_you_mean(question.options_source, sources)
                yield self._found("PACK006", question.line, f"{question.field}.options_source", reason, hint)
                return
        if question.answer_kind == "enum" and question.default is not None and question.default not in (options or ()):
            reason = f"the default '{question.default}' is not one of {', '.join(options or ())}"
            hint = did_you_mean(str(question.default), options or ())
            yield self._found("PACK007", question.line, f"{question.field}.default", reason, hint)

    def _never_asked(self) -> list[Question]:
        """Questions whose condition can only hold after they, or one like them, were answered."""
        waits = {
            question.field: {path[1] for path in _answer_paths(question.ask_when)} for question in self._pack.questions
        }
        open_ = {field for field, needs in waits.items() if needs}
        while ready := {field for field in open_ if not waits[field] & open_}:
            open_ -= ready
        return [question for question in self._pack.questions if question.field in open_]

    def _used_answers(self) -> Iterator[str]:
        pack = self._pack
        rules = [*pack.definition_of_done, *(signal.condition for signal in pack.progress_signals)]
        for template, step in self._steps:
            rules += [rule for rule in (template.when, step.when) if rule is not None]
            yield from (each.path[1] for each in placeholders_in(step.args) if each.root == "answers")
            if step.repeat_for[:1] == ("answers",):
                yield step.repeat_for[1]
        rules += [question.ask_when for question in pack.questions if question.ask_when is not None]
        for rule in rules:
            yield from (path[1] for path in _answer_paths(rule))
        yield from (each.path[1] for each in placeholders_in(pack.pack_summary_template) if each.root == "answers")

    # --- templates -----------------------------------------------------------------------------------------------

    def templates(self) -> Iterator[Problem]:
        for number, (template, step) in enumerate(self._steps):
            field = f"{template.template_id}.{step.name or step.verb or number}"
            verb = self._catalogue.find(step.verb)
            if verb is None:
                hint = did_you_mean(step.verb, self._catalogue.names())
                reason = f"the verb '{step.verb}' is not declared"
                yield self._found("PACK001", step.line, field, reason, hint)
                continue
            if not self._pack.allows(step.verb):
                word = "forbids" if is_like(step.verb, self._pack.forbidden_verbs) else "does not allow"
                yield self._found("PACK002", step.line, field, f"the pack {word} '{step.verb}'")
            if step.execution_mode in ("sync", "durable") and step.execution_mode != verb.execution.kind:
                reason = f"the step is called {step.execution_mode} and '{verb.name}' is {verb.execution.kind}"
                yield self._found("PACK010", step.line, field, reason, "Leave execution_mode out.")
            if self._pack.section_layout and not self._pack.section_of(step.verb):
                yield self._found("PACK018", step.line, field, f"no section holds '{step.verb}'")
            yield from self._arguments(template, step, verb, field)
        yield from self._unchosen()

    def _arguments(self, template: Template, step: TemplateStep, verb: Verb, field: str) -> Iterator[Problem]:
        known = verb.input.properties
        for name, value in step.args.items():
            if name not in known and verb.input.schema.get("additionalProperties") is False:
                reason = f"'{verb.name}' takes no argument '{name}'"
                yield self._found("PACK003", step.line, f"{field}.args.{name}", reason, did_you_mean(name, known))
            elif name in known and not any(True for _ in placeholders_in(value)):
                yield from self._literal(step, verb, field, name, value)
            yield from self._results(template, step, field, name, value)
        for name in verb.input.schema.get("required", ()):
            if name not in step.args and "default" not in (known.get(name) or {}):
                reason = f"'{verb.name}' needs '{name}' and the step never gives it"
                yield self._found("PACK004", step.line, f"{field}.args.{name}", reason)
            elif name in step.args and (answer := self._may_be_missing(step, step.args[name])):
                reason = f"'{verb.name}' needs '{name}', which is the optional answer '{answer}'"
                hint = "Give the question a default, or the step a 'when'."
                yield self._found("PACK020", step.line, f"{field}.args.{name}", reason, hint)

    def _literal(self, step: TemplateStep, verb: Verb, field: str, name: str, value: Any) -> Iterator[Problem]:
        whole = {**verb.input.properties[name], "$defs": verb.input.schema.get("$defs", {})}
        for violation in CompiledSchema(whole).violations(value)[:1]:
            reason = f"the argument '{name}' does not fit: {violation.reason}"
            yield self._found("PACK005", step.line, f"{field}.args.{name}", reason, violation.hint)

    def _results(self, template: Template, step: TemplateStep, field: str, name: str, value: Any) -> Iterator[Problem]:
        for each in placeholders_in(value):
            if each.root != "steps":
                continue
            producer = next((other for other in template.steps if other.name == each.path[1]), None)
            verb = self._catalogue.find(producer.verb) if producer is not None else None
            fields = (verb.definition.output_schema or {}).get("properties", {}) if verb is not None else {}
            wanted = each.path[2] if len(each.path) > 2 else ""
            if verb is not None and fields and wanted and wanted not in fields:
                reason = f"'{verb.name}' gives no '{wanted}'"
                hint = did_you_mean(wanted, fields)
                yield self._found("PACK019", step.line, f"{field}.args.{name}", reason, hint)

    def _may_be_missing(self, step: TemplateStep, value: Any) -> str:
        """The optional answer without a default that a whole argument depends on."""
        parts = parse_template(value) if isinstance(value, str) else ()
        if len(parts) != 1 or not isinstance(parts[0], Placeholder) or parts[0].root != "answers":
            return ""
        question = self._pack.question(parts[0].path[1])
        if question is None or question.is_required or question.default is not None or step.when is not None:
            return ""
        return "" if any(each.name in ("default", "count") for each in parts[0].filters) else question.field

    def _unchosen(self) -> Iterator[Problem]:
        for template in [each for each in self._pack.templates if each.when is None][1:]:
            reason = f"'{template.template_id}' is chosen only when it is asked for"
            hint = "Give it a 'when', or say in 'when_to_use' when people should ask for it."
            if not template.when_to_use:
                yield self._found("PACK021", template.line, template.template_id, reason, hint)

    # --- the rest ------------------------------------------------------------------------------------------------

    def patterns(self) -> Iterator[Problem]:
        names = self._catalogue.names()
        for pattern in self._pack.allowed_verbs:
            if not any(is_like(name, (pattern,)) for name in names):
                line, hint = self._pack.lines.get("allowed_verbs", 1), did_you_mean(pattern, names)
                yield self._found("PACK013", line, "allowed_verbs", f"'{pattern}' fits no verb", hint)
        for section in self._pack.section_layout:
            if not any(is_like(name, section.verbs) and self._pack.allows(name) for name in names):
                reason = f"the section '{section.title}' holds no verb that the pack allows"
                yield self._found("PACK012", section.line, f"section_layout.{section.title}", reason)

    def conditions(self) -> Iterator[Problem]:
        called = {name for _, step in self._steps if (name := self._canonical(step.verb))}
        for rule in self._pack.definition_of_done:
            line = self._pack.lines.get("definition_of_done", 1)
            yield from self._named_verbs(rule, line, "definition_of_done")
            for name in _verbs_of(rule):
                if self._pack.templates and self._catalogue.find(name) and self._canonical(name) not in called:
                    reason = f"no template calls '{name}', so '{rule.text}' holds only when it is added by hand"
                    yield self._found("PACK016", line, "definition_of_done", reason)
        for signal in self._pack.progress_signals:
            line = self._pack.lines.get("progress_signals", 1)
            yield from self._named_verbs(signal.condition, line, f"progress_signals.{signal.label}")

    def _named_verbs(self, rule: Rule, line: int, field: str) -> Iterator[Problem]:
        for name in _verbs_of(rule):
            if self._catalogue.find(name) is None:
                hint = did_you_mean(name, self._catalogue.names())
                yield self._found("PACK011", line, field, f"the verb '{name}' is not declared", hint)

    def whole(self, shelf: Shelf | None) -> Iterator[Problem]:
        pack = self._pack
        if shelf is not None and pack.handoff_target is not None and shelf.find(pack.handoff_target) is None:
            reason = f"there is no pack '{pack.handoff_target}'"
            hint = did_you_mean(pack.handoff_target, shelf.ids())
            yield self._found("PACK009", pack.lines.get("handoff_target", 1), "handoff_target", reason, hint)
        if pack.questions and not pack.templates:
            yield self._found("PACK017", 1, "templates", "it has questions and no templates")
        if not pack.invocation_phrases:
            hint = "Add invocation_phrases."
            yield self._found("PACK022", 1, "invocation_phrases", "it has no invocation phrases", hint)

    def _canonical(self, name: str) -> str:
        verb = self._catalogue.find(name)
        return verb.name if verb is not None else ""


def _answer_paths(rule: Rule | None) -> Iterable[tuple[str, ...]]:
    if rule is None:
        return ()
    return (leaf.path for leaf, is_inside in leaves(rule.condition) if not is_inside and leaf.path[0] == "answers")


def _verbs_of(rule: Rule) -> Iterator[str]:
    for leaf, is_inside in leaves(rule.condition):
        if is_inside and leaf.path == ("verb",):
            match leaf:
                case Compared(_, _, value):
                    yield str(value)
                case OneOf(_, values):
                    yield from (str(value) for value in values)

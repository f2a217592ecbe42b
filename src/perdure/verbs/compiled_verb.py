"""One version of one verb, ready to be called: its definition and its schemas compiled once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from perdure.errors import SchemaViolationError
from perdure.identifiers import key_fault
from perdure.verbs import sentences
from perdure.verbs.carried_data import carried_schema
from perdure.verbs.compiled_schema import CompiledSchema
from perdure.verbs.definition import Execution, VerbDefinition
from perdure.verbs.schema_shorthand import argument_name
from perdure.verbs.text_templates import correlation_names, substitute_correlation

_UNKNOWN = object()


class Verb:
    """What callers, surfaces and the kernel hold of a verb."""

    __slots__ = (
        "_carried",
        "check_output",
        "content_hash",
        "definition",
        "definition_hash",
        "execution",
        "input",
        "is_durable",
        "name",
        "output",
        "version",
    )

    def __init__(self, definition: VerbDefinition) -> None:
        self.definition = definition
        self.execution: Execution = definition.execution
        self.is_durable = definition.execution.kind == "durable"
        self.name = definition.name
        self.version = definition.version
        self.content_hash = definition.content_hash
        self.definition_hash = bytes.fromhex(self.content_hash.removeprefix("sha256:"))
        self.input = CompiledSchema(definition.input_schema, "call", "verb", definition.name)
        output = definition.output_schema
        self.output = None if output is None else CompiledSchema(output, "accept the result of", "verb", self.name)
        self.check_output: Callable[[Any], Any] = _anything if self.output is None else self.output.check
        """The result as it may be recorded, or SchemaViolationError; any JSON when no schema is declared."""
        self._carried: Any = _UNKNOWN

    def check_carried(self, patch: Mapping[str, Any], by: str) -> None:
        """Hold what a sub-verb writes to the schema of this verb, or SchemaViolationError that names the sub-verb."""
        if self._carried is _UNKNOWN:
            schema = carried_schema(self.definition)
            self._carried = None if schema is None else CompiledSchema(schema, "merge the result of", "verb", by)
        held: CompiledSchema | None = self._carried
        if held is None or held.fits(patch) or not (violations := held.violations(patch)):
            return
        wrong = "; ".join(f"{each.path}: {each.reason}" for each in violations[:10])
        hint = f"'{self.name}' declares the field in its schema. Correct the handler of '{by}', or the schema."
        listed = [each.as_dict() for each in violations]
        raise SchemaViolationError("merge the result of", "verb", by, wrong, hint, violations=listed)

    def normalise_args(self, args: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments under their declared names: `:case-type` and `case-type` become `case_type`."""
        known = self.input.properties
        named: dict[str, Any] = {}
        for written, value in args.items():
            name = written if written in known else argument_name(written) if isinstance(written, str) else written
            if name in named:
                violation = {"path": f"$.{name}", "reason": "it is given twice", "hint": ""}
                fact = f"the argument '{name}' is given twice in different spellings"
                raise SchemaViolationError("call", "verb", self.name, fact, "Keep one.", violations=[violation])
            named[name] = value
        return named

    def check_input(self, args: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments normalised and with defaults, or SchemaViolationError."""
        checked: dict[str, Any] = self.input.check(self.normalise_args(args))
        return checked

    def sentence(self, args: Mapping[str, Any], kind: sentences.SentenceKind = "step") -> str:
        return sentences.render(self.definition, self.normalise_args(args), kind)

    def clarify(self, argument: str) -> str:
        return sentences.clarify(self.definition, argument)

    def correlation_key(self, values: Mapping[str, Any]) -> str:
        """The key a wait opens with; `values` holds the arguments and `step_id`/`call_id`."""
        template = self.definition.execution.correlation_key
        for name in correlation_names(template):
            value = values.get(argument_name(name))
            if value is None or isinstance(value, dict | list):
                fact = f"its correlation key '{template}' needs a single value for '{name}'"
                violation = {"path": f"$.{argument_name(name)}", "reason": "a single value is needed", "hint": ""}
                raise SchemaViolationError("correlate", "verb", self.name, fact, violations=[violation])
        key = substitute_correlation(template, lambda name: _key_part(values[argument_name(name)]))
        if fault := key_fault(key):
            fact = f"no wait can open under its correlation key '{template}': {fault}"
            raise SchemaViolationError("correlate", "verb", self.name, fact, violations=[])
        return key


def _anything(value: Any) -> Any:
    return value


def _key_part(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)

"""The reader of `policies.yaml`: strict, every problem with file, line, field and fix.

version: 1
policies:
  default:
    schedule_to_close: PT10M      # seconds, or a duration of ISO 8601
    start_to_close: 60
    retry:
      maximum_attempts: 3         # the first included
      initial_interval: 1
      maximum_interval: 30
      backoff_coefficient: 2.0
      non_retryable_error_types: [InvalidOrder]
"""

from __future__ import annotations

import re
from pathlib import Path

from perdure.bpmn.contract.policies import Policy, PolicyCatalogue, Retry
from perdure.durations import DurationError, parse_duration
from perdure.errors import DefinitionError
from perdure.verbs.mapping_reader import Fields
from perdure.verbs.yaml_nodes import Node, Report
from perdure.verbs.yaml_reader import MAX_FILE_BYTES, parse_text

FILE_NAME = "policies.yaml"
VERSION = 1
MAX_ATTEMPTS = 1_000_000
MAX_SECONDS = 10 * 365 * 86_400

_FILE = frozenset({"version", "policies"})
_POLICY = frozenset({"schedule_to_close", "start_to_close", "retry"})
_RETRY = frozenset(
    {"maximum_attempts", "initial_interval", "maximum_interval", "backoff_coefficient", "non_retryable_error_types"}
)
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,99}")


def load_policies(file: Path) -> PolicyCatalogue:
    """The catalogue of a file. Raises DefinitionError with every problem found."""
    report = Report()
    try:
        with file.open("rb") as stream:
            data = stream.read(MAX_FILE_BYTES + 1)
        text = data.decode()
    except OSError as error:
        report.add((str(file), 1, 1), "file.missing", "", f"it cannot be read: {error.strerror or error}")
    except UnicodeDecodeError:
        report.add((str(file), 1, 1), "yaml.encoding", "", "it is not UTF-8 text", "Save the file as UTF-8.")
    else:
        return parse_policies(text, str(file))
    raise DefinitionError(report.problems)


def parse_policies(text: str, file: str = FILE_NAME) -> PolicyCatalogue:
    """The catalogue of a text, as if it were a file of that name."""
    report = Report()
    documents = parse_text(text, file, report)
    policies: tuple[Policy, ...] = ()
    if len(documents) == 1:
        policies = tuple(_file(documents[0], file, report))
    elif not report.problems:
        reason = f"it holds {len(documents)} documents"
        report.add((file, 1, 1), "policies.documents", "", reason, "Write one, with version and policies.")
    if report.problems:
        raise DefinitionError(report.problems)
    return PolicyCatalogue(policies, file)


def _file(node: Node, file: str, report: Report) -> list[Policy]:
    fields = Fields(node, "policies", file, report, _FILE)
    version = fields.get("version")
    if version is None:
        fields.wrong(None, "missing", "it has no 'version'", f"Write version: {VERSION}.")
    elif version.value != VERSION or isinstance(version.value, bool):
        fields.wrong(version, "version", f"'{version.value}' is no known version"[:200], f"Write version: {VERSION}.")
    policies = fields.get("policies")
    if policies is None:
        fields.wrong(None, "missing", "it has no 'policies'", "List policies by name.")
    if policies is None or not isinstance(policies.value, dict):
        if policies is not None:
            fields.wrong(policies, "wrong_type", f"expected a mapping, found {policies.kind()}", "List them by name.")
        return []
    return [each for name, value in policies.value.items() if (each := _policy(name, value, file, report)) is not None]


def _policy(name: str, node: Node, file: str, report: Report) -> Policy | None:
    fields = Fields(node, "policy", file, report, _POLICY)
    before = len(report.problems)
    if not _NAME.fullmatch(name):
        hint = "Begin with a letter; use letters, digits, '.', '-' and '_'."
        fields.wrong(node, "name", f"'{name[:80]}' is no name of a policy", hint)
    whole, attempt = _seconds(fields, "schedule_to_close"), _seconds(fields, "start_to_close")
    if 0 < whole < attempt:
        reason = "one attempt may take longer than all of them together"
        fields.wrong(fields.get("start_to_close"), "wrong_value", reason, "Make it at most schedule_to_close.")
    retry = _retry(fields, file, report)
    if len(report.problems) > before or retry is None:
        return None
    return Policy(name=name, schedule_to_close_seconds=whole, start_to_close_seconds=attempt, retry=retry)


def _retry(policy: Fields, file: str, report: Report) -> Retry | None:
    node = policy.get("retry")
    if node is None:
        policy.wrong(None, "missing", "it has no 'retry'", "Say how often work is tried; once: maximum_attempts: 1.")
        return None
    fields = Fields(node, "policy_retry", file, report, _RETRY)
    attempts = _attempts(fields)
    initial, longest = _seconds(fields, "initial_interval"), _seconds(fields, "maximum_interval")
    if 0 < longest < initial:
        reason = "it is shorter than the first interval"
        fields.wrong(fields.get("maximum_interval"), "wrong_value", reason, "Make it at least initial_interval.")
    return Retry(
        maximum_attempts=attempts,
        initial_interval_seconds=initial,
        maximum_interval_seconds=longest,
        backoff_coefficient=_coefficient(fields),
        non_retryable_error_types=fields.texts("non_retryable_error_types"),
    )


def _attempts(fields: Fields) -> int:
    _required(fields, "maximum_attempts")
    node = fields.get("maximum_attempts")
    if node is None:
        return 1
    if isinstance(node.value, int) and not isinstance(node.value, bool) and 1 <= node.value <= MAX_ATTEMPTS:
        return node.value
    fields.wrong(node, "wrong_value", "expected a whole number of at least 1", "It counts the first attempt too.")
    return 1


def _coefficient(fields: Fields) -> float:
    _required(fields, "backoff_coefficient")
    node = fields.get("backoff_coefficient")
    if node is None:
        return 1.0
    if isinstance(node.value, int | float) and not isinstance(node.value, bool) and 1 <= node.value <= MAX_SECONDS:
        return float(node.value)
    fields.wrong(node, "wrong_value", "expected a number of at least 1.0", "1.0 keeps the interval, 2.0 doubles it.")
    return 1.0


def _seconds(fields: Fields, key: str) -> float:
    """Seconds as a number, or a duration; 0 where there is none, which is told."""
    _required(fields, key)
    node = fields.get(key)
    if node is None:
        return 0.0
    found: object = node.value
    if isinstance(found, str):
        try:
            found = parse_duration(found)
        except DurationError as error:
            fields.wrong(node, "duration", f"'{error.id}' is refused: {error.fact}", error.hint)
            return 0.0
    if isinstance(found, int | float) and not isinstance(found, bool) and 0 < found <= MAX_SECONDS:
        return float(found)
    fields.wrong(node, "wrong_value", "expected seconds above 0, or a duration", "Write e.g. 60, 0.5 or PT1M.")
    return 0.0


def _required(fields: Fields, key: str) -> None:
    if fields.get(key) is None:
        fields.wrong(None, "missing", f"it has no '{key}'", f"Write {key}.")

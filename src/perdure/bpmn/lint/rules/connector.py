"""A task talks to the outside without a verb.

Connectors, HTTP calls and database access from a process are work without a frame: no idempotency key, no typed
payload, no journal. Call a verb that does it.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index
from perdure.bpmn.lint.model_queries import all_attributes, all_extensions

CODE = "HOL008"
NAME = "connector"
SEVERITIES = Severities("error")


_WORDS = ("http", "https", "rest", "graphql", "jdbc", "sql", "database", "smtp", "soap", "connector", "webhook")
_PREFIXES = ("io.camunda:", "io.camunda.connector", "http:", "https:", "jdbc:")
_EXTENSIONS = frozenset(("camunda:connector", "camunda:class", "camunda:delegateExpression", "zeebe:inbound"))


def check(index: Index) -> Iterator[Note]:
    for node, verb in index.calls():
        if verb.lower().startswith(_PREFIXES) or (_is_one_word(verb) and verb.lower() in _WORDS):
            yield Note(node.id, f"its type '{verb}' is a connector, not a verb", "Call a verb that does this.")
    for element, extension in all_extensions(index):
        if extension.name in _EXTENSIONS:
            yield Note(element, f"it has a connector ({extension.name})", "Call a verb that does this.")
    for element, name, value in all_attributes(index):
        if name == "zeebe:modelerTemplate" and "connector" in value.lower():
            yield Note(element, f"it is made from a connector template ({value[:80]})", "Call a verb that does this.")


def _is_one_word(verb: str) -> bool:
    return "." not in verb

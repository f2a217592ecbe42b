"""Steps in a person's words, before the values that their references bring are known."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from perdure.runbooks.language.program import Ref
from perdure.runbooks.language.step_lowering import Unknown
from perdure.runbooks.plan import All, Condition, Either, Not, Path, Test
from perdure.verbs import Verb


def step_sentence(verb: Verb, args: Mapping[str, Any]) -> str:
    """The verb's sentence; a reference is shown as the field it takes or as the result it is."""
    return verb.sentence({name: _shown(value) for name, value in args.items()})


def _shown(value: Any) -> Any:
    match value:
        case Ref(step=step, path=path):
            field = next((key for key in reversed(path) if isinstance(key, str)), None)
            return f"the result of {step}" if field is None else field.replace("_", " ").replace("-", " ")
        case Unknown():
            return None
        case dict():
            return {key: _shown(item) for key, item in value.items()}
        case list():
            return [_shown(item) for item in value]
        case _:
            return value


def condition_sentence(condition: Condition) -> str:
    return f"Choose by whether {condition_text(condition)}"


def condition_text(condition: Condition, is_inner: bool = False) -> str:
    """A condition as the LET form writes it."""
    match condition:
        case Test(step=step, path=path, operator=None):
            return f"{step}{path_text(path)}"
        case Test(step=step, path=path, operator=operator, value=value):
            return f"{step}{path_text(path)} {operator} {as_json(value)}"
        case Not(of=part):
            return f"not {condition_text(part, True)}"
        case All(of=parts):
            text = " and ".join(condition_text(part, True) for part in parts)
        case Either(of=parts):
            text = " or ".join(condition_text(part, True) for part in parts)
    return f"({text})" if is_inner else text


def path_text(path: Path) -> str:
    return "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in path)


def as_json(value: Any) -> str:
    """The value as a program writes it; text that is no Unicode can be said too, and what is unknown is null."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=lambda _: None)

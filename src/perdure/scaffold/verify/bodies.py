"""Bodies of tasks, found in the code without running it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import msgspec

from perdure.bpmn.contract import Contract
from perdure.scaffold.project import Lock, Target
from perdure.scaffold.verify.findings import Mismatch


class FoundBody(msgspec.Struct, frozen=True):
    type: str
    path: str
    line: int
    is_missing: bool
    """Whether it is still what the scaffold left."""


def check_bodies(folder: Path, lock: Lock, writer: Target, contract: Contract) -> Iterator[Mismatch]:
    """Every task type has one body, every body belongs to a task of some version."""
    found = {each.type: each for each in bodies(folder, lock, writer)}
    for type in lock.functions:
        path = writer.body_path(lock, type)
        body = found.get(type)
        if body is None:
            hint = f"Write it in {path}, or scaffold again to get its stub."
            yield Mismatch(code="AME070", path=path, fact=f"the task type '{type}' has no body", hint=hint)
        elif body.is_missing:
            hint = "Replace the NotImplementedError."
            yield Mismatch(
                code="AME070", path=body.path, line=body.line, fact=f"the body of '{type}' is not written", hint=hint
            )
    for body in found.values():
        if body.type not in lock.functions:
            fact = f"the body of '{body.type}' belongs to no task"
            yield Mismatch(
                code="AME072", path=body.path, line=body.line, fact=fact, hint="Remove it, or draw its task."
            )


def check_checks(folder: Path, lock: Lock, writer: Target, contract: Contract) -> Iterator[Mismatch]:
    """Every user task has a function that judges its answers."""
    for check in writer.checks(lock, contract):
        tree = _tree(folder / check.path) if (folder / check.path).is_file() else ast.Module(body=[], type_ignores=[])
        found = [each for each in tree.body if isinstance(each, ast.FunctionDef) and each.name == check.function]
        if not found:
            fact = f"the user task '{check.node}' has no check: {check.function} is missing"
            yield Mismatch(code="AME070", path=check.path, fact=fact, hint="Write it: raise ValueError to refuse.")
        elif _is_stub(found[0]):
            fact = f"the check of the user task '{check.node}' is not written"
            hint = "Replace the NotImplementedError."
            yield Mismatch(code="AME070", path=check.path, line=found[0].lineno, fact=fact, hint=hint)


def bodies(folder: Path, lock: Lock, writer: Target) -> Iterator[FoundBody]:
    """Every function that declares itself an activity outside the folder of the tool."""
    generated = folder / writer.generated_folder(lock)
    for file in sorted(generated.parent.rglob("*.py")):
        if generated in file.parents:
            continue
        path = file.relative_to(folder).as_posix()
        for node in ast.walk(_tree(file)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                for decorator in node.decorator_list:
                    type = _activity(decorator, node.name)
                    if type:
                        yield FoundBody(type, path, node.lineno, _is_stub(node))


def _tree(file: Path) -> ast.Module:
    try:
        return ast.parse(file.read_bytes(), str(file))
    except SyntaxError:
        return ast.Module(body=[], type_ignores=[])


def _activity(decorator: ast.expr, name: str) -> str:
    """The type a decorator `activity.defn` declares; empty for another decorator."""
    call = decorator if isinstance(decorator, ast.Call) else None
    called = call.func if call is not None else decorator
    if not (isinstance(called, ast.Attribute) and called.attr == "defn" and _is_named(called.value, "activity")):
        return ""
    for keyword in call.keywords if call is not None else []:
        if keyword.arg == "name" and isinstance(keyword.value, ast.Constant):
            return str(keyword.value.value)
    return name


def _is_named(node: ast.expr, name: str) -> bool:
    return (isinstance(node, ast.Name) and node.id == name) or (isinstance(node, ast.Attribute) and node.attr == name)


def _is_stub(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    statements = [
        each for each in node.body if not (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant))
    ]
    if len(statements) != 1 or not isinstance(statements[0], ast.Raise) or statements[0].exc is None:
        return False
    raised = statements[0].exc
    name = raised.func if isinstance(raised, ast.Call) else raised
    return _is_named(name, "NotImplementedError")

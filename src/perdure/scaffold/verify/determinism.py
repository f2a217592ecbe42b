"""Workflow code that would not do the same again: found in its syntax, never by running it.

Workflow code is what people own and the workflow imports: the checks of user tasks, and what those import from the
project, bodies of tasks excepted.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from perdure.scaffold.verify.findings import Mismatch

_MODULES = {
    "random": "chance", "secrets": "chance", "threading": "threads", "multiprocessing": "threads",
    "concurrent.futures": "threads", "subprocess": "another process", "socket": "the network",
    "urllib.request": "the network", "http.client": "the network", "requests": "the network",
    "httpx": "the network", "aiohttp": "the network", "time": "a clock", "smtplib": "the network",
}  # fmt: skip
_NAMES = {
    "datetime.datetime.now": "a clock", "datetime.datetime.utcnow": "a clock", "datetime.datetime.today": "a clock",
    "datetime.date.today": "a clock", "uuid.uuid1": "chance", "uuid.uuid4": "chance", "os.urandom": "chance",
    "os.environ": "the environment", "os.getenv": "the environment", "open": "a file", "input": "a terminal",
    "asyncio.to_thread": "threads",
}  # fmt: skip
_HINT = "Do it in the body of a task; workflow code has workflow.now(), workflow.random() and workflow.uuid4()."


def check_determinism(folder: Path, package: Path, entries: list[Path]) -> Iterator[Mismatch]:
    """What the entries, and modules of the package they import, do that a replay would not do again."""
    waiting, seen = [each for each in entries if each.is_file()], set[Path]()
    while waiting:
        file = waiting.pop()
        if file in seen:
            continue
        seen.add(file)
        path = file.relative_to(folder).as_posix()
        try:
            tree = ast.parse(file.read_bytes(), str(file))
        except SyntaxError as error:
            fact = f"it is not Python: {error.msg}"
            yield Mismatch(code="AME073", path=path, line=error.lineno or 0, fact=fact)
            continue
        for line, what, name in _reads(tree):
            yield Mismatch(code="AME073", path=path, line=line, fact=f"workflow code reads {what}: {name}", hint=_HINT)
        waiting += _imported(tree, package)


def _reads(tree: ast.Module) -> Iterator[tuple[int, str, str]]:
    names = _imported_names(tree)
    for node in ast.walk(tree):
        if not isinstance(node, ast.Name | ast.Attribute) or not isinstance(node.ctx, ast.Load):
            continue
        full = _dotted(node, names)
        if full in _NAMES:
            yield node.lineno, _NAMES[full], full
        elif full.rpartition(".")[0] in _MODULES:
            yield node.lineno, _MODULES[full.rpartition(".")[0]], full


def _imported_names(tree: ast.Module) -> dict[str, str]:
    """What each name of the module stands for."""
    found = {"open": "open", "input": "input"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for each in node.names:
                found[each.asname or each.name.split(".")[0]] = each.name if each.asname else each.name.split(".")[0]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for each in node.names:
                found[each.asname or each.name] = f"{node.module}.{each.name}"
    return found


def _dotted(node: ast.expr, names: dict[str, str]) -> str:
    if isinstance(node, ast.Name):
        return names.get(node.id, "")
    if isinstance(node, ast.Attribute):
        inner = _dotted(node.value, names)
        return f"{inner}.{node.attr}" if inner else ""
    return ""


def _imported(tree: ast.Module, package: Path) -> list[Path]:
    """Files of the package that a module imports, neither generated nor bodies of tasks."""
    found: list[Path] = []
    for node in ast.walk(tree):
        modules = [each.name for each in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            module = ".".join([package.name, node.module or ""]).rstrip(".") if node.level else node.module or ""
            modules = [module, *(f"{module}.{each.name}" for each in node.names)]
        for each in modules:
            parts = each.split(".")
            if parts[0] == package.name and parts[1:2] not in (["generated"], ["activities"]):
                place = package.joinpath(*parts[1:])
                found += [file for file in (place.with_suffix(".py"), place / "__init__.py") if file.is_file()]
    return found

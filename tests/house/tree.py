"""The repository as the house tests read it: tracked files, parsed modules, names and literals."""

from __future__ import annotations

import ast
import functools
import gc
import subprocess
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PACKAGE = ROOT / "src" / "perdure"
SKIPPED_FOLDERS = {".git", ".venv", "build", "dist", "__pycache__", ".hypothesis", "node_modules"}


@functools.cache
def tracked_files() -> tuple[Path, ...]:
    """Every file that belongs to the project, also where there is no git."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode == 0:
        paths = [ROOT / name for name in listed.stdout.split("\0") if name]
    else:
        paths = [path for path in ROOT.rglob("*") if not SKIPPED_FOLDERS & set(path.relative_to(ROOT).parts)]
    return tuple(sorted(path for path in paths if path.is_file()))


def python_files(*folders: str) -> list[Path]:
    """The project's Python files below any of the folders."""
    roots = [ROOT / folder for folder in folders]
    return [path for path in tracked_files() if path.suffix == ".py" and any(root in path.parents for root in roots)]


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@functools.cache
def parse(path: Path) -> ast.Module:
    text = path.read_text(encoding="utf-8")
    try:
        return ast.parse(text, name_of(path))
    except SystemError:
        # A collection of garbage in the middle of it can confuse CPython's count of its own depth; it does not twice.
        gc.collect()
        return ast.parse(text, name_of(path))


@functools.cache
def nodes(tree: ast.Module) -> tuple[ast.AST, ...]:
    """Every node of a parsed module: several checks look through all of them."""
    return tuple(ast.walk(tree))


def text_literals(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Line and text of every string literal that is not a docstring."""
    docstrings = {id(node.value) for node in nodes(tree) if isinstance(node, ast.Expr)}
    for node in nodes(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.lineno, node.value


def imported_names(tree: ast.Module) -> dict[str, str]:
    """What each imported local name stands for: `from time import time as now` gives {'now': 'time.time'}."""
    names: dict[str, str] = {}
    for node in nodes(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                first = alias.name.partition(".")[0]
                names[alias.asname or first] = alias.name if alias.asname else first
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            for alias in node.names:
                names[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return names


def used_names(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Line and full dotted name of every use of something imported."""
    imported = imported_names(tree)
    for node in nodes(tree):
        if isinstance(node, (ast.Attribute, ast.Name)):
            first, *rest = _dotted(node)
            if first in imported:
                yield node.lineno, ".".join([imported[first], *rest])


def _dotted(node: ast.expr) -> list[str]:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return [node.id, *reversed(parts)] if isinstance(node, ast.Name) else [""]

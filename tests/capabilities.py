"""Writes docs/reference/capabilities.md from the tests' `req` markers: `python -m tests.capabilities`."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from tests.requirements import REQUIREMENTS

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "reference" / "capabilities.md"
FOLDERS = ("tests", "src/perdure/testing")
STORES = {
    "store_url": ("SQLite", "Postgres"),
    "sqlite_url": ("SQLite",),
    "postgres_url": ("Postgres",),
    "postgres_server": ("Postgres",),
}

INTRODUCTION = """\
# What is proved

One line for each thing you may rely on, and the tests that would fail if it were not so. This page is written by
`make capabilities` from the marks on the tests, and the test suite fails when it is out of date.
A test without a store touches none; a deep one runs with `make test-deep`, all others with `make test`.

"""

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


class Proof(NamedTuple):
    """One test that proves something, the stores it runs on, and whether only a deep run takes it."""

    file: str
    test: str
    stores: tuple[str, ...]
    is_deep: bool = False


def collect() -> dict[str, list[Proof]]:
    """The proofs of each requirement, read from the tests' text without running any."""
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in _files()}
    fixtures = _fixtures(trees.values())
    proofs: dict[str, list[Proof]] = {}
    for path, tree in trees.items():
        for name, function, marks in _marked(tree.body, _marks_of_module(tree), ""):
            stores = _stores(_arguments(function), fixtures)
            proof = Proof(path.relative_to(ROOT).as_posix(), name, stores, _is_deep(marks))
            for id in dict.fromkeys(_ids(marks)):
                proofs.setdefault(id, []).append(proof)
    return proofs


def render(proofs: dict[str, list[Proof]]) -> str:
    """The page."""
    lines = ["| id | you can rely on | tests | stores |", "|---|---|---|---|"]
    lines += [_row(id, text, proofs.get(id, [])) for id, text in REQUIREMENTS.items()]
    for id in REQUIREMENTS:
        lines += ["", f"## {id}", "", REQUIREMENTS[id], ""]
        lines += [_item(proof) for proof in sorted(proofs.get(id, []))] or ["Not proved yet."]
    return INTRODUCTION + "\n".join(lines) + "\n"


def _row(id: str, text: str, proofs: list[Proof]) -> str:
    stores = [store for store in ("SQLite", "Postgres") if any(store in proof.stores for proof in proofs)]
    return f"| [{id}](#{id.lower()}) | {text} | {len(proofs) or 'none yet'} | {', '.join(stores) or '—'} |"


def _item(proof: Proof) -> str:
    stores = f" on {' and '.join(proof.stores)}" if proof.stores else ""
    deep = ", deep" if proof.is_deep else ""
    return f"- {proof.test.removeprefix('test_').replace('_', ' ')}{stores} (`{proof.file}`{deep})"


def _files() -> list[Path]:
    return sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))


def _marked(
    body: list[ast.stmt], outer: list[ast.expr], prefix: str
) -> Iterator[tuple[str, FunctionNode, list[ast.expr]]]:
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield from _marked(node.body, [*outer, *node.decorator_list], f"{prefix}{node.name}: ")
        elif isinstance(node, FunctionNode) and node.name.startswith("test_"):
            yield f"{prefix}{node.name.removeprefix('test_')}", node, [*outer, *node.decorator_list]


def _marks_of_module(tree: ast.Module) -> list[ast.expr]:
    assigned = [node for node in tree.body if isinstance(node, ast.Assign)]
    marks = [node.value for node in assigned if any(ast.unparse(name) == "pytestmark" for name in node.targets)]
    return [mark for value in marks for mark in (value.elts if isinstance(value, ast.List) else [value])]


def _ids(marks: list[ast.expr]) -> tuple[str, ...]:
    calls = [mark for mark in marks if isinstance(mark, ast.Call) and ast.unparse(mark.func).endswith("mark.req")]
    return tuple(str(ast.literal_eval(argument)) for call in calls for argument in call.args)


def _is_deep(marks: list[ast.expr]) -> bool:
    return any(ast.unparse(mark).endswith("mark.deep") for mark in marks)


def _arguments(function: FunctionNode) -> set[str]:
    declared = function.args
    named = {argument.arg for argument in (*declared.posonlyargs, *declared.args, *declared.kwonlyargs)}
    used = [mark for mark in function.decorator_list if isinstance(mark, ast.Call)]
    used = [mark for mark in used if ast.unparse(mark.func).endswith("mark.usefixtures")]
    return named | {str(ast.literal_eval(argument)) for mark in used for argument in mark.args}


def _fixtures(trees: Iterable[ast.Module]) -> dict[str, set[str]]:
    """What each fixture asks for, by name; fixtures of one name in several files count together."""
    found: dict[str, set[str]] = {}
    for tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, FunctionNode) and any("fixture" in ast.unparse(mark) for mark in node.decorator_list):
                found.setdefault(node.name, set()).update(_arguments(node))
    return found


def _stores(asked: set[str], fixtures: dict[str, set[str]]) -> tuple[str, ...]:
    waiting, seen, stores = list(asked), set(asked), set()
    while waiting:
        name = waiting.pop()
        if name in STORES:
            stores.update(STORES[name])
            continue
        new = fixtures.get(name, set()) - seen
        seen |= new
        waiting += new
    return tuple(store for store in ("SQLite", "Postgres") if store in stores)


if __name__ == "__main__":
    page = render(collect())
    if "--check" in sys.argv:
        sys.exit(0 if PAGE.read_text(encoding="utf-8") == page else f"{PAGE.name} is out of date: make capabilities")
    PAGE.write_text(page, encoding="utf-8")

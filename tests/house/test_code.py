"""What the code may not do: reach upward, hold SQL, read a clock, draw chance, run text, grow without end."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.house.tree import PACKAGE, ROOT, name_of, nodes, parse, python_files, text_literals, used_names

SQL = re.compile(
    r"^\s*(SELECT\b.*\bFROM\b|SELECT\s+[\w(]|INSERT\s+(OR\s+\w+\s+)?INTO\b|UPDATE\s+\S+\s+SET\b|DELETE\s+FROM\b"
    r"|(CREATE|DROP|ALTER)\s+(TEMP\s+|UNIQUE\s+)?(TABLE|INDEX|DATABASE|VIEW|TRIGGER|SCHEMA)\b"
    r"|WITH\s+\w+(\s*\([^)]*\))?\s+AS\s*\(|PRAGMA\s+\w+|BEGIN\s+(IMMEDIATE|EXCLUSIVE|DEFERRED)\b"
    r"|(LISTEN|NOTIFY)\s+\w+\s*$"
    r"|select\s.+\sfrom\s+\w+\s*($|where|order|limit|group|join|as\b)|insert\s+into\s+\w+\s*(\(|values|select)"
    r"|update\s+\w+\s+set\s+\w+\s*=|delete\s+from\s+\w+\s*($|where))",
    re.DOTALL,
)
SQL_ROOMS = ("src/perdure/store/", "src/perdure/testing/postgres_service.py")

CLOCK_AND_CHANCE = re.compile(
    r"^(time\.(time|monotonic|perf_counter|process_time|clock_gettime)(_ns)?"
    r"|datetime\.(datetime|date)\.(now|utcnow|today)"
    r"|uuid\.(uuid\d|getnode)|random(\..*)?|secrets(\..*)?|os\.(urandom|getrandom))$"
)
CLOCK_ROOMS = ("src/perdure/sources.py", "src/perdure/testing/", "src/perdure/bench/", "src/perdure/bench.py")

DANGEROUS_NAME = re.compile(
    r"^((c?[Pp]ickle|marshal|shelve|dill|cloudpickle)(\..*)?"
    r"|yaml\.(load|load_all|unsafe_load|unsafe_load_all|full_load|full_load_all|Loader|UnsafeLoader|FullLoader)"
    r"|os\.(system|popen)|subprocess\.(getoutput|getstatusoutput))$"
)
DANGEROUS_WORD = re.compile(
    r"\b(eval|exec|shell|c?[Pp]ickle|marshal|shelve|dill|cloudpickle|yaml|system|popen|getoutput|getstatusoutput)\b"
)
"""One of these stands in every file that has a danger; the others need not be parsed."""
TYPED_READING = (
    "src/perdure/typed_reading.py",
    "src/perdure/scaffold/templates/",
    "src/perdure/bpmn/machine/upcasters.py",
    "src/perdure/payload/incremental_codec.py",
)
"""These learn their types before."""
OWN_TYPE = re.compile(r"^(str|int|float|None|dict|tuple|list)\b")
LINES_WORTH_A_LOOK = 600
LINES_AT_MOST = 800


def test_every_floor_imports_only_floors_below() -> None:
    linter = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([linter, "--no-logo", "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_no_sql_stands_outside_the_store() -> None:
    found = [
        f"{name_of(path)}:{line}: {text.strip()[:60]}"
        for path in python_files("src")
        if not name_of(path).startswith(SQL_ROOMS)
        for line, text in text_literals(parse(path))
        if SQL.search(text)
    ]
    assert not found, "SQL belongs in src/perdure/store:\n" + "\n".join(found)


def test_no_clock_and_no_chance_outside_sources() -> None:
    found = [
        f"{name_of(path)}:{line}: {name}"
        for path in python_files("src")
        if not name_of(path).startswith(CLOCK_ROOMS)
        for line, name in used_names(parse(path))
        if CLOCK_AND_CHANCE.match(name)
    ]
    assert not found, "Clock, ids and chance come from perdure.sources:\n" + "\n".join(found)


def test_types_are_learned_when_a_module_is_imported_or_one_at_a_time() -> None:
    """Two threads in which msgspec meets a type for the first time end the program."""
    found = [
        f"{name_of(path)}:{call.lineno}"
        for path in python_files("src")
        if not name_of(path).startswith(TYPED_READING) and "msgspec" in path.read_text(encoding="utf-8")
        for call in nodes(parse(path))
        if isinstance(call, ast.Call) and _learns(call)
    ]
    assert not found, "typed reading outside an import goes by perdure.typed_reading:\n" + "\n".join(found)


def _learns(call: ast.Call) -> bool:
    """Whether a call reads into a type of ours: those of Python's own are learned anew at each use."""
    called = ast.unparse(call.func)
    kinds = [each.value for each in call.keywords if each.arg == "type"]
    if called == "msgspec.convert":
        kinds += call.args[1:2]
    elif called not in {"msgspec.json.decode", "msgspec.msgpack.decode"}:
        return False
    return any(not OWN_TYPE.match(ast.unparse(kind)) for kind in kinds)


def test_nothing_runs_text_or_revives_objects() -> None:
    found = [
        f"{name_of(path)}:{line}: {what}"
        for path in python_files("src", "tests", "bench")
        if DANGEROUS_WORD.search(unicodedata.normalize("NFKC", path.read_text(encoding="utf-8")))
        for line, what in dangers(parse(path))
    ]
    assert not found, "None of these is safe on input from outside:\n" + "\n".join(found)


def dangers(tree: ast.Module) -> Iterator[tuple[int, str]]:
    for line, name in used_names(tree):
        if DANGEROUS_NAME.match(name):
            yield line, name
    for node in nodes(tree):
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Name) and node.func.id in ("eval", "exec"):
                yield node.lineno, node.func.id
            if any(_is_true(keyword, "shell") for keyword in node.keywords):
                yield node.lineno, "shell=True"


def _is_true(keyword: ast.keyword, name: str) -> bool:
    return keyword.arg == name and not (isinstance(keyword.value, ast.Constant) and keyword.value.value is False)


def test_no_data_is_used_as_a_format_string() -> None:
    found = [
        f"{name_of(path)}:{node.lineno}: .{node.func.attr}(…)"
        for path in python_files("src")
        if not name_of(path).startswith(SQL_ROOMS)
        for node in nodes(parse(path))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        if node.func.attr in ("format", "format_map") and not isinstance(node.func.value, ast.Constant)
    ]
    assert not found, "Substitute declared names only; str.format reaches attributes:\n" + "\n".join(found)


def test_no_file_grows_past_reading(capsys: pytest.CaptureFixture[str]) -> None:
    sizes = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in python_files("src", "tests", "bench")}
    long = {name_of(path): size for path, size in sizes.items() if size > LINES_WORTH_A_LOOK}
    with capsys.disabled():
        for name, size in sorted(long.items()):
            print(f"\nworth a second look: {name} has {size} lines")
    too_long = {name: size for name, size in long.items() if size > LINES_AT_MOST}
    assert not too_long


def test_every_module_opens_by_saying_what_lives_there() -> None:
    silent = [name_of(path) for path in python_files("src", "tests", "bench") if not ast.get_docstring(parse(path))]
    assert not [name for name in silent if (ROOT / name).read_text(encoding="utf-8").strip()]


def test_no_name_says_manager_or_helper() -> None:
    vague = re.compile(r"(Manager|Helper|Utils?)$|^(Base|Abstract)[A-Z]")
    found = [
        f"{name_of(path)}:{node.lineno}: {node.name}"
        for path in python_files("src")
        for node in nodes(parse(path))
        if isinstance(node, ast.ClassDef) and vague.search(node.name)
    ]
    assert not found, "\n".join(found)


def test_no_room_has_a_name_that_means_nothing() -> None:
    vague = {"core", "utils", "util", "common", "models", "helpers", "misc"}
    found = [
        name_of(path) for path in python_files("src") if vague & {*path.relative_to(PACKAGE).parts[:-1], path.stem}
    ]
    assert not found


@pytest.mark.parametrize(
    "text",
    [
        "SELECT 1",
        "select a from b",
        "INSERT INTO t VALUES (1)",
        "UPDATE t SET a = 1",
        "DELETE FROM t",
        "PRAGMA x",
        "delete from t",
    ],
)
def test_sql_is_recognised(text: str) -> None:
    assert SQL.search(text)


@pytest.mark.parametrize(
    "text", ["Select a verb", "Update the definition", "Begin the project", "select a verb from the list"]
)
def test_english_is_not_taken_for_sql(text: str) -> None:
    assert not SQL.search(text)


@pytest.mark.parametrize(
    "code",
    [
        "import time\ntime.time()",
        "from time import monotonic as now\nnow()",
        "from datetime import datetime\ndatetime.now()",
        "import datetime\ndatetime.date.today()",
        "import uuid\nuuid.uuid4()",
        "from random import choice\nchoice([])",
        "from os import urandom\nurandom(1)",
    ],
)
def test_clocks_and_chance_are_recognised(code: str) -> None:
    assert any(CLOCK_AND_CHANCE.match(name) for _, name in used_names(ast.parse(code)))


@pytest.mark.parametrize("code", ["eval('1')", "import pickle\npickle.loads(b'')", "run('x', shell=True)"])
def test_dangers_are_recognised(code: str) -> None:
    assert list(dangers(ast.parse(code)))

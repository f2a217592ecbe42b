"""A fresh project for every test, on either store; a database begins empty, as users have it."""

from __future__ import annotations

import shutil
import textwrap
from pathlib import Path

import pytest

from tests.acceptance.commands import Shell
from tests.on_disk import postgres_template, store_folder

__all__ = ["postgres_template", "store_folder"]

DEFINITIONS = """
- name: desk.fail
  description: Always refuse
  execution: {kind: sync, effects: none}
- name: desk.stuck
  description: Break its word until somebody mends it
  output_schema: {required: [mended], properties: {mended: {type: boolean}}}
  execution: {kind: sync, effects: external}
- name: desk.wait
  description: Wait once
  input_schema: {properties: {who: {type: string}, number: {type: integer}}}
  index: [who]
  execution: {kind: durable, policy: {timeout: P1D}}
"""
HANDLERS = '''
"""Handlers that go wrong."""

from pathlib import Path

from perdure import BusinessError, verb


@verb("desk.fail")
def fail(call):
    raise BusinessError("desk.refused", "the desk is closed")


@verb("desk.stuck")
def stuck(call):
    return {"mended": True} if Path("mended").exists() else {}
'''


@pytest.fixture(scope="session")
def begun_project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `perdure init` makes, made once and copied for every test."""
    shell = Shell(tmp_path_factory.mktemp("begun"))
    shell.run("init")
    return shell.folder


@pytest.fixture
def project(tmp_path: Path, begun_project: Path) -> Shell:
    """What `perdure init` makes, and three verbs that go wrong or wait."""
    return make_project(tmp_path, begun_project)


@pytest.fixture
def project_on_store(tmp_path: Path, begun_project: Path, store_url: str) -> Shell:
    """The same project, once on each kind of store."""
    shell = make_project(tmp_path, begun_project)
    shell.environment["PERDURE_STORE"] = store_url
    return shell


def make_project(folder: Path, begun: Path) -> Shell:
    shell = Shell(folder / "project")
    shutil.copytree(begun, shell.folder)
    (shell.folder / "definitions" / "desk.yaml").write_text(DEFINITIONS)
    (shell.folder / "handlers" / "desk.py").write_text(textwrap.dedent(HANDLERS))
    return shell

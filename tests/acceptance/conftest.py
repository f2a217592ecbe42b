"""A fresh project for every test, on either store."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from tests.acceptance.commands import Shell

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


@pytest.fixture
def project(tmp_path: Path) -> Shell:
    """What `perdure init` makes, and three verbs that go wrong or wait."""
    return make_project(tmp_path)


@pytest.fixture
def project_on_store(tmp_path: Path, store_url: str) -> Shell:
    """The same project, once on each kind of store."""
    shell = make_project(tmp_path)
    shell.environment["PERDURE_STORE"] = store_url
    return shell


def make_project(folder: Path) -> Shell:
    shell = Shell(folder / "project")
    shell.folder.mkdir()
    shell.run("init")
    (shell.folder / "definitions" / "desk.yaml").write_text(DEFINITIONS)
    (shell.folder / "handlers" / "desk.py").write_text(textwrap.dedent(HANDLERS))
    return shell

"""The tests of a new project: red, each naming the body that is missing. People own them."""

from __future__ import annotations

from perdure.scaffold.python_source import imported, quoted


def body_test(package: str, type: str, function: str, request: str, result: str) -> str:
    """A test that fails until the activity has a body."""
    records = "\n".join(imported(f"{package}.generated.data", sorted({request, result} - {"None"})))
    verb = "assert found is None" if result == "None" else f"assert isinstance(found, {result})"
    return f'''"""{type}: its body. Yours: the scaffold never writes it again."""

from __future__ import annotations

import asyncio

from temporalio.testing import ActivityEnvironment

from {package}.activities.{function} import {function}
{records}
from {package}.generated.runtime import Step


def test_{function}_has_a_body() -> None:
    step = Step(step_id="step", step_instance_id="step/1", idempotency_key="instance/step/step/1")
    request = {request}()
    found = asyncio.run(ActivityEnvironment().run({function}, request, step))
    {verb}
'''


def gate_test(package: str, gates: list[tuple[str, str]]) -> str:
    """Tests that fail until somebody says which answers are taken."""
    records = sorted({answer for _, answer in gates} | {"State"})
    line = "\n".join(imported(f"{package}.generated.data", records))
    text = f'''"""Which answers user tasks take. Yours: the scaffold never writes it again."""

from __future__ import annotations

from {package} import gates
{line}
'''
    for name, answer in gates:
        text += f"""

def test_{name}_takes_an_approval() -> None:
    gates.check_{name}(State(), {answer}(decision={quoted("approved")}))
"""
    return text


def test_settings(package: str) -> str:
    """What tests of whole instances begin with: a client, if a server is named."""
    return f'''"""A client for tests of whole instances; TEMPORAL_ADDRESS names the server. Yours."""

from __future__ import annotations

import asyncio
import os

import pytest
from temporalio.client import Client

from {package}.generated.registry import prepare


@pytest.fixture
def address() -> str:
    """The address of a server that is ready for the process."""
    found = os.environ.get("TEMPORAL_ADDRESS", "")
    if not found:
        pytest.skip("TEMPORAL_ADDRESS names no server")

    async def make_ready() -> None:
        await prepare(await Client.connect(found))

    asyncio.run(make_ready())
    return found
'''

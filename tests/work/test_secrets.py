"""Secrets go into verbs by reference: a handler gets the text, the journal, the store and every answer never do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt
from typing_extensions import TypedDict

from perdure import BusinessError, DefinitionError, Perdure, agent
from perdure.app.configuration.project import load_config
from perdure.verbs import load_text
from perdure.work.secrets import BLOT, Secret

pytestmark = pytest.mark.req("P3")
TEXT = 'tok"en-é-4711'
VERBS = """
- name: crm.ask
  input_schema: {properties: {token: {type: string}}}
  consequence: benign
  execution: {kind: sync, effects: none}
- name: mail.send
  consequence: benign
  execution: {kind: sync, effects: none}
"""


class Quoting(TypedDict, total=False):
    """Of a graph that asks about what it was given."""

    text: str


def stored(url: str) -> bytes:
    return b"".join(each.read_bytes() for each in Path(url.removeprefix("sqlite:///")).parent.iterdir())


async def asked(url: str, handler: Any, verb: str = "crm.ask", **args: Any) -> Any:
    secrets = {"crm-token": Secret(env="CRM_TOKEN", verbs=("crm.*",))}
    async with Perdure.open(url, definitions=load_text(VERBS), handlers={verb: handler}, secrets=secrets) as perdure:
        return await perdure.call(verb, args)


async def told(url: str) -> str:
    """What the only incident says."""
    async with Perdure.open(url, definitions=load_text(VERBS), role="reader") as perdure:
        [incident] = (await perdure.listing.incidents()).items
    return str(incident.text)


@pytest.fixture(autouse=True)
def token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRM_TOKEN", TEXT)


async def test_a_reference_is_kept_and_the_text_is_not(sqlite_url: str) -> None:
    seen: list[str] = []

    async def handler(call: Any) -> dict[str, Any]:
        seen.extend([await call.resolve(call.args["token"]), call.secret("crm-token")])
        return {"status": 200}

    view = await asked(sqlite_url, handler, token="secret://crm-token")
    assert (view.state, view.args, seen) == ("completed", {"token": "secret://crm-token"}, [TEXT, TEXT])
    assert TEXT.encode() not in stored(sqlite_url)


async def test_a_result_with_the_text_is_not_kept(sqlite_url: str) -> None:
    stuck = await asked(sqlite_url, lambda call: {"echo": f"Bearer {call.secret('crm-token')}"})
    assert stuck.state == "parked"
    assert "holds a secret it was given" in await told(sqlite_url)
    assert b"4711" not in stored(sqlite_url)


async def test_a_failure_tells_without_the_text(sqlite_url: str) -> None:
    def handler(call: Any) -> Any:
        raise BusinessError("crm.refused", f"the token {call.secret('crm-token')} is not good")

    view = await asked(sqlite_url, handler)
    assert view.error is not None
    assert view.error.message == f"the token {BLOT} is not good"
    assert b"4711" not in stored(sqlite_url)


@pytest.mark.parametrize(("verb", "name", "says"), [
    ("mail.send", "crm-token", "it is not for 'mail.send'"), ("crm.ask", "crm-tokn", "Did you mean 'crm-token'"),
])  # fmt: skip
async def test_who_may_not_have_it_is_told_why(sqlite_url: str, verb: str, name: str, says: str) -> None:
    await asked(sqlite_url, lambda call: {"x": call.secret(name)}, verb)
    assert says in await told(sqlite_url)


def test_the_configuration_says_where_each_is(tmp_path: Path) -> None:
    path = tmp_path / "perdure.yaml"
    path.write_text("secrets: {a: {env: A, verbs: [crm.*]}, b: {file: keys/b}}\n")
    assert load_config(path).secrets == {"a": Secret("A", None, ("crm.*",)), "b": Secret("", tmp_path / "keys/b")}
    path.write_text("secrets: {a: {env: A, file: b}, c: {env: X, verbs: ['k*']}, d: {enw: Y}}\n")
    with pytest.raises(DefinitionError) as caught:
        load_config(path)
    assert len(caught.value.problems) >= 3


async def test_a_question_of_a_graph_that_quotes_a_secret_is_never_asked(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts: list[str] = []

    def prompt(call: Any) -> dict[str, Any]:
        texts.append(call.secret("crm-token"))
        return {"text": "hers"}

    async def ask(state: Quoting) -> Quoting:
        return {"text": interrupt(f"Is {texts[-1]} {state['text']}?")}

    made = StateGraph(Quoting)
    made.add_node("ask", ask)
    made.add_edge(START, "ask")
    made.add_edge("ask", END)
    asking = VERBS.replace("kind: sync, effects: none", "kind: sync, agent: {ask: compliance}", 1)
    monkeypatch.setattr("tests.work.test_secrets.VERBS", asking)
    view = await asked(sqlite_url, agent("crm.ask", made.compile(), prompt=prompt))
    assert view.state == "parked" and view.waiting_for.kind != "task" and TEXT not in repr(view)
    assert "holds a secret" in await told(sqlite_url)

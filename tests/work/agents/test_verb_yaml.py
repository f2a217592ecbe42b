"""`execution.agent` as it is written: read strictly, hashed only where it is written."""

from __future__ import annotations

import pytest

from perdure.agent_usage import ModelUse, Price, Spent, after, cost_of, money, priced
from perdure.errors import DefinitionError
from perdure.verbs import load_text
from perdure.verbs.agent_handlers import AgentContract, agent

WHOLE = """
name: a.b
execution:
  kind: sync
  agent:
    max_tokens: 20000
    max_cost: "0.50"
    max_requests: 7
    timeout: PT60S
    confidence: 0.8
    ask: compliance
    allow: [a.*, b.c]
    tier: benign
    prices: {big: {input: "1.25", output: "10"}}
"""


@pytest.mark.req("O13")
def test_every_key_of_an_agent_is_read() -> None:
    assert load_text(WHOLE).get("a.b").execution.agent == AgentContract(
        20_000, 500_000, 7, 60.0, 0.8, "compliance", ("a.*", "b.c"), "benign", {"big": Price(1_250_000, 10_000_000)}
    )
    assert load_text("{name: a.b}").get("a.b").execution.agent is None


@pytest.mark.req("O13")
def test_the_agents_part_is_hashed_where_it_is_written_and_only_there() -> None:
    plain = load_text("{name: a.b, execution: {kind: sync}}").get("a.b")
    assert "agent" not in plain.definition.content["execution"]
    assert load_text(WHOLE).get("a.b").content_hash != plain.content_hash


@pytest.mark.req("O13")
@pytest.mark.parametrize(
    ("written", "words"),
    [
        ("{max_cost: 0.5}", "binary fraction"),
        ('{max_cost: "lots"}', "not an amount"),
        ('{max_cost: "-1"}', "from 0 to"),
        ('{max_cost: "0.0000001"}', "more than six decimals"),
        ("{max_tokens: 0}", "max_tokens"),
        ("{confidence: 0.8}", "who is asked"),
        ("{confidence: 2, ask: x}", "from 0 to 1"),
        ("{timeout: 60}", "duration"),
        ("{tier: high}", "tier"),
        ("{tokens: 3}", "tokens"),
        ('{prices: {m: {input: "1"}}}', "output"),
    ],
)
def test_what_is_wrong_with_it_is_told(written: str, words: str) -> None:
    with pytest.raises(DefinitionError, match=words):
        load_text(f"{{name: a.b, execution: {{kind: sync, agent: {written}}}}}")


@pytest.mark.req("O13")
def test_a_durable_verb_has_no_agent() -> None:
    with pytest.raises(DefinitionError, match="belongs to a sync verb"):
        load_text("{name: a.b, execution: {kind: durable, agent: {}}}")


@pytest.mark.req("O4", "O13")
def test_costs_are_exact_and_unknown_ones_are_never_nothing() -> None:
    prices = {"m": Price(1_250_000, 10_000_000)}
    known = priced(ModelUse("m", 3, 1, 1), prices)
    assert known.cost == 14  # 13.75 millionths, rounded up
    unknown = priced(ModelUse("other", 3, 1, 1), prices)
    assert (unknown.cost, priced(ModelUse("m", requests=1, untold=1), prices).cost) == (None, None)
    assert (cost_of([known, known]), cost_of([known, unknown])) == (28, None)
    spent = after(after(None, (known,), 5), (unknown,), 7)
    assert spent == Spent(6, 2, 2, 14, 1, 12, 2)
    assert [money(each) for each in (0, 14, 500_000, 12_345_678)] == ["0.00", "0.000014", "0.50", "12.345678"]


@pytest.mark.req("O13")
def test_prices_beside_an_agent_are_exact_too() -> None:
    assert agent("a.b", object(), prices={"m": ("1.25", "10")}).prices == {"m": Price(1_250_000, 10_000_000)}
    with pytest.raises(ValueError, match="not an amount"):
        agent("a.b", object(), prices={"m": ("cheap", "10")})

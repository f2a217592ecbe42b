"""Findings as SARIF: what code hosts need to show them in place."""

from __future__ import annotations

from perdure.bpmn.lint.findings import Finding
from perdure.bpmn.lint.sarif import sarif

FOUND = [
    Finding(
        code="HOL001", severity="error", fact="it is a script task", hint="Call a verb.", element="total",
        line=7, column=5, file="models/my order.bpmn",
    ),
    Finding(code="HOL016", severity="info", fact="nothing waits", element="ask", file="models/order.bpmn"),
    Finding(code="BPM001", severity="error", fact="it is not XML", file="bad.bpmn", line=1, column=1),
]  # fmt: skip


def test_a_result_names_rule_level_text_and_place() -> None:
    (run,) = sarif(FOUND, "1.2.3")["runs"]
    result = run["results"][0]
    assert (result["ruleId"], result["level"]) == ("HOL001", "error")
    assert result["message"]["text"] == "'total': it is a script task. Call a verb."
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "models/my%20order.bpmn"
    assert place["region"] == {"startLine": 7, "startColumn": 5}
    assert run["tool"]["driver"]["version"] == "1.2.3"


def test_a_rule_index_points_at_its_rule() -> None:
    (run,) = sarif(FOUND)["runs"]
    rules = run["tool"]["driver"]["rules"]
    for result in run["results"][:2]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
    assert "ruleIndex" not in run["results"][2]
    assert [result["level"] for result in run["results"]] == ["error", "note", "error"]


def test_a_finding_without_a_place_has_no_region() -> None:
    (run,) = sarif(FOUND)["runs"]
    assert "region" not in run["results"][1]["locations"][0]["physicalLocation"]


def test_no_finding_is_a_run_without_results() -> None:
    told = sarif([])
    assert told["version"] == "2.1.0"
    assert told["runs"][0]["results"] == []

"""What operators import and read is true: dashboard, alerts, their pages and the page of metrics."""

from __future__ import annotations

import itertools
import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml

from perdure.surfaces.cli.application import application
from perdure.telemetry.metric_names import ABOUT
from perdure.telemetry.metrics import Metrics
from tests.telemetry.reference import PAGE, page

ROOT = Path(__file__).resolve().parents[2]
OPERATE = ROOT / "docs" / "operate"
METRIC = re.compile(r"\b(?:perdure|runbook|durable|notification)_[a-z_]+")
ALERTS: list[dict[str, Any]] = [
    rule for group in yaml.safe_load((OPERATE / "alerts.yaml").read_text("utf-8"))["groups"] for rule in group["rules"]
]
DASHBOARD = json.loads((OPERATE / "grafana-dashboard.json").read_text("utf-8"))
PANELS: list[dict[str, Any]] = [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]


def samples() -> set[str]:
    """Every name a query may use: of each metric all its samples."""
    registered = {metric.name: metric.type for metric in Metrics().registry.collect()}
    found: set[str] = set()
    for name, kind in registered.items():
        suffixes = {"counter": ["_total"], "histogram": ["_bucket", "_count", "_sum"], "gauge": [""]}[kind]
        found |= {f"{name}{suffix}" for suffix in suffixes}
    return found


def metric_of(sample: str) -> str:
    plain = re.sub(r"_(bucket|count|sum)$", "", sample)
    return plain if plain in ABOUT else sample


def queries(panel: dict[str, Any]) -> list[str]:
    return [target["expr"] for target in panel["targets"]]


@pytest.mark.req("X21")
def test_the_registry_holds_exactly_the_metrics_of_the_table() -> None:
    assert {metric_of(name) for name in samples()} == set(ABOUT)


def test_the_page_of_metrics_is_up_to_date() -> None:
    assert PAGE.read_text("utf-8") == page(), "run python -m tests.telemetry.reference"


@pytest.mark.parametrize("alert", ALERTS, ids=lambda alert: alert["alert"])
def test_an_alert_asks_for_metrics_that_exist_and_has_a_page(alert: dict[str, Any]) -> None:
    used = set(METRIC.findall(alert["expr"]))
    assert used and used <= samples()
    assert alert["labels"]["severity"] in ("info", "warning", "critical") and alert["annotations"]["summary"]
    text = (ROOT / alert["annotations"]["runbook"]).read_text("utf-8")
    assert f"`{alert['alert']}`" in text
    assert "\n## Look\n" in text and "\n## Do\n" in text and re.search(r"^perdure ", text, re.MULTILINE)


def test_every_page_of_an_alert_belongs_to_one_and_is_listed() -> None:
    pages = {f"docs/operate/alerts/{path.name}" for path in (OPERATE / "alerts").glob("*.md")}
    assert pages == {alert["annotations"]["runbook"] for alert in ALERTS}
    listed = (OPERATE / "telemetry.md").read_text("utf-8")
    assert all(f"`{alert['alert']}`" in listed for alert in ALERTS)


@pytest.mark.parametrize(
    "about",
    ["incidents_open", "dead_letters", "leases_lost", "jobs_waiting", "commit_seconds", "tasks_overdue",
     "webhook_deliveries", "notification_delivery_lag"],
)  # fmt: skip
def test_what_must_wake_somebody_has_an_alert(about: str) -> None:
    assert any(about in alert["expr"] for alert in ALERTS)


@pytest.mark.parametrize("panel", PANELS, ids=lambda panel: panel["title"])
def test_a_panel_shows_metrics_that_exist(panel: dict[str, Any]) -> None:
    for query in queries(panel):
        used = set(METRIC.findall(query))
        assert used and used <= samples()
        assert all(query.count(opening) == query.count(closing) for opening, closing in ("()", "{}", "[]"))
    assert panel["datasource"]["uid"] == "${datasource}" and panel["description"]


def test_every_metric_is_on_the_dashboard() -> None:
    shown = {metric_of(name) for panel in PANELS for query in queries(panel) for name in METRIC.findall(query)}
    assert shown == set(ABOUT)


def test_the_dashboard_can_be_imported_by_anyone() -> None:
    numbers = [panel["id"] for panel in DASHBOARD["panels"]]
    assert len(numbers) == len(set(numbers))
    assert DASHBOARD["uid"] == "perdure" and DASHBOARD["schemaVersion"] >= 36 and "id" not in DASHBOARD
    assert {variable["name"] for variable in DASHBOARD["templating"]["list"]} == {"datasource", "instance"}
    places = [(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in DASHBOARD["panels"]]
    assert len(places) == len(set(places)) and all(panel["gridPos"]["w"] <= 24 for panel in DASHBOARD["panels"])


def commands() -> list[str]:
    """Every command that a page of an alert tells somebody to type."""
    pages = (path.read_text("utf-8") for path in sorted((OPERATE / "alerts").glob("*.md")))
    return sorted({line for page in pages for line in re.findall(r"^perdure .*$|(?<=`)perdure [^`]*(?=`)", page, re.M)})


@pytest.mark.parametrize("line", commands())
def test_a_command_on_a_page_of_an_alert_is_one_that_can_be_typed(line: str) -> None:
    found: Any = typer.main.get_command(application())
    words = shlex.split(line)[1:]
    while words and hasattr(found, "commands"):
        found = found.commands[words.pop(0)]
    known = {name: option for option in found.params for name in option.opts}
    given = [word for word in words if word.startswith("--")]
    assert set(given) <= set(known) and not hasattr(found, "commands")
    values = [word for name, word in itertools.pairwise(words) if name in known and not known[name].is_flag]
    places = [option for option in found.params if option.param_type_name == "argument" and option.required]
    assert len([word for word in words if word not in given and word not in values]) >= len(places)

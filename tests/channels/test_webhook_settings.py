"""`hooks:` is read strictly, and no secret is ever in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from perdure.channels.webhook_settings import HookIn, HookOut, Hooks, Secret, read_hooks
from perdure.errors import StoreSettingError
from perdure.verbs.yaml_nodes import Report
from perdure.verbs.yaml_reader import parse_text

GOOD = """
egress: {allow: [hooks.internal]}
in:
  - {name: uploads, secret_env: [UPLOADS], message: documents.uploaded, key: case.id, ttl: P1D, window: PT1M}
  - {name: bank, tenant: acme, secret_file: bank.secret, verbs: [papers.*]}
out:
  - {name: crm, url: "https://crm.example/in", secret_env: [CRM], events: [runbook_completed, "step_*"]}
"""


def read(text: str) -> tuple[Hooks, list[str]]:
    report = Report()
    (node,) = parse_text(text, "perdure.yaml", report)
    hooks = read_hooks(node, "perdure.yaml", report, Path("/project"))
    return hooks, [problem.sentence() for problem in report.problems]


def test_hooks_are_read_as_written() -> None:
    hooks, problems = read(GOOD)
    assert not problems and hooks.allowed == ("hooks.internal",)
    assert hooks.arriving_as("uploads") == HookIn(
        "uploads", Secret(("UPLOADS",)), "default", "hook:uploads", 60, "documents.uploaded", "case.id", 86_400.0
    )
    assert hooks.arriving[1].verbs == ("papers.*",)
    assert hooks.arriving[1].secret == Secret((), Path("/project/bank.secret"))
    assert hooks.leaving_as("crm", "default") == hooks.leaving[0]
    assert hooks.leaving_as("crm", "acme") is None


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("in: [{name: A B, secret_env: [X]}]", "a name of its own"),
        ("in: [{name: a}]", "secret_env or secret_file"),
        ("in: [{name: a, secret_env: [X], secret_file: f}]", "secret_env or secret_file"),
        ("in: [{name: a, secret: hunter2}]", "secret"),
        ("in: [{name: a, secret_env: [X], key: 'a[0]'}]", "is no path"),
        ("in: {name: a}", "expected a list"),
        ("in: [{name: a, secret_env: [X]}]", "Add message: <name>"),
        ("in: [{name: a, secret_env: [X], verbs: ['*']}]", "names no verbs in particular"),
        ("in: [{name: a, secret_env: [X], verbs: ['pap*']}]", "names no verbs in particular"),
        ("in: [{name: a, secret_env: [X], message: m, verbs: [papers.*]}]", "both message and verbs"),
        ("in: [{name: a, secret_env: [X]}, {name: a, secret_env: [Y]}]", "several hooks 'a'"),
        ("out: [{name: a, secret_env: [X], url: 'ftp://x'}]", "no http or https address"),
        ("out: [{name: a, secret_env: [X], url: 'https://u:p@x'}]", "no http or https address"),
        ("out: [{name: a, secret_env: [X], url: 'https://x', events: ['a b']}]", "no name of an entry"),
        ("into: []", "into"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(text: str, part: str) -> None:
    _, problems = read(text)
    assert any(part in problem and "perdure.yaml:1:" in problem for problem in problems), problems


def test_events_are_wanted_by_name_or_beginning() -> None:
    hook = HookOut("crm", "https://x", Secret(), events=("runbook_completed", "step_*"))
    assert [hook.wants(each) for each in ("runbook_completed", "step_failed", "runbook_failed")] == [True, True, False]


def test_secrets_are_found_and_their_place_but_never_they_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NEW", "the new secret, long enough")
    monkeypatch.setenv("SHORT", "tooshort")
    assert Secret(("NEW", "SHORT")).load("a") == [b"the new secret, long enough"]
    file = tmp_path / "secret"
    file.write_text("first secret, long enough\n\nsecond secret, long enough\n")
    assert len(Secret((), file).load("a")) == 2
    for bad in (Secret(("SHORT",)), Secret(("NONE",)), Secret((), tmp_path / "missing")):
        with pytest.raises(StoreSettingError) as error:
            bad.load("a")
        assert "tooshort" not in str(error.value)

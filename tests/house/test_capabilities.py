"""The page of capabilities says what the tests prove, no more and no less."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import capabilities
from tests.capabilities import Proof, collect, render
from tests.requirements import REQUIREMENTS

EXAMPLE = """
import pytest

pytestmark = [pytest.mark.req("V1")]

@pytest.fixture
def opened(store_url): ...

@pytest.mark.req("V2", "V3")
async def test_it_lasts(opened): ...

class TestGroup:
    @pytest.mark.deep
    @pytest.mark.req("V2")
    def test_it_is_small(self): ...
"""


@pytest.fixture(scope="module")
def proved() -> dict[str, list[Proof]]:
    return collect()


def test_every_requirement_named_by_a_test_is_in_the_list(proved: dict[str, list[Proof]]) -> None:
    unknown = {id: proofs for id, proofs in proved.items() if id not in REQUIREMENTS}
    assert not unknown, "add them to tests/requirements.py in the user's words"


def test_every_requirement_that_is_proved_is_proved_at_normal_depth(proved: dict[str, list[Proof]]) -> None:
    assert not [id for id, proofs in proved.items() if all(proof.is_deep for proof in proofs)]


@pytest.mark.req("P9")
def test_the_page_of_capabilities_is_up_to_date(proved: dict[str, list[Proof]]) -> None:
    assert capabilities.PAGE.read_text(encoding="utf-8") == render(proved), "run: make capabilities"


def test_marks_of_module_class_and_test_and_the_stores_behind_fixtures_are_read(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_example.py").write_text(EXAMPLE, encoding="utf-8")
    monkeypatch.setattr(capabilities, "ROOT", tmp_path)
    lasting = Proof("tests/test_example.py", "it_lasts", ("SQLite", "Postgres"))
    small = Proof("tests/test_example.py", "TestGroup: it_is_small", (), is_deep=True)
    assert collect() == {"V1": [lasting, small], "V2": [lasting, small], "V3": [lasting]}

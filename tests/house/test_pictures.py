"""Pictures of models on pages are drawn from the models that stand beside them."""

from __future__ import annotations

import pytest

from tests.house.pictures import pictures


@pytest.mark.req("P9")
def test_every_picture_of_a_model_is_up_to_date() -> None:
    made = pictures()
    stale = [path.name for path, picture in made.items() if path.read_text(encoding="utf-8") != picture]
    assert made and not stale, "run: python -m tests.house.pictures"

"""Pages of the dashboard: every page has an address, and the server knows which addresses hold names with dots."""

from __future__ import annotations

import re

import pytest

from perdure.app.operations.operation_table import TABLE
from perdure.surfaces.http.routes.dashboard import PAGES
from tests.house.tree import ROOT

pytestmark = pytest.mark.req("P4")
SOURCE = ROOT / "dashboard" / "src"
TEXT = (SOURCE / "routes.ts").read_text(encoding="utf-8")
ROUTES = re.findall(r'path: "([^"]+)".*import\("\./pages/([\w-]+)/page"\)', TEXT)
PLACES = re.findall(r'to: "([^"]+)", .*keys: "(\w)"(?:, operation: "([\w.]+)")?', TEXT)


def test_every_page_has_an_address() -> None:
    assert {page for _, page in ROUTES} == {path.parent.name for path in SOURCE.glob("pages/*/page.tsx")}


def test_every_page_about_something_may_have_dots_in_its_address() -> None:
    assert {path.split("/")[1] for path, _ in ROUTES if ":" in path} == set(PAGES)


def test_every_place_of_the_navigation_is_a_page_with_a_key_of_its_own_and_an_operation() -> None:
    assert {to for to, _, _ in PLACES} <= {path for path, _ in ROUTES}
    assert len({keys for _, keys, _ in PLACES}) == len(PLACES)
    assert {operation for _, _, operation in PLACES if operation} <= {row.name for row in TABLE}

"""Handlers own their arguments: what they do to them does not reach the payload behind them."""

from __future__ import annotations

from perdure.engines.embedded.jobs.job_arguments import checked_args
from perdure.verbs import Catalogue, VerbDefinition
from perdure.work.verb_router import Router


def test_a_handler_that_changes_its_arguments_in_place_changes_nothing_of_the_payload() -> None:
    catalogue = Catalogue([VerbDefinition(name="kyc.look")])
    payload = {"people": [{"name": "Ana"}], "case_id": "c1"}
    args = checked_args(Router.__new__(Router), catalogue.get("kyc.look"), dict(payload))
    args["people"][0]["name"] = "Eve"
    assert payload == {"people": [{"name": "Ana"}], "case_id": "c1"}

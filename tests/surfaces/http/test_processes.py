"""Processes over HTTP: deployed for one tenant alone, with everything lint and a proof have to say."""

from __future__ import annotations

from typing import Any

import pytest

from perdure.bpmn.xml import write_model
from tests.engines.embedded.process_models import END, START, flow, fork, line, model, service, user
from tests.surfaces.http.sandbox_server import Server, served


def text(*nodes: Any, process: str = "p", **file: Any) -> str:
    return write_model(line(process, *nodes, **file))


def stuck() -> str:
    """A fork whose one way ends apart from the join: it never comes together."""
    nodes = (START, fork("split"), user("one"), user("two"), fork("join"), END)
    ways = [("start", "split"), ("split", "one"), ("split", "two"), ("one", "join"), ("join", "end"), ("two", "one")]
    return write_model(model("p", nodes, tuple(flow(*way) for way in ways)))


@pytest.mark.req("P2", "V10")
async def test_a_model_is_deployed_with_its_findings_and_its_proof_and_shown_with_them(store_url: str) -> None:
    async with served(store_url) as server:
        ada = server.of("ada")
        xml = text(service("a", "t.one"), user("review"))
        told = await ada.post("/api/processes", {"xml": xml, "profile": "open"}, 201)
        assert [(each["process"], each["version"], each["is_new"]) for each in told["deployments"]] == [("p", 1, True)]
        assert [(each["process"], each["verdict"]) for each in told["proofs"]] == [("p", "proved")]
        assert told["findings"] and all(each["severity"] != "error" for each in told["findings"])
        again = await ada.post("/api/processes", {"xml": xml, "profile": "open"}, 201)
        assert [(each["version"], each["is_new"]) for each in again["deployments"]] == [(1, False)]
        await ada.post("/api/processes", {"xml": text(user("review")), "profile": "open"}, 201)
        assert [each["version"] for each in (await ada.get("/api/processes"))["items"]] == [2]
        versions = (await ada.get("/api/processes/p"))["versions"]
        assert [(each["version"], each["is_latest"]) for each in versions] == [(1, False), (2, True)]
        shown = await ada.get("/api/processes/p/versions/1")
        assert 'id="review"' in shown["xml"] and shown["verdict"]["verdict"] == "proved"
        assert {each["code"] for each in shown["findings"]} == {each["code"] for each in told["findings"]}
        assert shown["bindings"]["t.one"]["verb"] == "t.one"
        assert (await ada.get("/api/processes/p/versions/3", 404))["code"] == "command.not_found"
        assert (await ada.get("/api/processes/nobody", 404))["code"] == "command.not_found"


@pytest.mark.req("P2", "V10")
async def test_what_does_not_lint_or_is_refuted_is_refused_with_all_of_it_and_a_check_deploys_nothing() -> None:
    async with served() as server:
        ada = server.of("ada")
        bad = stuck()
        refused = await ada.post("/api/processes", {"xml": bad}, 422)
        assert refused["code"] == "definition.invalid" and refused["errors"]
        assert any(each["severity"] == "error" for each in refused["findings"]) or refused["proofs"]
        looked = await ada.post("/api/processes/check", {"xml": bad})
        assert (looked["findings"], looked["proofs"]) == (refused["findings"], refused["proofs"])
        good = await ada.post("/api/processes/check", {"xml": text(service("a", "t.one")), "profile": "open"})
        assert [each["verdict"] for each in good["proofs"]] == ["proved"]
        assert (await ada.get("/api/processes"))["items"] == []
        assert (await server.of("sue").post("/api/processes", {"xml": bad}, 403))["code"] == "access.forbidden"


@pytest.mark.req("P2")
@pytest.mark.parametrize(
    "xml",
    [
        "not xml at all",
        '<!DOCTYPE x [<!ENTITY a "a"><!ENTITY b "&a;&a;&a;&a;">]><x>&b;</x>',
        '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><x>&a;</x>',
        "<definitions/>",
    ],
)
async def test_what_is_no_model_is_refused_without_reading_anything_else(xml: str) -> None:
    async with served() as server:
        refused = await server.of("ada").post("/api/processes", {"xml": xml}, 422)
        assert refused["errors"] and "root:" not in str(refused)
        looked = await server.of("ada").post("/api/processes/check", {"xml": xml})
        assert any(each["severity"] == "error" for each in looked["findings"])


@pytest.mark.req("P2", "P3")
@pytest.mark.parametrize(
    "type", ["os.system", "tests.engines.embedded.engine_world:Handlers", "t.nobody", "../../handlers"]
)
async def test_a_model_names_verbs_that_exist_and_never_handlers(type: str) -> None:
    async with served() as server:
        for profile in ("hollow", "contract", "open"):
            xml = text(service("a", type))
            refused = await server.of("ada").post("/api/processes", {"xml": xml, "profile": profile}, 422)
            assert refused["code"] == "definition.invalid"
        assert (await server.of("ada").get("/api/processes"))["items"] == []
        odd = {"xml": text(service("a", "t.one")), "handlers": ["os"], "profile": "open"}
        assert (await server.of("ada").post("/api/processes", odd, 422))["code"] == "request.invalid"


@pytest.mark.req("V31")
async def test_a_tenant_that_overrides_a_process_changes_nothing_for_another(store_url: str) -> None:
    """Both call the same verb: each is carried by its own tenant's process."""
    async with served(store_url) as server:
        ada, eve = server.of("ada"), server.of("eve")
        plain = text(service("a", "t.one"), user("review"), process="carried")
        await ada.post("/api/processes", {"xml": plain, "profile": "open"}, 201)
        await eve.post("/api/processes", {"xml": plain, "profile": "open"}, 201)
        own = text(service("a", "t.one"), user("second-look"), user("review"), process="carried")
        changed = await eve.post("/api/processes", {"xml": own, "profile": "open"}, 201)
        assert changed["deployments"][0]["version"] == 2
        ours = await ada.post("/api/verbs/t.carried/calls", {"args": {"given": 1}}, 201)
        theirs = await eve.post("/api/verbs/t.carried/calls", {"args": {"given": 1}}, 201)
        await server.idle()
        assert await _standing(server, "ada", ours) == (1, ["review"])
        assert await _standing(server, "eve", theirs) == (2, ["second-look"])
        assert [each["version"] for each in (await ada.get("/api/processes/carried"))["versions"]] == [1]
        await eve.post("/api/processes/carried/versions/1/retire", {"reason": "ours"})
        assert [each["status"] for each in (await ada.get("/api/processes/carried"))["versions"]] == ["active"]


@pytest.mark.req("V31")
async def test_a_process_only_another_tenant_has_is_unknown(store_url: str) -> None:
    async with served(store_url) as server:
        await server.of("eve").post("/api/processes", {"xml": text(user("review")), "profile": "open"}, 201)
        ada = server.of("ada")
        assert (await ada.get("/api/processes"))["items"] == []
        foreign, unknown = await ada.get("/api/processes/p", 404), await ada.get("/api/processes/q", 404)
        for each in (foreign, unknown):
            del each["instance"], each["request_id"]
        assert str(foreign).replace("'p'", "'q'") == str(unknown)
        for path in ("/api/processes/p/versions/1", "/api/processes/q/versions/1"):
            assert (await ada.get(path, 404))["code"] == "command.not_found"
        await ada.post("/api/processes/p/versions/1/retire", {}, 404)
        await ada.post("/api/instances", {"process": "p"}, 404)


@pytest.mark.req("P2")
async def test_versions_are_deprecated_and_retired(store_url: str) -> None:
    async with served(store_url) as server:
        ada = server.of("ada")
        await ada.post("/api/processes", {"xml": text(user("one")), "profile": "open"}, 201)
        await ada.post("/api/processes", {"xml": text(user("two")), "profile": "open"}, 201)
        told = await ada.post("/api/processes/p/versions/2/deprecate", {"reason": "not yet"})
        assert [each["is_latest"] for each in told["versions"]] == [True, False]
        await ada.post("/api/processes/p/versions/1/retire")
        assert (await ada.post("/api/instances", {"process": "p", "version": 1}, 409))["code"] == "command.wrong_state"
        assert (await ada.post("/api/instances", {"process": "p", "version": 2}, 201))["version"] == 2


@pytest.mark.req("P3")
async def test_a_key_deploys_only_what_carries_and_calls_verbs_that_it_reaches() -> None:
    async with served() as server:
        narrow = server.of("narrow")
        refused = await narrow.post("/api/processes", {"xml": text(service("a", "t.one")), "profile": "open"}, 403)
        assert "t.one" in refused["detail"]
        assert (await narrow.get("/api/processes"))["items"] == []


async def _standing(server: Server, who: str, call: dict[str, Any]) -> tuple[int, list[str]]:
    desk = server.of(who)
    carrier = (await desk.get(f"/api/calls/{call['id']}"))["carrier"]
    view = await desk.get(f"/api/instances/{carrier['instance']}")
    return carrier["version"], [token["element"] for token in view["tokens"]]

"""Several engines in one project: processes and tenants have theirs, and what began on one stays with it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from perdure.app.calls.views import CallView
from perdure.app.configuration.project import load_config
from perdure.app.perdure import Perdure
from perdure.engine import EngineSettings
from perdure.engine.engine_settings import EngineEntry, TenantEngines
from perdure.errors import DefinitionError, EngineSettingError, EngineUnavailableError, RejectedError
from perdure.journal import Origin
from perdure.sources import id_text
from perdure.store.audit import verify
from perdure.testing.server_process import free_ports
from perdure.verbs import load_text
from tests.engines.embedded.process_models import line, pause, service, user

VERBS = """
verbs:
- {name: t.one, execution: {kind: sync}}
- {name: t.near, execution: {kind: durable, process: near, sub_verbs: [t.one]}}
- {name: t.far, execution: {kind: durable, process: far, sub_verbs: [t.one]}}
"""
MODELS = [line("near", service("only", "t.one")), line("far", service("only", "t.one")), line("asks", user("review"))]
ORIGIN, OTHER = Origin("default", "local"), Origin("bank-b", "local")
Opened = Callable[..., AbstractAsyncContextManager[Perdure]]


def one(call: Any) -> dict[str, int]:
    return {}


@pytest.fixture
def engines() -> dict[str, EngineEntry]:
    """Two clusters at ports where nobody listens."""
    first, second = free_ports(2)
    ui = "https://operate.example.org/"
    return {
        "partners": EngineEntry(f"camunda://127.0.0.1:{first}", ui),
        "scale": EngineEntry(f"camunda://127.0.0.1:{second}?tenant=bank-b"),
    }


@pytest.fixture
def opened(store_url: str, engines: dict[str, EngineEntry]) -> Opened:
    @asynccontextmanager
    async def open_store(**said: Any) -> AsyncIterator[Perdure]:
        settings = EngineSettings(**{"engines": engines, **said})
        async with Perdure.open(
            store_url, definitions=load_text(VERBS), handlers={"t.one": one}, engine=settings
        ) as perdure:
            for origin in (ORIGIN, OTHER):
                for each in MODELS:
                    await perdure.runtime.engine.deploy(each, origin, profile="open")
            yield perdure

    return open_store


async def seen(perdure: Perdure, call: str) -> CallView:
    """The call once it has ended, or its engine was asked in vain."""
    while (view := await perdure.status(call)).state == "parked":
        if view.waiting_for is not None and view.waiting_for.kind == "engine":
            break
        await perdure.runtime.store_changed()
    return view


async def faults(perdure: Perdure) -> list[str]:
    report = await verify(perdure.runtime.store, perdure.runtime.machines, {}, dry=True)
    return [str(each) for each in report.findings if "seal" not in each.place]


@pytest.mark.both_stores
@pytest.mark.req("V35")
async def test_an_engine_that_is_away_parks_its_own_steps_and_no_others(opened: Opened) -> None:
    async with opened(processes={"far": "partners"}) as perdure:
        far = await seen(perdure, (await perdure.call("t.far", {})).id)
        near = await seen(perdure, (await perdure.call("t.near", {})).id)
        assert (near.state, near.carrier and near.carrier.engine) == ("completed", "embedded")
        assert far.waiting_for is not None and (far.state, far.waiting_for.kind) == ("parked", "engine")
        assert far.carrier is not None and far.carrier.engine == "partners"
        found = {each.name: each for each in await perdure.engines()}
        assert {name: (each.waiting_steps, each.open_dispatches) for name, each in found.items()} == {
            "embedded": (0, 0), "partners": (1, 1), "scale": (0, 0),
        }  # fmt: skip
        assert (found["partners"].processes, found["embedded"].is_default) == (["far"], True)
        assert [name for name, each in found.items() if each.reachable] == ["embedded"]
        measured = (await perdure.runtime.scrape()).decode()
        assert 'perdure_engine_reachable{engine="partners"} 0.0' in measured
        assert 'perdure_engine_reachable{engine="embedded"} 1.0' in measured
        assert 'perdure_engine_dispatches_open{engine="partners"} 1.0' in measured
        assert 'perdure_engine_steps_waiting{engine="scale"} 0.0' in measured
        assert await faults(perdure) == []


@pytest.mark.both_stores
@pytest.mark.req("V13")
async def test_a_start_that_was_kept_for_an_engine_stays_with_it_when_settings_change(opened: Opened) -> None:
    async with opened(processes={"far": "partners"}) as perdure:
        call = (await perdure.call("t.far", {})).id
        await seen(perdure, call)
    async with opened(processes={}) as perdure:
        later = await seen(perdure, (await perdure.call("t.far", {})).id)
        assert (later.state, later.carrier and later.carrier.engine) == ("completed", "embedded")
        while await perdure.runtime.look_after():
            pass
        kept = await perdure.status(call)
        assert (kept.state, kept.carrier and kept.carrier.engine) == ("parked", "partners")
        assert await faults(perdure) == []


@pytest.mark.both_stores
@pytest.mark.req("V13")
async def test_an_instance_goes_on_where_it_began_when_settings_change(opened: Opened) -> None:
    async with opened() as perdure:
        begun = await perdure.runtime.engine.start("asks", ORIGIN, idempotency_key="k")
    async with opened(default="partners") as perdure:
        letters = id_text(begun.id)
        assert (await perdure.processes.get("asks")).engine == "partners"
        again = await perdure.runtime.engine.start("asks", ORIGIN, idempotency_key="k")
        assert again.id == begun.id, "a repeated start finds the instance, wherever it is"
        assert (await perdure.instances.get(letters)).engine == "embedded"
        node = next(each.number for each in again.state.nodes.values() if each.kind == "task")
        done = await perdure.runtime.engine.complete_task(begun.id, node, ORIGIN, until="end")
        assert done.state.status == "completed"
        with pytest.raises(EngineUnavailableError):
            await perdure.runtime.engine.start("asks", ORIGIN, idempotency_key="another")


async def test_a_tenant_has_its_engine_and_exceptions_from_it(opened: Opened) -> None:
    own = {"bank-b": TenantEngines("scale", {"near": "embedded"})}
    async with opened(processes={"near": "partners"}, tenants=own) as perdure:
        engine = perdure.runtime.engine
        chosen = {(each, at): engine.place(each, at).name for each in ("near", "far") for at in ("default", "bank-b")}
        assert chosen == {
            ("near", "default"): "partners", ("near", "bank-b"): "embedded",
            ("far", "default"): "embedded", ("far", "bank-b"): "scale",
        }  # fmt: skip
        for process, origin, url in (("near", ORIGIN, "partners"), ("far", OTHER, "scale")):
            with pytest.raises(EngineUnavailableError, match=engine.engines[1 if url == "partners" else 2].url):
                await engine.start(process, origin)
        for process, origin in (("near", OTHER), ("far", ORIGIN)):
            done = await engine.start(process, origin, until="end")
            assert done.state.status == "completed"
        told = {each.process: each.engine for each in await perdure.acting(tenant="bank-b").processes.list()}
        assert told == {"near": "embedded", "far": "scale", "asks": "scale"}


async def test_a_process_that_its_new_engine_cannot_carry_is_refused_at_its_start(opened: Opened) -> None:
    sleeps = line("sleeps", pause("sleep", "PT1H"), user("review"))
    async with opened() as perdure:
        await perdure.runtime.engine.deploy(sleeps, ORIGIN, profile="open")
        begun = await perdure.runtime.engine.start("sleeps", ORIGIN)
    async with opened(processes={"sleeps": "partners"}) as perdure:
        engine = perdure.runtime.engine
        with pytest.raises(RejectedError, match="'partners' cannot carry it: nothing tells us when its timer fires"):
            await engine.start("sleeps", ORIGIN)
        with pytest.raises(DefinitionError, match=r"camunda\.timer"):
            await engine.deploy(sleeps, ORIGIN, profile="open")
        assert (await perdure.instances.cancel(id_text(begun.id))).state == "cancelled", "what runs goes on"
        assert (await perdure.engines())[1].open_dispatches == 0, "nothing was kept for it"


async def test_an_instance_is_moved_to_engines_by_their_names(opened: Opened) -> None:
    async with opened() as perdure:
        begun = await perdure.runtime.engine.start("asks", ORIGIN)
        with pytest.raises(RejectedError, match="This process serves embedded, partners, scale"):
            await perdure.instances.move(id_text(begun.id), "nowhere")
        plan = await perdure.instances.move(id_text(begun.id), "partners", dry_run=True)
        assert (plan.carrier, plan.to, plan.is_dry) == ("embedded", "partners", True)


async def test_two_names_for_one_place_are_refused(tmp_path: Path) -> None:
    url = f"camunda://127.0.0.1:{free_ports(1)[0]}"
    settings = EngineSettings(engines={"a": EngineEntry(url), "b": EngineEntry(f"{url}?tenant=x")})
    with pytest.raises(EngineSettingError, match="Give one place one name"):
        async with Perdure.open(f"sqlite:///{tmp_path}/p.db", engine=settings):
            pass


async def test_a_tenant_is_not_given_to_the_cluster_of_another(tmp_path: Path) -> None:
    url = f"camunda://127.0.0.1:{free_ports(1)[0]}?tenant=bank-a"
    settings = EngineSettings(engines={"a": EngineEntry(url)}, tenants={"bank-b": TenantEngines("a")})
    with pytest.raises(EngineSettingError, match="it carries tenant 'bank-a' only; 'bank-b' needs a cluster"):
        async with Perdure.open(f"sqlite:///{tmp_path}/p.db", engine=settings):
            pass


# --- perdure.yaml ------------------------------------------------------------------------------------------------


def read(tmp_path: Path, text: str) -> EngineSettings:
    file = tmp_path / "perdure.yaml"
    file.write_text(text)
    return load_config(file).engine


@pytest.mark.req("V13")
def test_a_project_names_engines_and_chooses_by_process_and_by_tenant(tmp_path: Path) -> None:
    read_settings = read(
        tmp_path,
        """
engine: scale
engines:
  scale: temporal://temporal.internal:7233/orders
  partners: {url: "camunda://camunda.internal:8080", ui: "https://operate.internal"}
processes:
  kyc-open-case: {engine: embedded}
tenants:
  bank-b: {engine: partners, processes: {kyc-open-case: {engine: scale}}}
""",
    )
    assert read_settings.engines == {
        "scale": EngineEntry("temporal://temporal.internal:7233/orders"),
        "partners": EngineEntry("camunda://camunda.internal:8080", "https://operate.internal"),
    }
    choose = read_settings.choose
    assert [choose("other", "default"), choose("kyc-open-case", "default")] == ["scale", "embedded"]
    assert [choose("other", "bank-b"), choose("kyc-open-case", "bank-b")] == ["partners", "scale"]


def test_a_url_in_place_of_a_name_is_an_engine_of_its_scheme(tmp_path: Path) -> None:
    found = read(tmp_path, "processes: {orders: {engine: temporal://localhost:7233/default}}\n")
    assert found.engines == {"temporal": EngineEntry("temporal://localhost:7233/default")}
    assert [found.choose("orders", "default"), found.choose("other", "default")] == ["temporal", "embedded"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("engine: scael\nengines: {scale: 'camunda://host'}\n", r"1:9.*no engine is named 'scael'.*scale"),
        ("processes:\n  orders: {engine: scale}\n", r"2:20.*no engine is named 'scale'"),
        ("tenants:\n  a: {processes: {p: {engine: b}}}\n", r"2:31.*no engine is named 'b'"),
        ("engines: {embedded: 'camunda://host'}\n", "the engine in the store"),
        ("engines: {Big: 'camunda://host'}\n", "'Big' is no name of an engine"),
        ("engines: {scale: {ui: 'https://x'}}\n", "'url' is missing"),
        ("engines: {scale: {url: 'camunda://h', ui: 'javascript:alert(1)'}}\n", "no address of http or https"),
        ("engines: {scale: {url: 'camunda://h', ui: 'https://a:b@h'}}\n", "has no credentials"),
        ("engines: {scale: {url: 'camunda://h', token: x}}\n", "the key 'token' is not known here"),
        ("processes: {p: {}}\n", "'engine' is missing"),
        ("engine: camunda://a\nprocesses: {p: {engine: camunda://b}}\n", "the name of another engine"),
    ],
)
def test_what_means_no_engine_is_refused_with_its_place(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(DefinitionError, match=f"(?s){said}"):
        read(tmp_path, text)


def test_settings_made_in_python_are_checked_when_a_store_is_opened() -> None:
    with pytest.raises(EngineSettingError, match=r"no engine is named 'scale' \(processes\.p\.engine\)"):
        EngineSettings(processes={"p": "scale"}).check()
    with pytest.raises(EngineSettingError, match="no address of http or https"):
        EngineSettings(engines={"a": EngineEntry("camunda://h", "ftp://h")}).check()

"""Handlers resolve references by scheme: records out of the box, others as they are configured, always bounded."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from perdure import Perdure
from perdure.app.configuration.project import load_config
from perdure.app.configuration.resolvers import ResolverSettings
from perdure.errors import StoreSettingError
from perdure.testing.sandbox import Sandbox
from perdure.verbs import Call, load_text
from perdure.verbs.references import Bounds, Wanted

VERBS = """
entities:
  company: {key: [id], fields: {id: {type: string}, name: {type: string}}}
verbs:
- name: co.read
  input_schema: {required: [uri], properties: {uri: {type: string}}}
  execution: {kind: sync, effects: none}
- name: co.keep
  input_schema: {required: [id, name], properties: {id: {type: string}, name: {type: string}}}
  execution: {kind: sync, handler: "crud::execute", params: {entity: company, operation: create}}
"""


async def read(call: Call) -> dict[str, Any]:
    found = await call.resolve(call.args["uri"])
    return {"kind": type(found).__name__, "found": found if not isinstance(found, bytes) else found.hex()}


async def told(perdure: Perdure, uri: str) -> str:
    """What became of an attempt to read a reference that leads nowhere."""
    view = await perdure.call("co.read", {"uri": uri})
    found = view.error.message if view.error is not None else view.waiting_for.text
    return str(found)


@asynccontextmanager
async def served(*answers: bytes) -> AsyncIterator[str]:
    """A server on the loopback that gives each answer once and the last one for ever."""
    left = [*answers]

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(left.pop(0) if len(left) > 1 else left[0])
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


def answer(kind: str, body: bytes, status: str = "200 OK") -> bytes:
    return f"HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {len(body)}\r\n\r\n".encode() + body


def opened(url: str, **more: Any) -> Any:
    return Perdure.open(url, definitions=load_text(VERBS), handlers={"co.read": read}, **more)


@pytest.mark.req("V9")
async def test_a_record_is_resolved_without_any_setting(store_url: str) -> None:
    async with Sandbox.open(store_url, definitions=load_text(VERBS), handlers={"co.read": read}) as sandbox:
        await sandbox.call("co.keep", {"id": "a/1", "name": "Allianz"})
        view = await sandbox.call("co.read", {"uri": "record://company/a%2F1"})
        assert view.result["found"]["name"] == "Allianz"
        assert "no such record can be read" in await told(sandbox, "record://company/2")
        other = sandbox.acting(tenant="other")
        assert "no such record can be read" in await told(other, "record://company/a%2F1")
        schemes = "Known schemes: document, record, secret, version. Others are added under `resolvers`."
        assert schemes in await told(sandbox, "s3://a/b")


@pytest.mark.req("V9")
async def test_a_function_resolves_its_scheme_for_the_tenant_and_within_its_bounds(sqlite_url: str) -> None:
    async def fetch(wanted: Wanted) -> str:
        return f"{wanted.tenant} {wanted.principal} {wanted.verb} {wanted.place}"

    async with opened(sqlite_url, resolvers={"vault": fetch}) as perdure:
        view = await perdure.acting(tenant="t", principal="ann").call("co.read", {"uri": "vault://papers/7"})
        assert view.result == {"kind": "str", "found": "t ann co.read papers/7"}
    async with Sandbox.open(
        definitions=load_text(VERBS), handlers={"co.read": read}, resolvers={"v": fetch}
    ) as sandbox:
        assert (await sandbox.call("co.read", {"uri": "v://x"})).result["found"] == "default local co.read x"


@pytest.mark.req("V9")
async def test_what_is_fetched_over_http_is_json_text_or_bytes_and_bounded(sqlite_url: str) -> None:
    bounds = Bounds(max_bytes=20, timeout_seconds=20)
    settings = {"http": ResolverSettings(allow=("127.0.0.1",), bounds=bounds)}
    async with opened(sqlite_url, resolvers=settings) as perdure:
        got = []
        for kind, body in (("application/json", b'{"a": 1}'), ("text/plain", b"hej"), ("image/png", b"\x89")):
            async with served(answer(kind, body)) as place:
                got.append((await perdure.call("co.read", {"uri": f"{place}/x?token=1"})).result["found"])
        assert got == [{"a": 1}, "hej", "89"]
        async with served(answer("text/plain", b"x" * 21)) as place:
            assert "more than 20 bytes came and may have 20" in await told(perdure, f"{place}/big?token=geheim")
            assert "geheim" not in await told(perdure, f"{place}/big?token=geheim")
        async with served(answer("text/plain", b"", "302 Found")) as place:
            assert "the answer was 302" in await told(perdure, place)


@pytest.mark.req("V9")
async def test_an_address_inside_the_network_is_refused_unless_it_is_allowed(sqlite_url: str) -> None:
    settings = {"http": ResolverSettings(), "https": ResolverSettings()}
    async with opened(sqlite_url, resolvers=settings) as perdure, served(answer("text/plain", b"x")) as place:
        refused = await told(perdure, place)
        assert "which is not on the public internet" in refused and "resolvers.http.allow" in refused
        assert "where machines keep credentials" in await told(perdure, "https://169.254.169.254/latest")


@pytest.mark.req("V9")
async def test_a_reference_that_takes_too_long_or_is_for_other_verbs_says_so(sqlite_url: str) -> None:
    async def never(wanted: Wanted) -> None:
        await asyncio.Event().wait()

    async with opened(sqlite_url) as perdure:
        perdure.runtime.router.register("slow", never, Bounds(timeout_seconds=0.0))
        perdure.runtime.router.register("other", never, Bounds(verbs=("kyc.*",)))
        assert "nothing came within 0 seconds" in await told(perdure, "slow://x")
        assert "it is not for 'co.read'" in await told(perdure, "other://x")


def test_resolvers_are_read_from_the_configuration_and_mistakes_are_told(tmp_path: Path) -> None:
    file = tmp_path / "perdure.yaml"
    file.write_text("resolvers:\n  https: {allow: [10.0.0.0/8], max_bytes: 1000, timeout: PT5S, verbs: [kyc.*]}\n")
    assert load_config(file).resolvers == {
        "https": ResolverSettings("", ("10.0.0.0/8",), Bounds(1000, 5.0, ("kyc.*",)))
    }
    file.write_text("resolvers:\n  vault: {}\n  secret: {function: a.b}\n  x: {function: a.b, allow: [b]}\n")
    with pytest.raises(Exception, match=r"(?s)nothing built in fetches 'vault'.*'secret' is no scheme.*only http") as _:
        load_config(file)


@pytest.mark.req("V9")
async def test_a_sandbox_of_a_project_resolves_what_the_project_resolves(tmp_path: Path) -> None:
    (tmp_path / "verbs.yaml").write_text(VERBS)
    file = tmp_path / "perdure.yaml"
    file.write_text("definitions: [verbs.yaml]\nresolvers: {https: {}}\n")
    async with Sandbox.from_config(load_config(file), handlers={"co.read": read}) as sandbox:
        assert "it leads to 127.0.0.1, which is not on the public internet" in await told(sandbox, "https://127.0.0.1/")


@pytest.mark.req("V9")
async def test_a_function_outside_the_listed_packages_is_refused_at_the_start(sqlite_url: str) -> None:
    with pytest.raises(StoreSettingError, match="is not below a package listed under handlers"):
        async with opened(sqlite_url, resolvers={"vault": ResolverSettings("os.system")}):
            pass

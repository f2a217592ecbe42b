"""The fetcher of http references: one GET of a checked address, no redirects, bounded bytes.

| the answer | what the handler gets |
|---|---|
| 2xx, JSON | the value |
| 2xx, text | the text |
| 2xx, anything else | the bytes |
| 408, 425, 429, 5xx, or none | Transient |
| 3xx, any other 4xx | UnresolvableError |
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from perdure.channels.egress_policy import Egress, Resolve, Target, at_address
from perdure.errors import RejectedError, SchemaViolationError, Transient
from perdure.payload import parse
from perdure.verbs.references import UnresolvableError, Wanted, too_large

if TYPE_CHECKING:
    import httpx

HTTP_SCHEMES = ("https", "http")
PASSING = frozenset({408, 425, 429})
"""Refusals that may pass."""


class HttpReferences:
    """The resolver of `https://` and `http://`; it reaches the public internet, and inside it what is `allowed`."""

    def __init__(self, scheme: str, allowed: Sequence[str] = (), resolve: Resolve | None = None) -> None:
        self._egress = Egress(allowed, resolve, setting=f"resolvers.{scheme}.allow")

    async def __call__(self, wanted: Wanted) -> Any:
        import httpx  # noqa: PLC0415  most processes fetch nothing

        try:
            target = await self._egress.target(wanted.uri)
        except RejectedError as error:
            told = error.rejection
            if told.code == "blocked":
                raise Transient(_told(wanted, told.fact)) from error
            raise UnresolvableError("resolve", "reference", _shown(wanted), told.fact, told.hint) from error
        try:
            async with httpx.AsyncClient(follow_redirects=False, trust_env=False, timeout=None) as client:
                return await _fetched(client, wanted, target)
        except (httpx.HTTPError, OSError) as error:
            raise Transient(_told(wanted, f"{type(error).__name__}: {error}"[:300])) from error


async def _fetched(client: httpx.AsyncClient, wanted: Wanted, target: Target) -> Any:
    request = client.build_request(
        "GET", at_address(target), headers={"host": urlsplit(target.url).netloc, "accept-encoding": "identity"},
        extensions={"sni_hostname": target.host},
    )  # fmt: skip
    response = await client.send(request, stream=True)
    try:
        status = response.status_code
        if status in PASSING or status >= 500:
            raise Transient(_told(wanted, f"the answer was {status}"))
        if not response.is_success:
            hint = "Give the address it leads to." if response.is_redirect else ""
            raise UnresolvableError("resolve", "reference", _shown(wanted), f"the answer was {status}", hint)
        return _value(wanted, response.headers.get("content-type", ""), await _body(response, wanted))
    finally:
        await response.aclose()


async def _body(response: httpx.Response, wanted: Wanted) -> bytes:
    found = bytearray()
    async for chunk in response.aiter_raw():
        found += chunk
        if len(found) > wanted.max_bytes:
            raise too_large(_shown(wanted), f"more than {wanted.max_bytes:,} bytes came", wanted.max_bytes)
    return bytes(found)


def _value(wanted: Wanted, content_type: str, body: bytes) -> Any:
    kind = content_type.partition(";")[0].strip().lower()
    try:
        if kind == "application/json" or kind.endswith("+json"):
            return parse(body, max_bytes=wanted.max_bytes)
        return body.decode("utf-8") if kind.startswith("text/") else body
    except (SchemaViolationError, UnicodeDecodeError) as error:
        fact = f"what came is not the {kind} it says"
        raise UnresolvableError("resolve", "reference", _shown(wanted), fact) from error


def _told(wanted: Wanted, fact: str) -> str:
    return f"Expected to resolve reference '{_shown(wanted)}', but {fact}."


def _shown(wanted: Wanted) -> str:
    """The address without what may be secret in it."""
    parts = urlsplit(wanted.uri)
    return parts._replace(query="", fragment="", netloc=parts.netloc.rpartition("@")[2]).geturl()[:200]

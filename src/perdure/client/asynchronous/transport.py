"""The transport: requests that are safe to repeat, and streams that continue from their last event."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from types import UnionType
from typing import Any, NoReturn, TypeVar, Union, cast, get_origin
from urllib.parse import quote

import httpx
import msgspec
from msgspec.structs import replace

from perdure.app.operations.operation import A, Operation, R
from perdure.client.answer_conversion import carried
from perdure.client.problem_errors import RETRIED, RUNNING, error_of, read_problem
from perdure.client.refused_messages import undelivered
from perdure.client.retry_backoff import Patience
from perdure.client.server_sent_events import Reader, SentEvent
from perdure.errors import PerdureError, RejectedError, Rejection, StoreSettingError, StoreUnavailableError
from perdure.sources import SECOND, SystemSources, id_text
from perdure.typed_reading import read_json

T = TypeVar("T")
BASE = "/api"
STREAM = "text/event-stream"
SLICE_SECONDS = 20.0
"""How long one request waits; the next one goes on waiting."""
QUIET_SECONDS = 45.0
"""Servers pulse three times in so long: a stream that is silent for longer is lost."""

_PLACES = re.compile(r"\{(\w+)\}")


class Transport:
    """A server, and the key that is shown to it."""

    tenant = ""
    """The key says which tenant it is."""

    def __init__(self, url: str, key: str, timeout_seconds: float, patience_seconds: float) -> None:
        self.url = checked_url(url)
        self.sources = SystemSources()
        self._patience_seconds = patience_seconds
        headers = {"Authorization": f"Bearer {checked_key(key)}"} if key else {}
        timeout = httpx.Timeout(timeout_seconds, connect=10.0)
        # Certificates take a while to load, and are asked for by nobody where nothing is encrypted.
        verify = not self.url.startswith("http://")
        self._http = httpx.AsyncClient(
            headers={**headers, "Accept": "application/json"}, timeout=timeout, verify=verify
        )  # fmt: skip

    async def close(self) -> None:
        await self._http.aclose()

    async def get(self, kind: type[T], path: str) -> T:
        """Look at something that is no operation; asked again freely."""
        return self._decoded(kind, await self._ask("GET", path))

    async def ask(self, operation: Operation[R, A], request: R, *, key: str = "", seen: int | None = None) -> A:
        """Perform an operation on the server. An act happens once: however often it is asked, it has one key."""
        try:
            answer = await self._send(operation, request, key, seen)
        except RejectedError as refused:
            if (told := undelivered(request, refused)) is None:
                raise
            return cast("A", told)
        if operation.answer is bytes:
            return cast("A", answer.content)
        if get_origin(operation.answer) in (Union, UnionType):
            return cast("A", carried(self._decoded(dict[str, Any], answer)))
        return cast("A", self._decoded(operation.answer, answer))

    async def ask_for(self, kind: type[T], operation: Operation[R, Any], request: R) -> T:
        """Perform an operation whose request says which kind of answer it gets."""
        return self._decoded(kind, await self._send(operation, request, "", None))

    async def wait(self, operation: Operation[R, A], request: R, until: str, timeout_seconds: float | None) -> A:
        """Until it has come so far, or the time is up. The server holds the answer back: nobody has to ask often."""
        now = self.sources.now
        began = now()
        while True:
            asked = now()
            left = SLICE_SECONDS
            if timeout_seconds is not None:
                left = max(0.0, min(left, timeout_seconds - (asked - began) / SECOND))
            view = await self.ask(operation, replace(request, until=until, timeout_seconds=left))
            # An answer before its time says that it has come so far.
            if (now() - asked) / SECOND < left or (
                timeout_seconds is not None and now() - began >= timeout_seconds * SECOND
            ):
                return view

    async def _send(self, operation: Operation[R, Any], request: R, key: str, seen: int | None) -> httpx.Response:
        method, (path, fields) = operation.routes[-1].method, placed(operation, request)
        if method == "GET":
            return await self._ask("GET", path, _given(request, fields))
        headers = {"Idempotency-Key": key or id_text(self.sources.new_id())} if method == "POST" else {}
        return await self._ask(method, path, (), fields, headers, seen)

    async def send(self, operation: Operation[R, A], request: R, content: bytes | AsyncIterator[bytes]) -> A:
        """Perform an operation whose body is content. Bytes are sent again where that helps; a stream is sent once."""
        path, fields = placed(operation, request)
        answer = await self._ask("POST", path, _given(request, fields), content=content)
        return cast("A", self._decoded(operation.answer, answer))

    async def download(self, operation: Operation[R, Any], request: R) -> AsyncIterator[bytes]:
        """The content that an operation answers, as it comes; asked for once, because each read is an event."""
        path, _ = placed(operation, request)
        try:
            async with self._http.stream("GET", self._place(path), headers={"Accept": "*/*"}) as answer:
                if not answer.is_success:
                    await answer.aread()
                    self._refused(path, answer)
                async for chunk in answer.aiter_bytes():
                    yield chunk
        except httpx.TransportError as error:
            raise self._unreachable(path, error) from error
        except _PassingError as error:
            raise error.refusal from None

    async def stream(self, path: str, after: str) -> AsyncIterator[list[SentEvent]]:
        """What is sent after a place and from then on, through however many connections: each event once.

        It gives up when no connection brings anything for as long as patience lasts.
        """
        patience = Patience(self.sources, self._patience_seconds)
        while True:
            pause: float | None = None
            try:
                async for events in self._connection(path, after):
                    patience.renew()  # a sign of life is enough: nothing may happen for hours
                    if not events:
                        continue
                    after = next((each.id for each in reversed(events) if each.id), after)
                    yield events
                pause = patience.pause()  # it ended: the server stops, or has looked at our key
            except httpx.TransportError as error:
                pause = patience.pause()
                if pause is None:
                    raise self._unreachable(path, error) from error
            except _PassingError as error:
                pause = patience.pause(error.retry_after)
                if pause is None:
                    raise error.refusal from None
            await asyncio.sleep(pause or 0.0)

    async def _connection(self, path: str, after: str) -> AsyncIterator[list[SentEvent]]:
        """What each piece that comes completes: nothing, where it is a sign of life only."""
        headers = {"Accept": STREAM, **({"Last-Event-ID": after} if after else {})}
        timeout = httpx.Timeout(QUIET_SECONDS, connect=10.0)
        async with self._http.stream("GET", self._place(path), headers=headers, timeout=timeout) as answer:
            if not answer.is_success:
                await answer.aread()
                self._refused(path, answer)
            reader = Reader()
            async for chunk in answer.aiter_bytes():
                yield reader.read(chunk)

    async def _ask(
        self, method: str, path: str, query: Sequence[tuple[str, str]] = (), body: Any = None,
        headers: Mapping[str, str] | None = None, seen: int | None = None,
        content: bytes | AsyncIterator[bytes] | None = None,
    ) -> httpx.Response:  # fmt: skip
        told = dict(headers or {})
        if seen is not None:
            told["If-Match"] = f'"{seen}"'
        if content is not None:
            told["Content-Type"] = "application/octet-stream"
        elif method != "GET":
            told["Content-Type"] = "application/json"
            content = msgspec.json.encode(body, enc_hook=str)
        is_once = method == "PUT" or not isinstance(content, bytes | None)
        request = self._http.build_request(
            method, self._place(path), params=httpx.QueryParams(list(query)), content=content, headers=told
        )
        patience = Patience(self.sources, self._patience_seconds)
        while True:
            try:
                answer = await self._http.send(request)
                if answer.is_success:
                    return answer
                self._refused(path, answer)
            except httpx.TransportError as error:
                is_heard = is_once and not isinstance(error, httpx.ConnectError | httpx.ConnectTimeout)
                pause = None if is_heard or isinstance(error, httpx.UnsupportedProtocol) else patience.pause()
                if pause is None:
                    raise self._unreachable(path, error) from error
            except _PassingError as error:
                pause = patience.pause(error.retry_after) if isinstance(content, bytes | None) else None
                if pause is None:
                    raise error.refusal from None
            await asyncio.sleep(pause)

    def _refused(self, path: str, answer: httpx.Response) -> NoReturn:
        told = read_problem(answer.status_code, answer.content)
        error = error_of(told, f"{self.url}{path}")
        if answer.status_code in RETRIED or told.code == RUNNING:
            raise _PassingError(error, answer.headers.get("Retry-After", ""))
        raise error

    def _unreachable(self, path: str, error: httpx.TransportError) -> StoreUnavailableError:
        fact = f"it cannot be reached ({str(error) or type(error).__name__})"
        return StoreUnavailableError("ask", "server", self.url, fact, "Is it running, and is the address right?")

    def _decoded(self, kind: type[T], answer: httpx.Response) -> T:
        if kind is type(None):
            return None
        try:
            return read_json(answer.content, kind)
        except (ValueError, RecursionError) as error:
            fact = f"its answer is not what this client knows ({error})"
            hint = "Is it a Perdure server, and not much older or newer than this client?"
            raise StoreSettingError("understand", "server", self.url, fact, hint) from error

    def _place(self, path: str) -> str:
        return f"{self.url}{BASE}{path}"


class _PassingError(Exception):
    """A refusal that may pass."""

    def __init__(self, refusal: PerdureError, retry_after: str) -> None:
        super().__init__(str(refusal))
        self.refusal, self.retry_after = refusal, retry_after


def placed(operation: Operation[R, Any], request: R) -> tuple[str, dict[str, Any]]:
    """The path of a request, and the fields that do not travel in it; the last route takes words of any letters."""
    fields = {name: getattr(request, name) for name in request.__struct_fields__}
    path = _PLACES.sub(lambda found: _quoted(str(fields.pop(found[1]))), operation.routes[-1].path)
    return path, fields


def _quoted(word: str) -> str:
    return quote(word, safe="") if word.strip(".") else word.replace(".", "%2E")


def _given(request: msgspec.Struct, fields: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The fields of a query that are not as they would be without it."""
    usual = {each.name: each.default for each in msgspec.structs.fields(request)}
    found: list[tuple[str, str]] = []
    for name, value in fields.items():
        if value == usual[name] or value is None:
            continue
        values = value if isinstance(value, list | tuple) else [value]
        found.extend((name, str(each).lower() if isinstance(each, bool) else str(each)) for each in values)
    return found


def checked_url(url: str) -> str:
    """The address of a server without its last slash."""
    if not url.startswith(("http://", "https://")):
        fact, hint = "it is no address of a server", "Write for example https://perdure.example."
        raise RejectedError(Rejection("invalid", "reach", "server", url[:200], fact, hint))
    return url.rstrip("/")


def checked_key(key: str) -> str:
    """A key that can be shown; its text is never told."""
    text = key.strip()
    if not text.isascii() or not text.isprintable() or " " in text:
        raise RejectedError(Rejection("invalid", "show", "key", "…", "it is no key", "Keys begin with perdure_."))
    return text

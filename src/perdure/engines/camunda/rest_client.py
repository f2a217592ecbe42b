"""The REST client: requests to Camunda's `/v2`, tried again while it has no room, and its errors in our words.

| answer | becomes |
|---|---|
| 200, 204 | its body |
| 429, 503, RESOURCE_EXHAUSTED, 502, 504, no connection, no answer in time | tried again with backoff and jitter until the deadline, then `EngineUnavailableError` |
| 404 | `Gone`: a lost race, harmless |
| 409 | `WrongState`: it is in another state than we think |
| 400 and others | `Refused`, with Camunda's words |
| 401, 403 | `EngineSettingError`: credentials are missing or too weak |
"""  # noqa: E501

from __future__ import annotations

import ssl
from typing import Any

import httpx
import msgspec

from perdure.engines.camunda.address import CLIENT_ID, CLIENT_SECRET, TOKEN, CamundaAddress
from perdure.engines.camunda.backoff import pause_after
from perdure.engines.camunda.wire import ActivatedJob, Request, read_jobs
from perdure.errors import EngineSettingError, EngineUnavailableError
from perdure.sources import SECOND, Sources

ANSWER_SECONDS = 15.0
DEADLINE_SECONDS = 10.0
"""How long a request is tried again before whoever asked is told that nobody answers."""
MAX_MESSAGE = 500
BUSY = frozenset({429, 502, 503, 504})
MAX_CONNECTIONS = 256


class Gone(Exception):
    """What a request names is not there any more, or not yet."""

    is_repeated = False
    """Whether the request was sent before and nobody knows what became of it: it was probably done then."""


class WrongState(Exception):
    """What a request names is in another state."""


class Refused(Exception):
    """Camunda does not do it, and says why."""


class RestClient:
    """One per process."""

    def __init__(self, address: CamundaAddress, sources: Sources) -> None:
        self.address = address
        self._sources = sources
        self._client: httpx.AsyncClient | None = None
        self._token: tuple[str, int] = ("", 0)
        self.last_failure = ""
        """Why Camunda did not answer the last time; empty when it did."""
        self._is_away = False
        """Whether a request was tried in vain until its deadline, and none was answered since."""

    def _open(self) -> httpx.AsyncClient:
        if self._client is None:
            verify: Any = ssl.create_default_context(cafile=self.address.ca) if self.address.ca else True
            self._client = httpx.AsyncClient(
                base_url=self.address.url, timeout=ANSWER_SECONDS, follow_redirects=False, trust_env=False,
                verify=verify, limits=httpx.Limits(max_connections=MAX_CONNECTIONS, max_keepalive_connections=64),
            )  # fmt: skip
        return self._client

    async def close(self) -> None:
        if self._client is not None:
            await self._client.aclose()
            self._client = None

    async def send(self, request: Request, deadline_seconds: float = DEADLINE_SECONDS) -> dict[str, Any]:
        """The answer; tried again until the deadline while Camunda has no room or does not answer.

        Once nobody answered until then, requests are tried once each, until one is answered.
        """
        until, failures = self._sources.monotonic() + int(deadline_seconds * SECOND), 0
        while True:
            try:
                return await self._once(request, ANSWER_SECONDS)
            except EngineUnavailableError:
                failures += 1
                pause = pause_after(failures, self._sources.random())
                if self._is_away or self._sources.monotonic() + pause >= until:
                    self._is_away = True
                    raise
            except Gone as gone:
                gone.is_repeated = failures > 0
                raise
            await self._sources.sleep(pause)

    async def _once(self, request: Request, seconds: float, **parts: Any) -> dict[str, Any]:
        try:
            client = self._open()
            headers = await self._headers(client)
            content = {"json": request.body} if request.body is not None else {}
            response = await client.request(
                request.method, f"/v2{request.path}", headers=headers, timeout=seconds, **content, **parts
            )
        except (TimeoutError, httpx.HTTPError, OSError) as error:
            raise self._unavailable(str(error) or type(error).__name__) from error
        return self._read(response)

    def _read(self, response: httpx.Response) -> dict[str, Any]:
        self._is_away = False
        if response.is_success:
            self.last_failure = ""
            return msgspec.json.decode(response.content, type=dict[str, Any]) if response.content else {}
        words = _words(response)
        if response.status_code in BUSY or "RESOURCE_EXHAUSTED" in words:
            raise self._unavailable(f"{response.status_code}: {words}")
        self.last_failure = ""
        match response.status_code:
            case 404:
                raise Gone(words)
            case 409:
                raise WrongState(words)
            case 401 | 403:
                hint = f"Put a token into {TOKEN}, or an id and a secret into {CLIENT_ID} and {CLIENT_SECRET}."
                raise EngineSettingError("ask", "engine", self.address.text, f"it refuses us: {words}", hint)
            case _:
                raise Refused(words)

    def _unavailable(self, fact: str) -> EngineUnavailableError:
        self.last_failure = fact = " ".join(fact.split())[:MAX_MESSAGE]
        hint = "Dispatches are kept and sent again until it answers."
        return EngineUnavailableError("reach", "engine", self.address.text, fact, hint)

    async def _headers(self, client: httpx.AsyncClient) -> dict[str, str]:
        token = self.address.token or await self._fetched_token(client)
        return {"Authorization": f"Bearer {token}"} if token else {}

    async def _fetched_token(self, client: httpx.AsyncClient) -> str:
        """A token of the cluster's identity provider, kept until shortly before it ends."""
        id, secret = self.address.credentials
        if not self.address.oauth or not id:
            return ""
        token, until = self._token
        if token and self._sources.now() < until:
            return token
        form = {"grant_type": "client_credentials", "client_id": id, "client_secret": secret}
        if self.address.audience:
            form["audience"] = self.address.audience
        answer = self._read(await client.post(self.address.oauth, data=form))
        token = str(answer.get("access_token", ""))
        lasts = max(0, int(answer.get("expires_in") or 60) - 30)
        self._token = (token, self._sources.now() + lasts * SECOND)
        return token

    # --- what is asked without being kept ------------------------------------------------------------------------

    async def topology(self) -> dict[str, Any]:
        try:
            return await self._once(Request("GET", "/topology"), 5.0)
        except EngineUnavailableError:
            self._is_away = True
            raise

    async def deploy(self, name: str, xml: str) -> dict[str, Any]:
        """Deploy one resource; the same content under the same name again is the same version there."""
        until, failures = self._sources.monotonic() + int(DEADLINE_SECONDS * SECOND), 0
        files = {"resources": (name, xml.encode(), "text/xml")}
        while True:
            try:
                return await self._once(Request("POST", "/deployments"), 4 * ANSWER_SECONDS, files=files)
            except EngineUnavailableError:
                failures += 1
                pause = pause_after(failures, self._sources.random())
                if self._is_away or self._sources.monotonic() + pause >= until:
                    self._is_away = True
                    raise
            await self._sources.sleep(pause)

    async def activate(self, type: str, names: list[str], most: int, worker: str) -> list[ActivatedJob]:
        """Jobs of a type, as soon as there is one; none when the poll ends before."""
        address = self.address
        body = {
            "type": type, "worker": worker, "timeout": address.lock_seconds * 1000, "maxJobsToActivate": most,
            "requestTimeout": address.poll_seconds * 1000, "fetchVariable": names,
        }  # fmt: skip
        return read_jobs(await self._once(Request("POST", "/jobs/activation", body), address.poll_seconds + 10.0))


def _words(response: httpx.Response) -> str:
    """What a problem document says, or the beginning of whatever came instead."""
    try:
        told = msgspec.json.decode(response.content)
    except msgspec.DecodeError:
        told = None
    if isinstance(told, dict):
        text = " ".join(str(told[name]) for name in ("title", "detail", "message") if told.get(name))
    else:
        text = response.text
    return " ".join(text.split())[:MAX_MESSAGE] or f"status {response.status_code}"

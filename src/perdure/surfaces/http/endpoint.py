"""The endpoint: a place in HTTP with the operation that it needs, the function that answers, and its description."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import msgspec

from perdure.app.operations.operation import Repeat
from perdure.surfaces.http.asgi import ASGIApp
from perdure.surfaces.http.json_request import JsonRequest
from perdure.surfaces.http.request_fields import NOTHING, Fields, Shape, fields_of

Handler = Callable[[JsonRequest], Awaitable[ASGIApp]]


class Endpoint(msgspec.Struct, frozen=True):
    """One method of one place. An endpoint that is not public needs an operation."""

    id: str
    method: str
    paths: tuple[str, ...]
    function: Handler
    operation: str = ""
    is_public: bool = False
    fields: Fields = NOTHING
    repeat: Repeat = "safe"
    guard: bool = False
    tag: str = ""
    """The part of the API it belongs to; the description of the API leaves out endpoints without one."""
    text: str = ""
    answer: Any = None
    """The type of the answer; None where nothing is told."""
    status: int = 200
    is_twofold: bool = False
    """The answer comes with 200 and with 202."""
    media: dict[str, str] = {}
    """Other media types of the answer, each with its meaning."""
    streams: bool = False
    """The body is content of any media type, or a form with a file."""
    is_anonymous: bool = False
    """Cookies and credentials are not looked at: what is asked tells by itself who asks."""


def public(
    method: str, path: str | Sequence[str], tag: str = "", *, request: Shape | None = None, **told: Any
) -> Callable[[Handler], Endpoint]:
    """Make a function an endpoint for anybody."""
    paths = (path,) if isinstance(path, str) else tuple(path)
    fields = fields_of(request, method, paths[0]) if request is not None else NOTHING

    def made(function: Handler) -> Endpoint:
        text = " ".join((function.__doc__ or "").split())
        name = function.__name__
        return Endpoint(name, method, paths, function, is_public=True, fields=fields, tag=tag, text=text, **told)

    return made

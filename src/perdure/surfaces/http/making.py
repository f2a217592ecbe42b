"""How a route is made: what it asks for, whether it repeats safely, and every answer it may give."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

from litestar import delete, get, post, put
from litestar.openapi.datastructures import ResponseSpec

from perdure.surfaces.http.guarding import given
from perdure.surfaces.http.problems import MEDIA, Problem

Handler = Callable[..., Any]
Repeats = Literal["domain", "answer"]

REFUSALS = {
    400: "The request cannot be read",
    401: "Nobody is signed in",
    403: "Who asks may not",
    404: "There is no such thing, or it is another tenant's",
    405: "The path knows other methods",
    406: "None of the accepted media types can be given",
    408: "The body did not come in time",
    409: "Not possible in the state it is in",
    412: "It has changed since it was read",
    413: "The body is too large",
    415: "The body's media type is not read here",
    422: "Something asked for does not fit",
    423: "Something must happen first",
    429: "Too many requests",
    503: "Not now; ask again",
}


def refusals(*statuses: int) -> dict[int, ResponseSpec]:
    """The problems a route may answer with, for the description."""
    wanted = statuses or tuple(REFUSALS)
    return {
        status: ResponseSpec(Problem, description=REFUSALS[status], media_type=MEDIA, generate_examples=False)
        for status in wanted
    }


def reading(path: str, operation: str, **more: Any) -> Callable[[Handler], Any]:
    """A GET that shows something."""
    return _route(get, path, operation, **more)


def streaming(path: str, operation: str, page: Any, **more: Any) -> Callable[[Handler], Any]:
    """A GET that gives a page, or a stream of the same to whoever accepts `text/event-stream`."""
    told = ResponseSpec(page, description="A page of it", generate_examples=False)
    return _route(get, path, operation, answers={200: told}, streams=True, **more)


def acting(
    path: str, operation: str, *, repeats: Repeats = "answer", status: int = 200, **more: Any
) -> Callable[[Handler], Any]:
    """A POST that does something; under one `Idempotency-Key` it is done once.

    With `repeats="domain"` the operation itself knows the key; otherwise the answer is kept and given again.
    """
    return _route(post, path, operation, status_code=status, repeats=repeats, **more)


def replacing(path: str, operation: str, **more: Any) -> Callable[[Handler], Any]:
    """A PUT that overwrites something; takes `If-Match`."""
    return _route(put, path, operation, **more)


def removing(path: str, operation: str, **more: Any) -> Callable[[Handler], Any]:
    """A DELETE."""
    return _route(delete, path, operation, **more)


def public(method: Any, path: str | list[str], **more: Any) -> Callable[[Handler], Any]:
    """A route for anybody."""
    return _route(method, path, "", is_public=True, **more)


def _route(
    method: Any, path: str | list[str], operation: str, *, tags: Sequence[str] = (),
    answers: dict[int, ResponseSpec] | None = None, **more: Any,
) -> Callable[[Handler], Any]:  # fmt: skip
    def made(handler: Handler) -> Any:
        name = handler.__name__
        return method(
            path, operation=operation, tags=list(tags) or None, responses={**refusals(), **(answers or {})},
            operation_id=name, summary=name.replace("_", " ").capitalize(), **more,
        )(given(handler))  # fmt: skip

    return made

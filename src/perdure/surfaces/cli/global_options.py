"""Global options: every command takes them, before and after its name."""

from __future__ import annotations

import contextlib
import functools
import inspect
import sys
from collections.abc import Callable
from typing import Annotated, Any, NamedTuple, get_type_hints

import typer

from perdure.surfaces.cli.global_option_table import PANEL, SHARED_OPTIONS, SharedOption


class Settings(NamedTuple):
    """What was asked for with the options of every command; None where nothing was."""

    json: bool = False
    store: str | None = None
    config: str | None = None
    tenant: str = "default"
    principal: str | None = None
    groups: tuple[str, ...] = ()
    definitions: tuple[str, ...] = ()
    handlers: tuple[str, ...] = ()
    server: str | None = None
    key_file: str | None = None


def _typed(option: SharedOption) -> tuple[Any, Any]:
    """The type of an option, as typer reads it, and its default."""
    kinds: dict[str, tuple[Any, Any]] = {
        "flag": (bool, False),
        "text": (str | None, None),
        "texts": (list[str] | None, None),
    }
    kind, default = kinds[option.kind]
    told = typer.Option(
        option.name, help=option.help, metavar=option.metavar or None, rich_help_panel=PANEL, show_default=False
    )
    return Annotated[kind, told], default


GLOBAL: dict[str, tuple[Any, Any]] = {each.parameter: _typed(each) for each in SHARED_OPTIONS}
"""Parameter name, its type with the option, and its default."""


def settings_of(context: typer.Context) -> Settings:
    """The options as given; those nearest to the end of the line count."""
    given: dict[str, Any] = {}
    place: Any = context
    while place is not None:
        for name in GLOBAL:
            value = place.params.get(name)
            if value and name not in given:
                given[name] = value
        place = place.parent
    return Settings(
        json=bool(given.get("as_json")),
        store=given.get("store"),
        config=given.get("config"),
        tenant=given.get("tenant") or "default",
        principal=given.get("principal"),
        groups=tuple(given.get("groups") or ()),
        definitions=tuple(given.get("definitions") or ()),
        handlers=tuple(given.get("handlers") or ()),
        server=given.get("server"),
        key_file=given.get("key_file"),
    )


def give_options(app: typer.Typer) -> None:
    """Give every command the options of every command, once it is known which of them a line needs."""
    for each in app.registered_groups:
        assert each.typer_instance is not None
        give_options(each.typer_instance)
    for found in app.registered_commands:
        assert found.callback is not None
        found.no_args_is_help = _needs_words(found.callback)
        found.callback = with_options(found.callback)


def group(help: str) -> typer.Typer:
    """A group of commands that takes the options of every command as well."""
    app = typer.Typer(help=help, no_args_is_help=True, pretty_exceptions_enable=False, add_completion=False)
    app.callback()(_options_alone())
    return app


@functools.cache
def _options_alone() -> Callable[..., Any]:
    """What runs before the commands of a group, the same for every group."""
    return with_options(_nothing)


def _nothing(settings: Settings) -> None:
    return None


def _needs_words(function: Callable[..., Any]) -> bool:
    """Whether the command means nothing without words after it."""
    first = list(inspect.signature(function).parameters.values())[1:2]
    return bool(first) and first[0].default is inspect.Parameter.empty


def with_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function `(settings, …)` with the options of every command, as typer takes it.

    Coroutines are run, errors are shown.
    """
    hints = get_type_hints(function, include_extras=True)
    own = [
        parameter.replace(annotation=hints[parameter.name])
        for parameter in list(inspect.signature(function).parameters.values())[1:]
    ]
    kind = inspect.Parameter.KEYWORD_ONLY
    shared = [
        inspect.Parameter(name, kind, annotation=option, default=value) for name, (option, value) in GLOBAL.items()
    ]
    context = inspect.Parameter("context", kind, annotation=typer.Context)

    @functools.wraps(function)
    def call(*, context: typer.Context, **given: Any) -> None:
        from perdure.surfaces.cli.error_output import ending

        settings = settings_of(context)
        arguments = {parameter.name: given[parameter.name] for parameter in own}
        # For machines stdout holds the answer alone, whatever handlers print.
        quiet = contextlib.redirect_stdout(sys.stderr) if settings.json else contextlib.nullcontext()
        with ending(settings), quiet:
            made = function(settings, **arguments)
            if inspect.iscoroutine(made):
                import asyncio

                asyncio.run(made)

    parameters = [*(each.replace(kind=kind) for each in own), *shared, context]
    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    call.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return call

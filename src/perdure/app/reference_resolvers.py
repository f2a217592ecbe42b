"""The resolvers of a process: records out of the box, others as configuration and Python give them."""

from __future__ import annotations

from collections.abc import Mapping

from perdure.app.configuration.resolvers import ResolverSettings
from perdure.app.runtime import Runtime
from perdure.channels.reference_fetch import HTTP_SCHEMES, HttpReferences
from perdure.errors import StoreSettingError
from perdure.verbs import HandlerRegistry
from perdure.verbs.references import RECORD, Bounds, Resolver
from perdure.work.record_references import RecordReferences

Resolvers = Mapping[str, Resolver | ResolverSettings]


def register_resolvers(runtime: Runtime, registry: HandlerRegistry, given: Resolvers) -> None:
    """Let handlers of this process resolve references of these schemes."""
    for scheme, how in given.items():
        if isinstance(how, ResolverSettings):
            runtime.router.register(scheme, _made(runtime, registry, scheme, how), how.bounds)
        else:
            runtime.router.register(scheme, how, Bounds())


def _made(runtime: Runtime, registry: HandlerRegistry, scheme: str, how: ResolverSettings) -> Resolver:
    if how.function:
        found: Resolver | None = registry.function(how.function)
        if found is None:
            fact = f"its function '{how.function}' is not below a package listed under handlers"
            raise StoreSettingError("use", "resolver", scheme, fact, "List its package under handlers.")
        return found
    if scheme in HTTP_SCHEMES:
        return HttpReferences(scheme, how.allow)
    if scheme == RECORD:
        return RecordReferences(runtime.desk)
    raise StoreSettingError("use", "resolver", scheme, "nothing built in fetches it", "Name its function.")

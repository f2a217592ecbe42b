"""The section `resolvers`: who fetches references of a scheme, and within which bounds."""

from __future__ import annotations

import msgspec

from perdure.channels.reference_fetch import HTTP_SCHEMES
from perdure.verbs.handlers import SECRET
from perdure.verbs.mapping_reader import Fields
from perdure.verbs.references import MAX_BYTES, RECORD, SCHEME, TIMEOUT_SECONDS, Bounds
from perdure.verbs.verb_patterns import is_pattern

RESOLVER_KEYS = frozenset({"function", "allow", "max_bytes", "timeout", "verbs"})
MOST_BYTES = 256 * 1024 * 1024


class ResolverSettings(msgspec.Struct, frozen=True):
    """How references of one scheme are fetched: by a function, or by what is built in for the scheme."""

    function: str = ""
    """A dotted name below a package listed under `handlers`."""
    allow: tuple[str, ...] = ()
    """Of http and https: hosts and networks that are not on the public internet and may be reached."""
    bounds: Bounds = Bounds()


def read_resolvers(fields: Fields) -> dict[str, ResolverSettings]:
    """The section as it is written; problems go to the report."""
    found = fields.mapping("resolvers") if "resolvers" in fields else {}
    return {
        scheme: _resolver(scheme, Fields(node, "resolver", fields.file, fields.report, accepted=RESOLVER_KEYS))
        for scheme, node in found.items()
    }


def _resolver(scheme: str, fields: Fields) -> ResolverSettings:
    function, allow, verbs = fields.text("function"), fields.texts("allow"), fields.texts("verbs")
    is_http = scheme in HTTP_SCHEMES
    if not SCHEME.fullmatch(scheme) or scheme == SECRET:
        hint = "Use small letters, digits, '+', '.' and '-'; secrets are declared under `secrets`."
        fields.wrong(fields.node, "scheme", f"'{scheme}' is no scheme that can be given a resolver", hint)
    if not function and not is_http and scheme != RECORD:
        fields.wrong(fields.node, "resolver", f"nothing built in fetches '{scheme}'", "Name a function: work.fetch.")
    if allow and not is_http:
        fields.wrong(fields.get("allow"), "resolver", "only http and https reach addresses")
    for pattern in verbs:
        if not is_pattern(pattern):
            hint = "Write kyc.open-case, kyc.* or *."
            fields.wrong(fields.get("verbs"), "resolver", f"'{pattern}' names no verbs", hint)
    bounds = Bounds(
        fields.integer("max_bytes", MAX_BYTES, 1, MOST_BYTES), fields.duration("timeout") or TIMEOUT_SECONDS,
        verbs or ("*",),
    )  # fmt: skip
    return ResolverSettings(function, allow, bounds)

"""Job arguments: the data of a process that its verb receives."""

from __future__ import annotations

from typing import Any

from perdure.payload import canonical, value_of
from perdure.verbs import Verb
from perdure.work.verb_router import Router

CONTAINERS = (dict, list)


def taken(names: tuple[str, ...], data: dict[str, Any]) -> dict[str, Any] | None:
    """As `declared` by these names, all when there are none; None when one must not be the handler's as it is."""
    args: dict[str, Any] = {}
    for name in names or data:
        if name in data:
            value = args[name] = data[name]
            if isinstance(value, CONTAINERS):
                return None
    return args


def checked_args(router: Router, verb: Verb, args: dict[str, Any], *, is_ample: bool = False) -> dict[str, Any]:
    """The arguments as the verb's schema accepts them; one that declares no argument takes what there is.

    They are the handler's own: changing them in place changes nothing of the payload they come from. `is_ample` when
    they are of a payload, and what fits into that fits the verb.
    """
    for value in args.values():
        if isinstance(value, CONTAINERS):
            data = router.incoming(verb, args).data if verb.input.properties else canonical(args)
            own: dict[str, Any] = value_of(data)
            return own
    if not verb.input.properties:
        return args
    # Those of a payload are under their declared names already: `declared` has looked for no others.
    checked: dict[str, Any] = verb.input.check(args) if is_ample else router.incoming(verb, args).value
    return checked

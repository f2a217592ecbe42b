"""Lifecycles on a server."""

from __future__ import annotations

from perdure.app.facade import lifecycles as facade


class LifecycleDesk(facade.LifecycleDesk):
    """Lifecycle instances and their definitions. Reached as `client.lifecycles`."""

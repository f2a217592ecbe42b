"""The feed of a server: what happens in a tenant as it happens."""

from __future__ import annotations

"""The egress policy: webhooks reach no internal address, follow no redirect, and use the address that was checked.

A name is resolved once; every address it has must be allowed, and the connection goes to one of those, so a name that
changes its mind between the check and the use leads nowhere else.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import NamedTuple
from urllib.parse import urlsplit

from perdure.errors import RejectedError, Rejection

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network
Resolve = Callable[[str, int], Awaitable[list[str]]]
SCHEMES = frozenset({"https", "http"})
METADATA = tuple(
    ip_network(each) for each in ("169.254.0.0/16", "fd00:ec2::/32", "100.100.100.200/32", "168.63.129.16/32")
)
"""Where clouds keep credentials: never sent to, whatever is allowed."""
COATS = (ip_network("64:ff9b::/96"), ip_network("::/96"))
"""Networks of IPv6 that carry an IPv4 address in their last bits: a gateway leads to that one."""


class Target(NamedTuple):
    """A place that may be sent to: the url, its host, and the address that was checked."""

    url: str
    host: str
    port: int
    address: str


class Egress:
    """What is allowed beyond the public internet: names, and networks of addresses."""

    def __init__(
        self,
        allowed: Sequence[str] = (),
        resolve: Resolve | None = None,
        *,
        is_plain: bool = False,
        setting: str = "egress.allow",
    ) -> None:
        """`is_plain` lets http through to places that are not listed; those that are may always be reached so.

        `setting` is where places are listed, for those who are refused.
        """
        self._setting = setting
        self._networks: list[Network] = []
        self._names: set[str] = set()
        self._is_plain = is_plain
        self._resolve = resolve or _system_resolve
        for each in allowed:
            try:
                self._networks.append(ip_network(each, strict=False))
            except ValueError:
                self._names.add(each.lower())

    async def target(self, url: str) -> Target:
        """Where a url leads, or a rejection that says why nothing is sent there."""
        parts = urlsplit(url)
        host = (parts.hostname or "").lower().rstrip(".")
        try:
            port = parts.port or (443 if parts.scheme == "https" else 80)
        except ValueError:
            port = 0
        if parts.scheme not in SCHEMES or not host or not port or parts.username or parts.password:
            raise _refused(url, "it is no plain http or https address", "Give a full url without a user or password.")
        addresses = await self._addresses(url, host, port)
        for address in addresses:
            self._check(url, host, address)
        if parts.scheme == "http" and not self._is_plain and not self._is_listed(host, addresses[0]):
            raise _refused(url, "it is not encrypted", f"Use https, or name the host under {self._setting}.")
        return Target(url, host, port, str(addresses[0]))

    async def _addresses(self, url: str, host: str, port: int) -> list[Address]:
        try:
            found = [ip_address(each) for each in await self._resolve(host, port)]
        except (OSError, ValueError) as error:
            raise _refused(url, f"its name leads nowhere ({error})", code="blocked") from error
        if not found:
            raise _refused(url, "its name leads nowhere", code="blocked")
        return [_plain(each) for each in found]

    def _check(self, url: str, host: str, address: Address) -> None:
        if any(address in network for network in METADATA if network.version == address.version):
            raise _refused(url, f"it leads to {address}, where machines keep credentials")
        if _is_inside(address) and not self._is_listed(host, address):
            hint = f"Name the host or its network under {self._setting} if that is meant."
            raise _refused(url, f"it leads to {address}, which is not on the public internet", hint)

    def _is_listed(self, host: str, address: Address) -> bool:
        return host in self._names or any(
            address in network for network in self._networks if network.version == address.version
        )


def at_address(target: Target) -> str:
    """The url with the checked address in place of the name: nobody resolves it a second time."""
    parts = urlsplit(target.url)
    address = f"[{target.address}]" if ":" in target.address else target.address
    return parts._replace(netloc=f"{address}:{target.port}", fragment="").geturl()


def _is_inside(address: Address) -> bool:
    is_site = isinstance(address, IPv6Address) and address.is_site_local  # retired, still routed here and there
    return not address.is_global or address.is_multicast or is_site


def _plain(address: Address) -> Address:
    """An IPv4 address in an IPv6 coat is judged as what it is."""
    if isinstance(address, IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour or (address.teredo[1] if address.teredo else None)
        if inner is None and int(address) > 1 and any(address in each for each in COATS):
            inner = IPv4Address(int(address) & 0xFFFFFFFF)
        return inner or address
    return address


def _refused(url: str, fact: str, hint: str = "", code: str = "forbidden") -> RejectedError:
    shown = urlsplit(url)._replace(query="", fragment="")
    place = shown._replace(netloc=shown.netloc.rpartition("@")[2]).geturl()[:200]
    kind = "blocked" if code == "blocked" else "forbidden"
    return RejectedError(Rejection(kind, "send to", "address", place, fact, hint))  # type: ignore[arg-type]


async def _system_resolve(host: str, port: int) -> list[str]:
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(place[4][0]).partition("%")[0] for place in found))

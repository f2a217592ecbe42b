"""Nothing is sent to the inside, whatever name or spelling leads there."""

from __future__ import annotations

import pytest

from perdure.channels.egress_policy import Egress
from perdure.errors import RejectedError

PUBLIC = "93.184.216.34"

pytestmark = pytest.mark.req("P3")


def egress(known: dict[str, str], *allowed: str) -> Egress:
    async def resolve(host: str, port: int) -> list[str]:
        if host in known:
            return known[host].split()
        if host.replace(".", "").isdigit() or ":" in host:
            return [host]
        raise OSError("no such name")

    return Egress(allowed, resolve)


async def test_a_public_place_may_be_sent_to_at_the_address_that_was_checked() -> None:
    target = await egress({"hooks.example": PUBLIC}).target("https://hooks.example:8443/in?x=1")
    assert (target.host, target.port, target.address) == ("hooks.example", 8443, PUBLIC)


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "127.8.8.8", "0.0.0.0", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1",
        "::1", "fe80::1", "fc00::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "2002:7f00:1::", "224.0.0.1",
        "255.255.255.255", "fd00:ec2::254", "100.100.100.200", "168.63.129.16", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe",
        "::7f00:1", "::a00:1", "fec0::1", "::",
    ],
)  # fmt: skip
async def test_a_name_that_leads_inside_is_refused(address: str) -> None:
    with pytest.raises(RejectedError) as refused:
        await egress({"hooks.example": address}).target("https://hooks.example/")
    assert refused.value.rejection.code == "forbidden"


async def test_one_bad_address_among_good_ones_is_enough_to_refuse() -> None:
    with pytest.raises(RejectedError):
        await egress({"hooks.example": f"{PUBLIC} 127.0.0.1"}).target("https://hooks.example/")


@pytest.mark.parametrize(
    "url",
    [
        "ftp://hooks.example/", "file:///etc/passwd", "https://", "//hooks.example", "https://user:hidden@hooks.example/",
        "https://hooks.example:99999/", "https://hooks.example:0x50/", "gopher://hooks.example", "",
    ],
)  # fmt: skip
async def test_what_is_no_plain_web_address_is_refused(url: str) -> None:
    with pytest.raises(RejectedError) as refused:
        await egress({"hooks.example": PUBLIC}).target(url)
    assert "hidden" not in refused.value.rejection.id


async def test_places_inside_are_reached_where_they_are_named() -> None:
    by_name = egress({"hooks.internal": "10.1.2.3"}, "hooks.internal")
    assert (await by_name.target("http://hooks.internal/")).address == "10.1.2.3"
    by_network = egress({"hooks.internal": "10.1.2.3"}, "10.1.0.0/16")
    assert (await by_network.target("http://hooks.internal/")).address == "10.1.2.3"
    with pytest.raises(RejectedError):
        await egress({"hooks.internal": "10.2.2.3"}, "10.1.0.0/16").target("http://hooks.internal/")


async def test_where_credentials_are_kept_is_never_reached_even_when_named() -> None:
    with pytest.raises(RejectedError):
        await egress({"meta": "169.254.169.254"}, "meta", "169.254.0.0/16").target("http://meta/latest")


async def test_plain_http_goes_only_where_it_is_named() -> None:
    with pytest.raises(RejectedError):
        await egress({"hooks.example": PUBLIC}).target("http://hooks.example/")
    assert await egress({"hooks.example": PUBLIC}, "hooks.example").target("http://hooks.example/")


async def test_a_name_that_leads_nowhere_may_lead_somewhere_later() -> None:
    with pytest.raises(RejectedError) as refused:
        await egress({}).target("https://nowhere.example/")
    assert refused.value.rejection.code == "blocked"

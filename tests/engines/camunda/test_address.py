"""The url of a Camunda cluster."""

from __future__ import annotations

import pytest

from perdure.engines.camunda.address import read_address
from perdure.errors import EngineSettingError


def test_a_url_names_the_cluster_and_how_it_is_used() -> None:
    address = read_address("camunda://zeebe.internal:8088?release=8.8&tail=127.0.0.1:9200&tls=1&tenant=acme&lock=30")
    assert (address.url, address.text) == ("https://zeebe.internal:8088", "camunda://zeebe.internal:8088")
    assert (address.release, address.tail, address.tenant, address.lock_seconds) == (
        "8.8", "127.0.0.1:9200", "acme", 30,
    )  # fmt: skip


def test_a_host_alone_means_the_port_and_the_oldest_release() -> None:
    address = read_address("camunda://localhost")
    assert (address.url, address.release, address.tail) == ("http://localhost:8080", "8.6", "")


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("camunda://", "no address of a Camunda cluster"),
        ("camunda://host:8080/tenant", "no address of a Camunda cluster"),
        ("camunda://me:hunter2@host:8080", "its url holds a credential"),
        ("camunda://host:8080?release=8.5", "'8.5' is none of the releases 8.6, 8.7, 8.8, 8.9"),
        ("camunda://host:8080?tail=9200", "'9200' is no host:port to listen at"),
        ("camunda://host:8080?speed=11", "'speed' is no option of it"),
        ("camunda://host:8080?lock=1", "'lock' is '1', and at least 5 seconds are needed"),
        ("camunda://host:http", "Port could not be cast"),
    ],
)
def test_a_url_that_means_nothing_is_refused_with_a_sentence(url: str, says: str) -> None:
    with pytest.raises(EngineSettingError) as refused:
        read_address(url)
    assert says in str(refused.value)
    assert "hunter2" not in str(refused.value)

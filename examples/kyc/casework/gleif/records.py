"""What GLEIF says of a legal entity, as its API writes it (JSON:API), down to the fields this example reads."""

from __future__ import annotations

import re
from typing import Any, Generic, Literal, TypeVar

import msgspec

LEI = re.compile(r"[A-Z0-9]{18}[0-9]{2}")
Resource = TypeVar("Resource")


class Name(msgspec.Struct, frozen=True):
    name: str = ""
    language: str | None = None


class Address(msgspec.Struct, frozen=True, rename="camel"):
    city: str | None = None
    region: str | None = None
    country: str = ""
    postal_code: str | None = None
    address_lines: tuple[str, ...] = ()


class Code(msgspec.Struct, frozen=True):
    id: str | None = None
    other: str | None = None


class Other(msgspec.Struct, frozen=True):
    """Another entity that is named, perhaps without an LEI."""

    lei: str | None = None
    name: str | None = None


class Expiration(msgspec.Struct, frozen=True):
    date: str | None = None
    reason: str | None = None


class Entity(msgspec.Struct, frozen=True, rename="camel"):
    legal_name: Name
    status: Literal["ACTIVE", "INACTIVE", "NULL"] | None = None
    jurisdiction: str | None = None
    category: str | None = None
    legal_address: Address = Address()
    headquarters_address: Address = Address()
    legal_form: Code = Code()
    registered_as: str | None = None
    creation_date: str | None = None
    expiration: Expiration = Expiration()
    successor_entity: Other = Other()
    successor_entities: tuple[Other, ...] = ()


class Registration(msgspec.Struct, frozen=True, rename="camel"):
    status: str = ""
    last_update_date: str | None = None
    next_renewal_date: str | None = None
    corroboration_level: str | None = None


class LeiAttributes(msgspec.Struct, frozen=True):
    lei: str
    entity: Entity
    registration: Registration = Registration()


class LeiRecord(msgspec.Struct, frozen=True):
    """One `lei-records` resource."""

    id: str
    attributes: LeiAttributes
    relationships: dict[str, Any] = {}

    @property
    def name(self) -> str:
        return self.attributes.entity.legal_name.name

    @property
    def is_active(self) -> bool:
        return self.attributes.entity.status != "INACTIVE"

    @property
    def successor(self) -> str:
        """The LEI of what this entity became, or nothing."""
        entity = self.attributes.entity
        named = (entity.successor_entity, *entity.successor_entities)
        return next((each.lei for each in named if each.lei), "")

    def has(self, relationship: str, kind: str = "lei-record") -> bool:
        """Whether GLEIF links it: `lei-record` a published parent, `reporting-exception` why there is none."""
        links = self.relationships.get(relationship, {}).get("links", {})
        return kind in links or (kind == "lei-record" and "related" in links)


class ExceptionAttributes(msgspec.Struct, frozen=True):
    category: str
    reason: str = ""
    lei: str = ""
    reference: str | None = None


class ReportingException(msgspec.Struct, frozen=True):
    """Why no parent is reported, such as NATURAL_PERSONS, NO_KNOWN_PERSON or NON_CONSOLIDATING."""

    attributes: ExceptionAttributes
    id: str = ""


class Pagination(msgspec.Struct, frozen=True, rename="camel"):
    current_page: int = 1
    per_page: int = 0
    total: int = 0
    last_page: int = 1


class Meta(msgspec.Struct, frozen=True):
    pagination: Pagination = Pagination()


class One(msgspec.Struct, Generic[Resource], frozen=True):
    """A document with one resource; `data` is null when there is none."""

    data: Resource | None = None


class Many(msgspec.Struct, Generic[Resource], frozen=True):
    """A document with a page of resources."""

    data: tuple[Resource, ...] = ()
    meta: Meta = Meta()


def is_lei(text: str) -> bool:
    """Twenty letters and digits whose last two check the rest (ISO 17442, modulo 97)."""
    return LEI.fullmatch(text) is not None and int("".join(str(int(each, 36)) for each in text)) % 97 == 1

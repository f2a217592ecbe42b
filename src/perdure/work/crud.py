"""`crud::execute`: a verb's arguments become one operation on the records of an entity.

| operation | needs | gives back |
|---|---|---|
| create, upsert | fields | the record |
| read | the key, or fields that only one record has | the record |
| update | the key, fields to change | the record |
| delete | the key | key, `version`, `deleted` |
| list | fields to compare with, `after`, `limit` | `records`, `after` when there are more |
| history | the key, `after`, `limit` | `versions` |
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from perdure.errors import BusinessError, PayloadTooLargeError, SchemaViolationError, sentence
from perdure.payload import canonical
from perdure.verbs import Verb
from perdure.verbs.schema_shorthand import argument_name
from perdure.work.entity_schema import Data, EntitySchema

if TYPE_CHECKING:
    from perdure.work.entity_records import StagedRecords

OPTIONS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "read": ("version", "deleted"),
        "update": ("version",),
        "upsert": ("version",),
        "delete": ("version",),
        "list": ("after", "limit"),
        "history": ("after", "limit"),
    }
)
"""Arguments that say how, unless they are fields of the entity or mapped to one."""
MAX_PAGES = 10
ROOM = 1024
"""Bytes of a result's budget that a page leaves for everything but its records."""


async def execute(records: StagedRecords, verb: Verb, args: Mapping[str, Any]) -> Any:
    """Run the operation that the verb's params name; what the arguments got wrong is a business error."""
    try:
        return await _Crud(records, verb, args).run()
    except (SchemaViolationError, PayloadTooLargeError) as error:
        raise BusinessError("invalid", str(error)) from error


class _Crud:
    def __init__(self, records: StagedRecords, verb: Verb, args: Mapping[str, Any]) -> None:
        params = verb.execution.params
        self._records = records
        self._operation = str(params["operation"])
        self._shape: EntitySchema = records.shape(params["entity"])
        self._entity = self._shape.name
        self._budget = verb.execution.max_bytes
        self._returning = _names(params.get("returning"))
        self._fixed: Data = {argument_name(name): value for name, value in (params.get("set_values") or {}).items()}
        self._key_names = _names(params.get("key") or params.get("conflict_keys")) or self._shape.key
        columns = params.get("columns") or {}
        self._options = {
            name: args[name]
            for name in OPTIONS.get(self._operation, ())
            if name in args and name not in columns and name not in self._shape.fields
        }
        self._fields = {
            argument_name(columns.get(name, name)): value for name, value in args.items() if name not in self._options
        }

    async def run(self) -> Any:
        match self._operation:
            case "create":
                return self._given(await self._records.create(self._entity, {**self._fields, **self._fixed}))
            case "read":
                return await self._read()
            case "update":
                return await self._update()
            case "upsert":
                return await self._upsert()
            case "delete":
                return await self._delete()
            case "list":
                return await self._list()
            case "history":
                return await self._history()
            case unknown:
                raise AssertionError(f"the loader let the operation '{unknown}' pass")

    async def _read(self) -> Data:
        key = await self._meant("read")
        version, deleted = self._options.get("version"), bool(self._options.get("deleted"))
        return self._given(await self._records.read(self._entity, key, version, deleted=deleted))

    async def _update(self) -> Data:
        return self._given(await self._change(await self._key("update", self._key_fields())))

    async def _upsert(self) -> Data:
        """Under fields that are not the key, the key is made from their values: who comes second meets the first."""
        wanted = self._key_fields()
        is_by_key = self._key_names == self._shape.key
        makes_key = self._shape.makes_keys and self._fields.get(self._shape.key[0]) is None
        seed = "" if is_by_key else canonical(list(self._shape.values(wanted).values())).decode()
        key = None if is_by_key and makes_key else await self._find("update", wanted)
        if key is None and makes_key and seed:
            key = {self._shape.key[0]: self._shape.made_key(seed)}  # perhaps made since the others were looked at
        if key is not None and await self._is_there(key, wanted):
            return self._given(await self._change(key))
        if self._options.get("version") is not None:
            raise BusinessError("conflict", sentence("update", "record of", self._entity, "there is no such record"))
        return self._given(await self._records.create(self._entity, {**self._fields, **self._fixed}, seed=seed))

    async def _delete(self) -> Data:
        key = await self._meant("delete")
        version = self._options.get("version")
        if self._fixed:
            await self._records.update(self._entity, key, self._fixed, version)
            version = None
        record = await self._records.delete(self._entity, key, version)
        kept = {name: record[name] for name in (*self._shape.key, "version", "deleted")}
        return self._given(record) if self._returning else kept

    async def _list(self) -> Data:
        where = {**self._fields, **self._fixed}
        page = await self._records.list(self._entity, where, self._options.get("after"), self._number("limit", 100))
        kept = self._fitting([self._given(record) for record in page])
        after = page.after if len(kept) == len(page) else self._shape.key_text(page.records[len(kept) - 1])
        return {"records": kept} if after is None else {"records": kept, "after": after}

    async def _history(self) -> Data:
        key = await self._meant("read the history of")
        limit = self._number("limit", 100)
        found = await self._records.history(self._entity, key, self._number("after", 0), limit)
        kept = self._fitting(
            [{**each, "record": each["record"] and _without_nothing(each["record"])} for each in found]
        )
        is_whole = len(kept) == len(found) < limit
        return {"versions": kept} if is_whole else {"versions": kept, "after": kept[-1]["version"]}

    async def _change(self, key: Data) -> Data:
        fields = {name: value for name, value in self._fields.items() if name not in self._key_names}
        changes = {**fields, **self._fixed}
        return await self._records.update(self._entity, key, changes, self._options.get("version"))

    def _has_key(self) -> bool:
        return all(self._fields.get(name) is not None for name in self._key_names)

    def _key_fields(self) -> Data:
        return {name: self._fields.get(name) for name in self._key_names}

    async def _meant(self, do: str) -> Data:
        """The key of the one record that fits every argument."""
        if not self._has_key():
            return await self._key(do, self._fields)
        key = await self._key(do, self._key_fields())
        others = {name: value for name, value in self._fields.items() if name not in self._key_names}
        if others:
            record = await self._records.read(self._entity, key, deleted=True)
            if any(record[name] != value for name, value in self._shape.values(others).items()):
                raise self._none(do, self._fields)
        return key

    async def _key(self, do: str, wanted: Data) -> Data:
        key = await self._find(do, wanted)
        if key is None:
            raise self._none(do, wanted)
        return key

    async def _find(self, do: str, wanted: Data) -> Data | None:
        if not wanted or set(wanted) <= set(self._shape.key):
            return self._shape.key_values(wanted)
        found: list[Data] = []
        after: str | None = None
        for _ in range(MAX_PAGES):
            page = await self._records.list(self._entity, wanted, after, 2)
            found.extend(page)
            if len(found) > 1:
                fact = f"more than one has the same {', '.join(wanted)}"
                raise BusinessError("ambiguous", sentence(do, "record of", self._entity, fact, "Say which by its key."))
            if page.after is None:
                return {name: found[0][name] for name in self._shape.key} if found else None
            after = page.after
        raise BusinessError(
            "invalid", sentence(do, "record of", self._entity, "there are too many to look through", "Use its key.")
        )

    def _none(self, do: str, wanted: Data) -> BusinessError:
        shown = ", ".join(f"{name}={value}" for name, value in wanted.items())
        return BusinessError("not_found", sentence(do, "record of", self._entity, f"none has {shown[:200]}"))

    def _number(self, name: str, default: int) -> int:
        given = self._options.get(name)
        if given is not None and (not isinstance(given, int) or isinstance(given, bool) or given < 0):
            fact = f"'{name}' is not a whole number"
            raise BusinessError("invalid", sentence(self._operation, "records of", self._entity, fact))
        return given or default

    async def _is_there(self, key: Data, wanted: Data) -> bool:
        try:
            record = await self._records.read(self._entity, key)
        except BusinessError:
            return False
        return all(record[name] == value for name, value in self._shape.values(wanted).items())

    def _given(self, record: Data) -> Data:
        """What the verb returns of a record: fields without a value are left out."""
        names = self._returning or tuple(record)
        return _without_nothing({name: record.get(name) for name in names})

    def _fitting(self, items: list[Data]) -> list[Data]:
        """As many as the verb's result has room for, at least one."""
        kept: list[Data] = []
        used = ROOM
        for item in items:
            used += len(canonical(item)) + 1
            if kept and used > self._budget:
                break
            kept.append(item)
        return kept


def _without_nothing(record: Data) -> Data:
    return {name: value for name, value in record.items() if value is not None}


def _names(given: str | Iterable[str] | None) -> tuple[str, ...]:
    names = (given,) if isinstance(given, str) else tuple(given or ())
    return tuple(argument_name(name) for name in names)

"""`crud::execute`: every operation, what it gives back and how it refuses."""

from __future__ import annotations

import pytest

from perdure import Perdure
from perdure.errors import DefinitionError
from perdure.verbs import load_text
from tests.work.crud.entities import DEFINITIONS, opened, refusal, result

ID = "0191d2a4-5c00-7000-8000-0000000000aa"
OTHER = "0191d2a4-5c00-7000-8000-0000000000bb"


@pytest.mark.req("X3")
async def test_a_record_is_created_read_updated_and_deleted(store_url: str) -> None:
    async with opened(store_url) as perdure:
        made = await result(perdure, "case.open", case_id=ID, client="Allianz", amount=12.5)
        assert made == {"case_id": ID, "client": "Allianz", "status": "open", "amount": "12.5", "version": 1}
        assert await result(perdure, "case.read", case_id=ID) == made
        changed = await result(perdure, "case.update", case_id=ID, points=3, amount=None)
        assert changed == {"case_id": ID, "client": "Allianz", "status": "open", "points": 3, "version": 2}
        assert await result(perdure, "case.close", case_id=ID) == {"status": "closed", "version": 3}
        assert await result(perdure, "case.delete", case_id=ID) == {"case_id": ID, "version": 4, "deleted": True}
        kept = await result(perdure, "case.read", case_id=ID, deleted=True)
        assert (kept["client"], kept["version"], kept["deleted"]) == ("Allianz", 4, True)


@pytest.mark.req("X3")
async def test_refusals_have_codes_and_say_which_record(store_url: str) -> None:
    async with opened(store_url) as perdure:
        code, text = await refusal(perdure, "case.read", case_id=ID)
        assert code == "not_found" and f"case/{ID}" in text
        assert (await refusal(perdure, "case.update", case_id=ID, points=1))[0] == "not_found"
        await result(perdure, "case.open", case_id=ID, client="Allianz")
        assert (await refusal(perdure, "case.open", case_id=ID, client="Other"))[0] == "already_exists"
        code, text = await refusal(perdure, "case.update", case_id=ID, points=1, version=7)
        assert code == "conflict" and "it is at version 1, not 7" in text
        assert (await refusal(perdure, "case.delete", case_id=ID, version=2))[0] == "conflict"
        await result(perdure, "case.delete", case_id=ID, version=1)
        assert (await refusal(perdure, "case.update", case_id=ID, points=1))[0] == "deleted"
        assert (await refusal(perdure, "case.delete", case_id=ID))[0] == "deleted"
        code, text = await refusal(perdure, "case.read", case_id=ID)
        assert code == "not_found" and "it was deleted" in text


@pytest.mark.req("X3")
async def test_values_that_do_not_fit_are_refused_with_path_and_nearest_name(store_url: str) -> None:
    async with opened(store_url) as perdure:
        await result(perdure, "case.open", case_id=ID, client="Allianz")
        code, text = await refusal(perdure, "case.update", case_id=ID, status="clsed")
        assert code == "invalid" and "$.status" in text and "Did you mean 'closed'?" in text
        code, text = await refusal(perdure, "case.update", case_id=ID, points="three")
        assert code == "invalid" and "$.points" in text
        code, text = await refusal(perdure, "case.update", case_id=ID, client=None)
        assert code == "invalid" and "$.client: it is required" in text
        code, text = await refusal(perdure, "case.open", client="x", colour="red")
        assert code == "invalid" and "$.colour: it is not a known field" in text
        assert (await result(perdure, "case.read", case_id=ID))["version"] == 1


@pytest.mark.req("X3")
async def test_creating_a_deleted_record_again_goes_on_with_its_history(store_url: str) -> None:
    async with opened(store_url) as perdure:
        await result(perdure, "case.open", case_id=ID, client="Allianz", points=1)
        await result(perdure, "case.delete", case_id=ID)
        again = await result(perdure, "case.open", case_id=ID, client="Generali")
        assert again == {"case_id": ID, "client": "Generali", "status": "open", "version": 3}
        versions = (await result(perdure, "case.history", case_id=ID))["versions"]
        assert [(each["version"], each["deleted"]) for each in versions] == [(1, False), (2, True), (3, False)]


@pytest.mark.req("X3")
async def test_an_old_version_can_be_read(store_url: str) -> None:
    async with opened(store_url) as perdure:
        await result(perdure, "case.open", case_id=ID, client="Allianz", points=1)
        await result(perdure, "case.update", case_id=ID, points=2)
        assert (await result(perdure, "case.read", case_id=ID, version=1))["points"] == 1
        code, text = await refusal(perdure, "case.read", case_id=ID, version=9)
        assert code == "not_found" and "it has no version 9" in text


@pytest.mark.req("X3")
async def test_pages_of_a_list_hold_each_record_once_in_the_order_of_keys(store_url: str) -> None:
    async with opened(store_url) as perdure:
        made = [(await result(perdure, "case.open", client=f"client {i % 2}"))["case_id"] for i in range(11)]
        await result(perdure, "case.delete", case_id=made[0])
        found: list[str] = []
        after = {}
        for _ in range(20):
            page = await result(perdure, "case.list", limit=3, **after)
            assert len(page["records"]) <= 3
            found += [record["case_id"] for record in page["records"]]
            if "after" not in page:
                break
            after = {"after": page["after"]}
        assert found == sorted(made[1:])
        odd = await result(perdure, "case.list", client="client 1")
        assert [record["case_id"] for record in odd["records"]] == sorted(made[1::2])
        assert await result(perdure, "case.list", client="nobody") == {"records": []}


@pytest.mark.req("X3")
async def test_a_page_ends_where_the_budget_of_a_result_does(store_url: str) -> None:
    async with opened(store_url) as perdure:
        for _ in range(4):
            await result(perdure, "case.open", client="x" * 30_000)
        first = await result(perdure, "case.list")
        assert len(first["records"]) == 2
        second = await result(perdure, "case.list", after=first["after"])
        assert len(second["records"]) == 2 and "after" not in second


async def written_at(perdure: Perdure, call: str) -> str | None:
    return [event.at async for event in perdure.events(call)][-1]


@pytest.mark.req("X3")
async def test_history_says_who_when_and_in_which_call(store_url: str) -> None:
    async with opened(store_url) as perdure:
        first = await perdure.acting(principal="ann").call("case.open", {"case_id": ID, "client": "Allianz"})
        second = await perdure.acting(principal="bob").call("case.update", {"case_id": ID, "points": 2})
        versions = (await result(perdure, "case.history", case_id=ID))["versions"]
        assert [(each["principal"], each["call"], each["at"]) for each in versions] == [
            ("ann", first.id, (await written_at(perdure, first.id))),
            ("bob", second.id, (await written_at(perdure, second.id))),
        ]
        assert versions[1]["record"] == {"case_id": ID, "client": "Allianz", "status": "open", "points": 2}
        page = await result(perdure, "case.history", case_id=ID, limit=1)
        assert (len(page["versions"]), page["after"]) == (1, 1)
        rest = await result(perdure, "case.history", case_id=ID, after=1)
        assert [each["version"] for each in rest["versions"]] == [2]
        assert (await refusal(perdure, "case.history", case_id=OTHER))[0] == "not_found"


@pytest.mark.req("X3")
async def test_composite_keys_and_upsert(store_url: str) -> None:
    async with opened(store_url) as perdure:
        assert (await result(perdure, "holding.put", fund="a", isin="b,c", units=1))["version"] == 1
        assert (await result(perdure, "holding.put", fund="a,b", isin="c", units=5))["version"] == 1
        assert await result(perdure, "holding.put", fund="a", isin="b,c", units=2) == {
            "fund": "a", "isin": "b,c", "units": 2, "version": 2,
        }  # fmt: skip
        code, text = await refusal(perdure, "holding.put", fund="a", units=2)
        assert code == "invalid" and "'isin'" in text
        assert (await refusal(perdure, "holding.put", fund="n", isin="n", units=2, version=1))[0] == "conflict"
        assert (await refusal(perdure, "holding.put", fund="a", isin="b,c", units=2, version=1))[0] == "conflict"


@pytest.mark.req("X3")
async def test_a_record_is_found_by_fields_that_are_not_its_key(store_url: str) -> None:
    async with opened(store_url) as perdure:
        first = await result(perdure, "case.ensure", client="Allianz", points=1)
        assert await result(perdure, "case.ensure", client="Allianz", points=2) == {**first, "points": 2, "version": 2}
        assert (await result(perdure, "case.rename", client="Allianz", points=3))["version"] == 3
        assert (await result(perdure, "case.read", client="Allianz"))["points"] == 3
        assert (await refusal(perdure, "case.rename", client="Nobody", points=3))[0] == "not_found"
        assert (await refusal(perdure, "case.delete", case_id=first["case_id"], client="Nobody"))[0] == "not_found"
        await result(perdure, "case.open", client="Allianz")
        assert (await refusal(perdure, "case.rename", client="Allianz", points=3))[0] == "ambiguous"
        assert (await refusal(perdure, "case.read"))[0] == "invalid"


@pytest.mark.req("X3")
async def test_a_record_made_while_others_were_looked_at_is_found_by_its_made_key(
    store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(store_url) as perdure:
        first = await result(perdure, "case.ensure", client="Allianz", points=1)

        async def blind(*_: object) -> list[object]:
            return []

        monkeypatch.setattr(perdure.runtime.store, "list_entities", blind)
        assert await result(perdure, "case.ensure", client="Allianz", points=2) == {**first, "points": 2, "version": 2}


@pytest.mark.req("X3")
async def test_arguments_go_to_the_fields_they_map_to_in_both_layouts(store_url: str) -> None:
    crud = "{operation: insert, entity: case, returning: case_id}"
    args = "[{name: holder, type: string, required: true, maps_to: client}]"
    listed = f"- {{name: a.put, execution: {{handler: 'crud::execute', params: {crud}}}, args: {args}}}\n"
    nested = f"domains: {{b: {{verbs: {{put: {{behavior: crud, crud: {crud}, args: {args}}}}}}}}}\n"
    catalogue = load_text(f"{DEFINITIONS}---\n{listed}---\n{nested}")
    async with Perdure.open(store_url, definitions=catalogue) as perdure:
        for verb in ("a.put", "b.put"):
            made = await result(perdure, verb, holder=verb)
            assert list(made) == ["case_id"]
            assert (await result(perdure, "case.read", **made))["client"] == verb


@pytest.mark.req("X3")
@pytest.mark.req("V31")
async def test_tenants_do_not_see_each_others_records(store_url: str) -> None:
    async with opened(store_url) as perdure:
        north, south = perdure.acting(tenant="north"), perdure.acting(tenant="south")
        await result(north, "case.open", case_id=ID, client="Allianz")
        assert (await refusal(south, "case.read", case_id=ID))[0] == "not_found"
        assert (await refusal(south, "case.update", case_id=ID, points=1))[0] == "not_found"
        assert (await refusal(south, "case.history", case_id=ID))[0] == "not_found"
        assert await result(south, "case.list") == {"records": []}
        assert (await result(south, "case.open", case_id=ID, client="Generali"))["version"] == 1
        assert (await result(north, "case.read", case_id=ID))["client"] == "Allianz"


@pytest.mark.req("X3")
@pytest.mark.parametrize(
    ("params", "reason", "hint"),
    [
        ("set_values: {stats: open}", "'set_values' names 'stats', which is not a field of 'case'", "'status'"),
        ("returning: case-idd", "'returning' names 'case-idd'", "'case_id'"),
        ("key: [clint]", "'key' names 'clint'", "'client'"),
        ("key: 5", "'key' is neither a field nor a list of fields", ""),
        ("set_values: [status]", "'set_values' is not a mapping of fields", ""),
    ],
)
def test_params_that_name_no_field_do_not_load(params: str, reason: str, hint: str) -> None:
    verb = "- name: case.x\n  execution:\n    handler: crud::execute\n    params: {entity: case, operation: update, "
    with pytest.raises(DefinitionError) as raised:
        load_text(f"{DEFINITIONS}{verb}{params}}}\n")
    assert reason in str(raised.value) and hint in str(raised.value)


@pytest.mark.req("X3")
def test_what_a_record_says_of_itself_is_no_name_for_a_field() -> None:
    with pytest.raises(DefinitionError, match="every record has its own 'version'"):
        load_text("entities: {letter: {fields: {id: uuid, version: integer}}}\n")

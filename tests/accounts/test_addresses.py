"""The address book and what each country asks of an address."""

from dataclasses import replace

import pytest
from django.test import Client
from django.urls import reverse

from accounts import addresses, operations, queries
from accounts.addresses import COUNTRIES, Address, normalize_phone, normalize_postcode
from accounts.errors import AddressBookFull, NoSuchAddress
from accounts.forms import AddressFields
from accounts.models import User
from checkout.prefill import get_prefill
from pricing import delivery, tax
from tests.factories import make_user
from tests.reads import existing
from tests.threads import map_at_once

BERLIN = {
    "name": "Alice Arbour",
    "street": "Lindenallee 5",
    "postal_code": "10115",
    "city": "Berlin",
    "country": "DE",
}
HOME = Address("Alice", "Lindenallee 5", "10115", "Berlin", "DE")


def member() -> tuple[Client, User]:
    client, alice = Client(), make_user()
    client.force_login(alice)
    return client, alice


def book(alice: User) -> list[Address]:
    found = existing(queries.get_user(alice.pk))
    return queries.list_addresses(found)


def test_x57_spaces_dashes_and_case_in_a_postcode_are_ignored(subtests: pytest.Subtests) -> None:
    for country, typed, normalized in (
        ("DE", " 10 115", "10115"),
        ("DE", "D-10115", "10115"),
        ("FR", "75 011", "75011"),
        ("FR", "f-75011", "75011"),
        ("IE", "d02x285", "D02 X285"),
        ("IE", "D02-X285", "D02 X285"),
        ("IE", "", ""),
        ("AT", "A-1010", "1010"),
        ("BE", "b 1000", "1000"),
        ("NL", "1012ab", "1012 AB"),
        ("LU", "L-1511", "1511"),
        ("ES", "28 013", "28013"),
        ("IT", "I-00184", "00184"),
        ("PT", "1100148", "1100-148"),
        ("DK", "DK-1050", "1050"),
        ("SE", "SE-111 29", "111 29"),
        ("FI", "fi00100", "00100"),
        ("PL", "00950", "00-950"),
        ("CZ", "110 00", "110 00"),
    ):
        with subtests.test(country=country, typed=typed):
            assert normalize_postcode(typed, country) == normalized


def test_a_postcode_that_the_country_does_not_have_is_refused(subtests: pytest.Subtests) -> None:
    for country, typed in (
        ("DE", "1011"),
        ("DE", "1011A"),
        ("FR", "750111"),
        ("IE", "D02"),
        ("DE", "١٠١١٥"),
        ("FR", ""),
        ("NL", "1012"),
        ("PT", "1100"),
        ("ES", "ABCDE"),
    ):
        with (
            subtests.test(country=country, typed=typed),
            pytest.raises(ValueError, match="Enter a"),
        ):
            normalize_postcode(typed, country)


def test_x276_a_postcode_is_one_that_the_country_uses(subtests: pytest.Subtests) -> None:
    used = {
        "AT": "1010 6020 9992",
        "BE": "1000 9992",
        "CZ": "100 00|798 62",
        "DE": "01067 04275 10115 99998",
        "DK": "1050 0900 9990",
        "ES": "01001 28013 35001 51001 52006",
        "FI": "00002 00100 22100 99990",
        "FR": "01000 20000 75011 95880 97400 00100 00200",
        "IE": "D02 X285|d6wpv38|A94F4E2",
        "IT": "00118 20121 09121 98168 34121",
        "LU": "1009 9999",
        "NL": "1012 AB|9999 ZZ",
        "PL": "00-001 99-440",
        "PT": "1100-148 9980-039",
        "SE": "100 05|984 99",
    }
    unused = {
        "AT": "0101 0000",
        "BE": "0999",
        "CZ": "000 00|900 01",
        "DE": "00115 05000 43000 62000",
        "DK": "0000 0499",
        "ES": "00001 53001 99999",
        "FI": "00000",
        "FR": "96000 99999",
        "IE": "D99 X285|A65 F4E2|XXX XXXX|123 4567|D02 B285|D02 O285|D6V PV38",
        "IT": "99999 00000 00090",
        "LU": "0999",
        "NL": "0123 AB|1012 SS",
        "PL": "00-000",
        "PT": "0100-148",
        "SE": "000 00|099 99",
    }
    assert set(used) == set(unused) == set(COUNTRIES)
    for country, codes in used.items():
        for code in codes.split("|") if "|" in codes else codes.split():
            with subtests.test(country=country, used=code):
                assert normalize_postcode(code, country)
    for country, codes in unused.items():
        for code in codes.split("|") if "|" in codes else codes.split():
            with (
                subtests.test(country=country, unused=code),
                pytest.raises(ValueError, match=r"has no postcode|Enter a Dutch"),
            ):
                normalize_postcode(code, country)


def test_x276_a_northern_irish_postcode_is_called_one() -> None:
    for typed in ("BT1 5GS", "bt15gs", "BT48 6DQ"):
        form = AddressFields(BERLIN | {"country": "IE", "postal_code": typed})
        assert "Northern Ireland" in form.errors["postal_code"][0]
    # Where a code that begins so would be a mistake of another kind.
    with pytest.raises(ValueError, match="Enter a German postcode"):
        normalize_postcode("BT1 5GS", "DE")


def test_x57_a_telephone_number_may_be_written_in_any_way() -> None:
    assert normalize_phone("+353 (1) 234-5678") == "+35312345678"
    assert normalize_phone("030/123 45 67") == "0301234567"
    assert normalize_phone("") == ""
    for wrong in ("12", "call me", "+", "1" * 20, "٣٣٣٣٣٣٣"):
        with pytest.raises(ValueError, match="phone number"):
            normalize_phone(wrong)


def test_ireland_needs_no_eircode_and_germany_a_postcode() -> None:
    dublin = BERLIN | {"country": "IE", "city": "Dublin", "postal_code": ""}
    assert AddressFields(dublin).is_valid()
    missing = AddressFields(BERLIN | {"postal_code": ""})
    assert missing.errors == {"postal_code": ["Enter the postcode"]}


def test_each_country_that_we_deliver_to_has_its_form_its_ways_and_its_taxes(
    subtests: pytest.Subtests,
) -> None:
    assert (
        set(delivery.list_delivery_countries()) == set(tax.list_first_settings()) == set(COUNTRIES)
    )
    assert len(COUNTRIES) >= 15
    for country in COUNTRIES:
        with subtests.test(country):
            shape = addresses.address_format(country)
            field_names = [name for row in shape.rows for name in row]
            assert field_names[:2] == ["street", "street2"]
            assert {"street", "city"} <= shape.required_fields <= set(field_names)
            assert (
                bool(shape.area_label)
                == bool(shape.area_choices)
                == (country in {"ES", "IE", "IT"})
            )
            assert len({stored for stored, _ in shape.area_choices}) == len(shape.area_choices)
            assert delivery.list_delivery_methods(country)
            assert set(tax.get_tax_rates(country).by_class) == {"standard", "reduced"}
            with pytest.raises(ValueError, match=r"Enter an? "):
                normalize_postcode("no", country)


def test_a_country_calls_its_fields_by_their_names_and_orders_them() -> None:
    ireland, spain, germany = (
        AddressFields(initial={"country": code}) for code in ("IE", "ES", "DE")
    )
    assert [[field.name for field in row] for row in ireland.rows] == [
        ["street"],
        ["city"],
        ["area"],
        ["postal_code"],
    ]
    assert [str(ireland[name].label) for name in ("area", "postal_code")] == ["County", "Eircode"]
    assert not ireland["area"].field.required
    assert [field.name for field in spain.rows[-1]] == ["postal_code", "city", "area"]
    assert spain["area"].field.required
    assert str(spain["area"].label) == "Province"
    assert "maxlength" not in str(spain["area"])  # X141: a select has none
    assert [field.name for field in germany.rows[-1]] == ["postal_code", "city"]
    assert germany["area"].is_hidden


def test_a_province_is_asked_where_it_is_written_and_forgotten_elsewhere() -> None:
    madrid = BERLIN | {"country": "ES", "postal_code": "28013", "city": "Madrid"}
    assert AddressFields(madrid).errors == {"area": ["Choose the province"]}
    assert AddressFields(madrid | {"area": "Atlantis"}).errors == {
        "area": ["Choose the province from the list"]
    }
    form = AddressFields(madrid | {"area": "Madrid"})
    assert form.is_valid()
    assert form.cleaned_address().lines == (
        "Alice Arbour",
        "Lindenallee 5",
        "28013 Madrid Madrid",
        "Spain",
    )
    berlin = AddressFields(BERLIN | {"area": "Madrid"})
    assert berlin.is_valid()
    assert berlin.cleaned_address().area == ""


def test_an_address_is_written_as_its_country_does(subtests: pytest.Subtests) -> None:
    for country, code, area, lines in (
        ("IE", "D02 X285", "Co. Dublin", ("A 1", "B", "Town", "Co. Dublin", "D02 X285", "Ireland")),
        ("IE", "", "", ("A 1", "B", "Town", "Ireland")),
        ("IT", "00184", "RM", ("A 1", "B", "00184 Town RM", "Italy")),
        ("LU", "1511", "", ("A 1", "B", "L-1511 Town", "Luxembourg")),
        ("DE", "10115", "", ("A 1", "B", "10115 Town", "Germany")),
    ):
        with subtests.test(country=country, area=area):
            assert Address("N", "A 1", code, "Town", country, street2="B", area=area).lines == (
                "N",
                *lines,
            )


def test_another_country_shows_its_fields_and_keeps_all_that_was_typed() -> None:
    client, alice = member()
    add = reverse("accounts:address_add")
    typed = BERLIN | {
        "country": "IT",
        "postal_code": "abc",
        "street2": "Back house",
        "phone": "12",
        "update": "yes",
    }
    plain, part = client.post(add, typed), client.post(add, typed, headers={"HX-Request": "true"})
    for answer in (plain, part):
        page = answer.content.decode()
        assert answer.status_code == 200
        assert "There is a problem" not in page
        for field_html in ('value="abc"', 'value="Back house"', 'value="12"', 'value="Berlin"'):
            assert field_html in page
        assert ">Province" in page
    assert b"<h1" in plain.content
    assert b"<h1" not in part.content
    assert b'id="address-fields"' in part.content
    # To Germany and back: the province is still there.
    to_germany = client.post(add, typed | {"area": "RM", "country": "DE"}).content.decode()
    assert '<input type="hidden" name="area" value="RM"' in to_germany
    back = client.post(add, typed | {"area": "RM"}).content.decode()
    assert '<option value="RM" selected>Roma' in back
    assert book(alice) == []


def test_x59_each_mistake_is_explained_at_its_field(subtests: pytest.Subtests) -> None:
    changes: tuple[tuple[dict[str, str], str, str], ...] = (
        ({"name": "  "}, "name", "Enter the full name"),
        ({"street": ""}, "street", "Enter the street"),
        ({"city": ""}, "city", "Enter the town"),
        ({"country": "US"}, "country", "We don’t deliver there yet"),
        ({"postal_code": "1"}, "postal_code", "five digits"),
        ({"phone": "nonsense"}, "phone", "phone number"),
        ({"name": "x" * 101}, "name", "at most 100"),
    )
    for change, field, words in changes:
        with subtests.test(**change):
            form = AddressFields(BERLIN | change)
            assert not form.is_valid()
            assert words in form.errors[field][0]


def test_control_characters_and_line_breaks_do_not_get_into_an_address() -> None:
    form = AddressFields(
        BERLIN | {"name": "Alice\r\nBcc: all@example.com", "street": "A\tB  C\u2028D"}
    )
    assert form.is_valid()
    assert form.cleaned_address().name == "Alice Bcc: all@example.com"
    assert form.cleaned_address().street == "A B C D"


def test_x55_x56_x58_each_field_has_a_visible_label_its_need_and_its_token() -> None:
    client, _ = member()
    page = client.get(reverse("accounts:address_add")).content.decode()
    for token in (
        "name",
        "address-line1",
        "address-line2",
        "postal-code",
        "address-level2",
        "country",
        "tel",
    ):
        assert f'autocomplete="{token}"' in page
    for label in ("Full name", "Street and number", "Postcode", "Town or city", "Country", "Phone"):
        assert label in page
    assert page.count("required</span>") >= 5
    assert page.count("optional</span>") >= 2
    assert "For the carrier only" in page
    assert "placeholder" not in page[page.index("<h1>") : page.index("Save address")]
    assert 'type="tel"' in page
    shipping = str(AddressFields(section="shipping")["street"])
    assert 'autocomplete="shipping address-line1"' in shipping


def test_an_address_is_added_changed_and_removed() -> None:
    client, alice = member()
    assert b"No saved addresses" in client.get(reverse("accounts:addresses")).content  # X16
    # X2
    assert (
        client.post(
            reverse("accounts:address_add"), BERLIN | {"postal_code": "D-10115"}
        ).status_code
        == 303
    )
    (home,) = book(alice)
    assert (home.key, home.postal_code, home.default) == ("1", "10115", True)
    edit = reverse("accounts:address_edit", args=[1])
    text = client.get(edit).content.decode()
    assert 'value="Lindenallee 5"' in text
    assert (
        f'name="next" value="{edit}"' in text
    )  # the header's: what the page calls an address is another one
    client.post(edit, BERLIN | {"street": "Ahornweg 7"})
    assert book(alice)[0].street == "Ahornweg 7"
    assert b"Ahornweg 7" in client.get(reverse("accounts:addresses")).content
    for _ in range(2):
        assert client.post(reverse("accounts:address_remove", args=[1])).status_code == 303
    assert book(alice) == []
    assert client.get(edit).status_code == 404
    assert client.post(edit, BERLIN).status_code == 404


def test_x60_a_wrong_address_is_shown_again_as_typed_and_nothing_is_saved() -> None:
    client, alice = member()
    answer = client.post(
        reverse("accounts:address_add"), BERLIN | {"postal_code": "abc 12", "street2": "Back house"}
    )
    page = answer.content.decode()
    assert answer.status_code == 422
    assert 'value="abc 12"' in page
    assert '<details class="fold" open>' in page
    assert page.count("Enter a German postcode: five digits, for example 10115") == 2
    assert book(alice) == []


def test_one_address_is_the_default_and_another_takes_its_place() -> None:
    _, alice = member()
    first = operations.save_address(alice.pk, HOME)
    second = operations.save_address(alice.pk, HOME, default=True)
    assert [(each.key, each.default) for each in book(alice)] == [(second, True), (first, False)]
    operations.remove_address(alice.pk, second)
    assert [(each.key, each.default) for each in book(alice)] == [(first, True)]


def test_the_default_address_offers_no_tick_that_could_be_taken_away() -> None:
    client, alice = member()
    for street in ("First Street 1", "Second Street 2"):
        client.post(reverse("accounts:address_add"), BERLIN | {"street": street})
    first, second = (
        client.get(reverse("accounts:address_edit", args=[key.key])) for key in book(alice)
    )
    assert "This is your default address" in first.content.decode()
    assert 'name="default"' not in first.content.decode()
    assert 'name="default"' in second.content.decode()


def test_a_submit_of_remove_that_comes_back_as_a_visit_shows_the_book() -> None:
    client, alice = member()
    client.post(reverse("accounts:address_add"), BERLIN)
    answer = client.get(reverse("accounts:address_remove", args=[book(alice)[0].key]))
    assert (answer.status_code, answer["Location"]) == (302, reverse("accounts:addresses"))
    assert len(book(alice)) == 1


def test_an_address_that_is_gone_cannot_be_changed_back_into_the_book() -> None:
    _, alice = member()
    key = operations.save_address(alice.pk, HOME)
    operations.remove_address(alice.pk, key)
    with pytest.raises(NoSuchAddress):
        operations.save_address(alice.pk, Address(**(HOME.stored_fields() | {"key": key})))  # type: ignore[arg-type]
    with pytest.raises(NoSuchAddress):
        operations.remove_address(alice.pk, key)


def test_the_book_holds_20_addresses_whoever_races() -> None:
    client, alice = member()
    for _ in range(14):
        operations.save_address(alice.pk, HOME)

    def add(number: int) -> bool:
        try:
            operations.save_address(
                alice.pk, Address(f"Racer {number}", "Street 1", "10115", "Berlin", "DE")
            )
        except AddressBookFull:
            return False
        return True

    added = map_at_once(add, range(10))
    assert added.count(True) == 6
    addresses = book(alice)
    assert len(addresses) == 20
    assert {each.name for each in addresses if each.name != "Alice"} == {
        f"Racer {n}" for n, yes in enumerate(added) if yes
    }
    assert b"Your address book is full" in client.get(reverse("accounts:addresses")).content
    full = client.post(reverse("accounts:address_add"), BERLIN)
    assert full.status_code == 422
    assert b"Remove one to add another" in full.content


def test_s22_another_members_address_is_not_there() -> None:
    alice, (client, _) = make_user(), member()
    operations.save_address(alice.pk, HOME)
    assert client.get(reverse("accounts:address_edit", args=[1])).status_code == 404
    assert client.post(reverse("accounts:address_remove", args=[1])).status_code == 303
    assert len(book(alice)) == 1


def test_s27_what_is_typed_is_shown_as_text() -> None:
    client, alice = member()
    evil = '<script>alert(1)</script><b hx-get="/x">'
    client.post(reverse("accounts:profile"), {"name": evil})
    client.post(reverse("accounts:address_add"), BERLIN | {"name": evil, "street": evil})
    for address in ("accounts:profile", "accounts:addresses"):
        page = client.get(reverse(address)).content.decode()
        assert "<script>alert" not in page
        assert "&lt;script&gt;alert" in page
        assert '<b hx-get="/x">' not in page
    assert book(alice)[0].name == evil


def test_name_and_telephone_are_changed_and_what_is_none_is_refused() -> None:
    client, alice = member()
    page = reverse("accounts:profile")
    assert client.post(page, {"name": " Alice  B. ", "phone": "030 / 12-34 56"}).status_code == 303
    found = existing(queries.get_user(alice.pk))
    assert (found.name, found.phone) == ("Alice B.", "030123456")
    assert client.post(page, {"name": " "}).status_code == 422
    wrong = client.post(page, {"name": "Alice", "phone": "ring me"})
    assert wrong.status_code == 422
    assert "Enter a phone number" in wrong.content.decode()
    assert 'value="ring me"' in wrong.content.decode()
    # The checkout has it, where no address has another.
    assert get_prefill(found, "DE")["phone"] == "030123456"
    operations.save_address(alice.pk, replace(HOME, phone="+35312345"))
    assert get_prefill(queries.get_user(alice.pk), "DE")["phone"] == "+35312345"
    assert client.post(page, {"name": "Alice", "phone": ""}).status_code == 303
    found = existing(queries.get_user(alice.pk))
    assert found.phone == ""


def test_s56_personal_pages_are_kept_by_no_cache() -> None:
    client, _ = member()
    for name in ("accounts:profile", "accounts:addresses", "accounts:address_add"):
        assert "no-store" in client.get(reverse(name))["Cache-Control"]

"""What is set for the whole shop: read at most every five seconds, saved against all that is there."""

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any
from unittest.mock import patch

import pytest
import time_machine
from moneyed import EUR, Money

from cassandra_db import CassandraUnavailable, count_statements, process_copies
from cassandra_db.process_copies import Dated
from cassandra_db.session import get_session, keyspace_name
from catalogue.colour_settings import COLOURS, ColourSetting
from catalogue.search_rules import TWO_WAY, SearchRule
from consistency.findings import Scope
from consistency.shop_settings import KINDS
from conversations.saved_replies import SavedReply
from demo.loader import FORMER_RATES, load_settings
from inventory.warehouses import WAREHOUSE
from mail.texts import MailTexts
from pricing.delivery import list_delivery_countries, list_delivery_methods
from pricing.delivery_settings import DELIVERY, DeliverySetting
from pricing.tax import TAX, DatedRates, get_tax_rates
from shop_settings import queries
from shop_settings.errors import SettingChanged, SettingRefused
from shop_settings.kinds import SettingKind, SettingsSnapshot
from shop_settings.operations import remove_setting, save_setting
from shop_settings.queries import (
    CURRENT_SETTINGS,
    clear_settings_cache,
    get_settings,
    get_settings_at_quorum,
)
from shop_settings.terms import TERMS, get_terms
from tests.clock import now
from tests.consistency.test_check_consistency import cql, found
from tests.lost_answers import AnswerLosingSession
from tests.shop_settings.saved import own_settings
from tests.threads import map_at_once

__all__ = ["own_settings"]


def methods() -> Mapping[str, DeliverySetting]:
    return get_settings_at_quorum().get_values(DELIVERY)


def save(key: str, **changes: Any) -> DeliverySetting:
    """Save a method as it is now, changed."""
    before = methods()[key]
    setting = replace(before, **changes)
    save_setting(DELIVERY, key, setting, DELIVERY.fingerprint(before), now())
    return setting


def price(country: str) -> Money:
    return list_delivery_methods(country)[0].price


def test_x157_each_kind_is_read_as_it_was_written() -> None:
    kinds: list[SettingKind[Any]] = list(KINDS.values())
    for kind in kinds:
        for key, value in kind.first_values().items():
            assert kind.parse(key, kind.dump(value)) == value, (kind.name, key)


def test_x157_what_a_later_version_has_stored_is_passed_over() -> None:
    """After a rollback each page is drawn: the footer is in all of them."""
    # Kinds without a setting in a new shop.
    samples: dict[str, Any] = {
        "colours": ColourSetting("x", "aaffcc"),
        "search_rules": SearchRule("x", TWO_WAY, "cup, mug"),
        "saved_replies": SavedReply("x", "Thanks", "Thank you"),
        "mail texts": MailTexts("x", "Hello"),
        "restores": datetime.now(UTC),
    }
    kinds: list[SettingKind[Any]] = list(KINDS.values())
    for kind in kinds:
        for key, value in (kind.first_values() or {"x": samples[kind.name]}).items():
            assert kind.parse(key, _with_later_fields(kind.dump(value))) == value, (kind.name, key)


def _with_later_fields(value: Any) -> Any:
    """Return stored JSON with a further field in each of its objects."""
    if isinstance(value, dict):
        return {name: _with_later_fields(each) for name, each in value.items()} | {"later": 1}
    return list(map(_with_later_fields, value)) if isinstance(value, list) else value


@pytest.mark.usefixtures("own_settings")
def test_x157_what_was_read_serves_for_five_seconds_and_longer_while_cassandra_is_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = [1000.0]
    monkeypatch.setattr(CURRENT_SETTINGS, "max_seconds", 5.0)
    monkeypatch.setattr(process_copies, "monotonic", lambda: clock[0])
    clear_settings_cache()
    with count_statements() as meter:
        assert price("DE") == Money("4.90", EUR)
        clock[0] += 4.9
        assert price("DE") == Money("4.90", EUR)
    assert meter.read_count == 1
    # Another process saves: this one sees it once its copy is five seconds old.
    kept = CURRENT_SETTINGS.cached
    save("standard-de", price=Decimal("5.50"))
    CURRENT_SETTINGS.cached = kept
    assert price("DE") == Money("4.90", EUR)
    clock[0] += 0.2
    assert price("DE") == Money("5.50", EUR)
    with patch.object(queries, "SETTINGS") as away, count_statements() as meter:
        away.start.side_effect = CassandraUnavailable("away")
        clock[0] += 60
        for _ in range(3):
            assert price("DE") == Money("5.50", EUR)
        assert away.start.call_count == 1
        clear_settings_cache()
        for _ in range(2):  # a page that wants to know two things waits once
            with pytest.raises(CassandraUnavailable):
                get_settings()
        assert away.start.call_count == 2
        clock[0] += 1.0
    assert meter.statement_count == 0
    # A read that another thread overtakes does not take its place.
    with patch.object(queries, "SETTINGS") as slow:

        def overtaken(**_key: object) -> object:
            CURRENT_SETTINGS.cached = newer
            return slow.pending

        newer = Dated(SettingsSnapshot(None, {}), keyspace_name(), clock[0] + 1)
        slow.start.side_effect, slow.pending.rows.return_value = overtaken, []
        assert get_settings() is not newer.value
    assert CURRENT_SETTINGS.cached is newer


@pytest.mark.usefixtures("own_settings")
def test_x157_a_letter_of_any_alphabet_is_stored_as_itself() -> None:
    """An escaped one takes up to six bytes for two, and the table's bound counts four at most."""
    save("standard-de", name="Почта 📦")
    rows = list(queries.SETTINGS.all(shop=DELIVERY.partition))
    assert [row.kind for row in rows if "Почта 📦" in row.value] == [DELIVERY.name]
    assert methods()["standard-de"].name == "Почта 📦"


@pytest.mark.usefixtures("own_settings")
def test_a_demo_load_that_was_cut_off_loads_the_rest_and_leaves_what_the_staff_have_set() -> None:
    save("standard-de", price=Decimal("5.50"))
    for _ in range(2):
        load_settings(now(), lambda: None)
    saved = get_settings_at_quorum()
    assert saved.get_values(DELIVERY)["standard-de"].price == Decimal("5.50")
    assert FORMER_RATES in saved.get_values(TAX)["FI"].periods
    assert len(saved.get_values(WAREHOUSE)) == 3


@pytest.mark.usefixtures("own_settings")
def test_x157_saves_side_by_side_are_all_kept_and_a_stale_one_is_not() -> None:
    keys = [f"standard-{country}" for country in ("de", "at", "fr", "it", "nl", "se")]
    map_at_once(lambda key: save(key, price=Decimal("1.00")), keys)
    assert {methods()[key].price for key in keys} == {Decimal("1.00")}
    before = methods()["standard-de"]
    seen = DELIVERY.fingerprint(before)
    second = replace(before, price=Decimal("2.00"))
    for _ in range(2):  # sent twice
        save_setting(DELIVERY, before.key, second, seen, now())
    with pytest.raises(SettingChanged):
        save_setting(DELIVERY, before.key, replace(before, price=Decimal("3.00")), seen, now())
    with pytest.raises(SettingChanged):
        remove_setting(DELIVERY, before.key, seen, now())
    lossy = AnswerLosingSession(get_session())
    with patch("cassandra_db.statements.get_session", lambda: lossy):
        save("standard-de", price=Decimal("4.00"))
    assert lossy.lost_count == 1
    assert methods()["standard-de"].price == Decimal("4.00")
    remove_setting(DELIVERY, "standard-lu", DELIVERY.fingerprint(methods()["standard-lu"]), now())
    remove_setting(DELIVERY, "standard-lu", "", now())
    assert [each.code for each in list_delivery_methods("LU")] == ["express"]


@pytest.mark.usefixtures("own_settings")
def test_x159_what_cannot_be_together_is_refused() -> None:
    with pytest.raises(SettingRefused, match="offered to Austria twice"):
        save("standard-de", countries=("AT", "DE"))
    # One after the other is no overlap, and switched off none either.
    save("standard-at", valid_until=date(2030, 6, 30))
    save("standard-de", countries=("AT", "DE"), valid_from=None, is_active=False)
    first = methods()["standard-de"]
    with pytest.raises(SettingRefused, match="offered to Austria twice"):
        save("standard-de", is_active=True)
    with pytest.raises(SettingRefused, match="no tax rates for Norway"):
        save("standard-fr", countries=("FR", "NO"))
    assert methods()["standard-de"] == first
    usual = [key for key, each in methods().items() if each.is_active]
    for key in usual[:-1]:
        save(key, is_active=False)
    with pytest.raises(SettingRefused, match="One active method has to stay"):
        save(usual[-1], valid_until=date(2030, 1, 1))
    finland = get_settings_at_quorum().get_values(TAX)["FI"]
    twice = replace(finland, periods=finland.periods * 2)
    with pytest.raises(SettingRefused, match="begin on the same day"):
        save_setting(TAX, "FI", twice, TAX.fingerprint(finland), now())


@pytest.mark.usefixtures("own_settings")
def test_x160_rates_methods_and_terms_begin_and_end_at_midnight_where_the_shop_is() -> None:
    finland = get_settings_at_quorum().get_values(TAX)["FI"]
    later = DatedRates(date(2027, 7, 1), (Decimal("24"), Decimal("10")))
    planned = replace(finland, periods=(*finland.periods, later))
    save_setting(TAX, "FI", planned, TAX.fingerprint(finland), now())
    save("express-de", valid_until=date(2027, 6, 30))
    terms = replace(get_terms(), key="new", valid_from=date(2027, 7, 1), return_days=60)
    save_setting(TERMS, "new", terms, "", now())
    # Dublin is an hour ahead of UTC in summer.
    for moment, rate, codes, days in (
        ("2027-06-30T22:59:59+00:00", "25.5", ["standard", "express"], 30),
        ("2027-06-30T23:00:00+00:00", "24", ["standard"], 60),
    ):
        with time_machine.travel(datetime.fromisoformat(moment), tick=False):
            assert get_tax_rates("FI").by_class["standard"] == Decimal(rate)
            assert [each.code for each in list_delivery_methods("DE")] == codes
            assert get_terms().return_days == days
            assert get_terms(date(2027, 6, 30)).return_days == 30


@pytest.mark.usefixtures("own_settings")
def test_i30_settings_that_cannot_be_read_or_break_their_rules_are_named() -> None:
    scope = Scope(tables=frozenset(("shop_settings",)))
    save("standard-de", price=Decimal("5.00"))
    assert found(scope, "I30") == []
    was = get_settings_at_quorum().stored["delivery"]
    update = "UPDATE shop_settings SET value = %s WHERE shop = 'shop' AND kind = 'delivery' AND key = 'standard-de'"
    for value, fault in (
        (
            {"countries": ["AT", "DE"]},
            "break their rules (Standard would be offered to Austria twice",
        ),
        ({"price": "a lot"}, "cannot be read (InvalidOperation)"),
    ):
        cql(update, json.dumps({**was["standard-de"], **value}))
        (named,) = found(scope, "I30")
        assert fault in named
    cql(update, json.dumps(was["standard-de"]))
    # A partition of its own is checked as well.
    save_setting(COLOURS, "ink", ColourSetting("ink", "2f4160"), "", now())
    assert found(scope, "I30") == []
    broken = json.dumps({"hex": "blue", "family": ""})
    cql(
        update.replace("'shop'", "'colours'")
        .replace("delivery", "colours")
        .replace("standard-de", "ink"),
        broken,
    )
    (named,) = found(scope, "I30")
    assert "settings colours: break their rules" in named


def test_x157_a_new_shop_delivers_as_it_always_has() -> None:
    assert len(list_delivery_countries()) == 15
    assert list_delivery_countries()[0] == "DE"
    standard, express = list_delivery_methods("IE")
    assert (standard.label, standard.price, standard.days) == (
        "Standard, An Post",
        Money("5.90", EUR),
        (2, 4),
    )
    assert (express.carrier, express.free_from) == ("DPD Ireland", None)

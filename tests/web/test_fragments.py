"""Parts of pages that are drawn once: under all that they show, in a bounded memory."""

import gc
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from runpy import run_path
from typing import Any
from uuid import uuid4

import pytest
from django.template import Context, Template, TemplateSyntaxError
from django.template.loader import render_to_string
from django.utils.safestring import SafeString
from django.utils.translation import override
from moneyed import EUR, Money
from pytest_django import Settings

from catalogue import entities
from catalogue.entities import ProductCard
from catalogue.queries import PAGE_LENGTH
from tests.environment import ROOT
from web.text_cache import FRAGMENTS, Content, TextCache


def draw(template: str, **context: Any) -> str:
    return Template("{% load fragments %}" + template).render(Context(context))


def make_card(name: str) -> ProductCard:
    price, created_at = Money("12.00", EUR), datetime.now(UTC) - timedelta(days=60)
    return ProductCard(
        *(uuid4(), name, "mug", "Kilnbrook", "mug/c8724c-efeae0", ("ffffff",), 1, price, False),
        *(None, None, 0, 0, False, "in", created_at),
    )


def test_x114_a_card_is_drawn_anew_when_anything_of_it_changes(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = datetime.now(UTC)
    card = make_card("Mug")
    changed: dict[str, Any] = {
        "name": "Cup",
        "slug": "cup",
        "brand": "Other",
        "picture": "mug/000000-efeae0",
        "swatches": ("ffffff", "000000"),
        "variant_count": 2,
        "price": Money("13.00", EUR),
        "price_varies": True,
        "compare_at": Money("20.00", EUR),
        "rating_count": 3,
        "bestseller": True,
        "availability": "few",
        "created_at": now,
    }
    contexts: list[dict[str, Any]] = [
        {"card": replace(card, **{name: value})} for name, value in changed.items()
    ]
    contexts += [{"card": card, "eager": True}, {"card": card, "first": True}, {"card": card}]
    seen = set()
    for context in contexts * 2:
        settings.FRAGMENT_CACHE_BYTES = 10**6
        text = render_to_string("catalogue/_card.html", context)
        settings.FRAGMENT_CACHE_BYTES = 0
        assert text == render_to_string("catalogue/_card.html", context), context
        seen.add(text)
    assert len(seen) == len(contexts)
    settings.FRAGMENT_CACHE_BYTES = 10**6
    new = {"card": replace(card, created_at=now)}
    assert ">New<" in render_to_string("catalogue/_card.html", new)
    monkeypatch.setattr(entities, "current_time", lambda: now + timedelta(days=31))
    assert ">New<" not in render_to_string("catalogue/_card.html", new)


def test_x114_what_is_not_in_the_key_is_not_drawn() -> None:
    template = (
        "{% fragment a user.name %}{{ a }}{{ b }}{{ user.name }}{{ user.email }}{% endfragment %}"
    )
    user = {"name": "Ann", "email": "ann@example.com"}
    assert draw(template, a=1, b=2, user=user) == "1Ann"


def test_s85_blanks_are_put_in_for_each_and_escaped() -> None:
    made = Template(
        "{% load fragments %}{% fragment a blank token user.name %}{{ a }}:{{ token }}:{{ user.name }}{% endfragment %}"
    )
    misses = FRAGMENTS.misses
    texts = [
        made.render(Context({"a": "<", "token": token, "user": {"name": name}}))
        for token, name in (("t1", "<b>"), ("t2", SafeString("<i>")))
    ]
    assert texts == ["&lt;:t1:&lt;b&gt;", "&lt;:t2:<i>"]
    assert FRAGMENTS.misses == misses + 1


def test_x114_what_is_made_of_the_key_is_made_once() -> None:
    made: list[int] = []

    def make() -> str:
        made.append(1)
        return "made"

    template = Template(
        "{% load fragments %}{% fragment a drawing b %}{{ a }}{{ b }}{% endfragment %}"
    )
    assert [template.render(Context({"a": 7, "b": make})) for _ in range(3)] == ["7made"] * 3
    assert len(made) == 1


def test_x114_equal_values_that_look_different_are_different_keys() -> None:
    template = Template("{% load fragments %}{% fragment a %}{{ a }}{% endfragment %}")
    values = [1, True, Decimal("1.0"), "<b>", SafeString("<b>")]
    texts = [template.render(Context({"a": value})) for value in values * 2]
    assert texts == ["1", "True", "1.0", "&lt;b&gt;", "<b>"] * 2
    translated = Template(
        "{% load fragments %}{% fragment %}{% translate 'Yes' %}{% endfragment %}"
    )
    found = []
    for language in ("en", "de"):
        with override(language):
            found.append(translated.render(Context()))
    assert found == ["Yes", "Ja"]


@pytest.mark.parametrize("wrong", ["a.b.c", "'text'", "7"])
def test_a_fragment_takes_names_alone(wrong: str) -> None:
    with pytest.raises(TemplateSyntaxError, match="fragment takes variables"):
        draw(f"{{% fragment {wrong} %}}{{% endfragment %}}")


def test_what_has_no_hash_is_no_key() -> None:
    with pytest.raises(TypeError, match="unhashable"):
        draw("{% fragment a %}{% endfragment %}", a=[])


@dataclass(frozen=True)
class Thing:
    name: str


def test_x115_a_process_keeps_no_more_bytes_than_it_may(settings: Settings) -> None:
    settings.SMALL_CACHE_BYTES = 50_000
    cache = TextCache[str]("SMALL_CACHE_BYTES")
    keys = [Content(Thing(f"{number}" * 100), (number,)) for number in range(100)]
    for key in keys:
        text = "x" * 1000
        cache.put(key, text)
        assert cache.get(keys[0])  # asked for again and again: it stays
        assert cache.byte_count <= 50_000
    assert 20 < len(cache) < 45
    assert cache.get(keys[1]) is None
    assert cache.get(keys[-1])
    assert (cache.hits, cache.misses, cache.hit_percent) == (101, 1, 99)
    cache.put(keys[-1], "y")
    assert cache.get(keys[-1]) == "y"
    assert cache.get(keys[-1], str.isdigit) is None  # no longer good: neither found nor kept
    assert (cache.hits, cache.misses) == (102, 2)
    assert cache.get(keys[-1]) is None
    cache.put(Content("too large"), "z" * 60_000)
    assert not len(cache)
    assert cache.byte_count == 0


def test_x115_the_bytes_that_are_counted_are_those_that_are_taken(settings: Settings) -> None:
    settings.SMALL_CACHE_BYTES = 1_500_000

    def card(number: int) -> ProductCard:
        made = make_card(f"Mug {number}")
        return replace(made, slug=f"mug-{number}", brand=f"Brand {number}", picture=f"mug/{number}")

    makers: tuple[Callable[[int], Any], ...] = (card, lambda number: number)
    for make in makers:
        cache = TextCache[str]("SMALL_CACHE_BYTES")
        tracemalloc.start()
        before = tracemalloc.get_traced_memory()[0]
        for number in range(3000):
            cache.put(Content(make(number + 1000)), f"{number}" * 20)
        gc.collect()
        taken = tracemalloc.get_traced_memory()[0] - before
        tracemalloc.stop()
        assert len(cache) < 3000 or cache.byte_count > 0.9 * cache.max_bytes
        assert taken < 1.1 * cache.byte_count


def test_x115_of_a_list_longer_than_a_page_the_cards_alone_are_kept(settings: Settings) -> None:
    settings.FRAGMENT_CACHE_BYTES = 10**6
    for card_count, list_count in ((PAGE_LENGTH, 1), (PAGE_LENGTH + 1, 0)):
        cards = tuple(make_card(f"Mug {number}") for number in range(card_count))
        FRAGMENTS.clear()
        text = render_to_string("catalogue/_cards.html", {"cards": cards})
        assert text.count('class="card"') == card_count
        assert len(FRAGMENTS) == card_count + list_count


def test_x115_while_templates_are_written_nothing_is_kept(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEBUG", "1")
    of_dev = run_path(str(ROOT / "storefront" / "settings.py"))
    assert (of_dev["FRAGMENT_CACHE_BYTES"], of_dev["WHOLE_PAGE_CACHE_BYTES"]) == (0, 0)
    settings.FRAGMENT_CACHE_BYTES = 0
    count = len(FRAGMENTS)
    template = "{% fragment a blank b %}{{ a }}{{ b }}{% endfragment %}"
    assert draw(template, a=1, b=2) == "12"
    assert len(FRAGMENTS) == count

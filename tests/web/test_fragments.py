"""Page fragments that are drawn once: under all that they show, in a bounded memory."""

import gc
import re
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass, is_dataclass, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from inspect import isfunction, signature
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

from cart import shown_cart, with_product
from catalogue import entities
from catalogue.entities import ProductCard
from catalogue.queries import PAGE_LENGTH
from catalogue.templatetags import cards, menus
from catalogue.templatetags.cards import CardInList, make_card_list
from orders.lifecycle.entities import OrderSummary
from orders.views import placed_orders
from storefront import fragments, list_filters, suggestions
from storefront.templatetags import header
from tests.architecture.template_names import list_templates, read_template
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
    listed = [
        make_card_list([replace(card, **{name: value})]).cards()[0]
        for name, value in changed.items()
    ]
    shown = CardInList(card, is_new=False)
    listed += [replace(shown, is_eager=True), replace(shown, is_first=True), shown]
    seen = set()
    for each in listed * 2:
        settings.FRAGMENT_CACHE_BYTES = 10**6
        text = render_to_string("catalogue/_card.html", {"card": each})
        settings.FRAGMENT_CACHE_BYTES = 0
        assert text == render_to_string("catalogue/_card.html", {"card": each}), each
        seen.add(text)
    assert len(seen) == len(listed)
    settings.FRAGMENT_CACHE_BYTES = 10**6
    new = {"cards": (replace(card, created_at=now),)}
    assert ">New<" in render_to_string("catalogue/_cards.html", new)
    monkeypatch.setattr(entities, "current_time", lambda: now + timedelta(days=31))
    assert ">New<" not in render_to_string("catalogue/_cards.html", new)


@dataclass(frozen=True)
class Shown:
    a: Any

    def made(self) -> str:
        MADE.append(self.a)
        return f"made of {self.a}"


MADE: list[object] = []


def test_x114_what_is_not_in_the_key_is_not_drawn() -> None:
    template = "{% fragment shown blank user.name %}{{ shown.a }}{{ b }}{{ user.name }}{{ user.email }}{% endfragment %}"
    user = {"name": "Ann", "email": "ann@example.com"}
    assert draw(template, shown=Shown(1), b=2, user=user) == "1Ann"


def test_s85_blanks_are_put_in_for_each_and_escaped() -> None:
    made = Template(
        "{% load fragments %}{% fragment shown blank token user.name %}{{ shown.a }}:{{ token }}:{{ user.name }}{% endfragment %}"
    )
    misses = FRAGMENTS.misses
    texts = [
        made.render(Context({"shown": Shown("<"), "token": token, "user": {"name": name}}))
        for token, name in (("t1", "<b>"), ("t2", SafeString("<i>")))
    ]
    assert texts == ["&lt;:t1:&lt;b&gt;", "&lt;:t2:<i>"]
    assert FRAGMENTS.misses == misses + 1


def test_x114_what_is_made_of_the_key_is_made_once() -> None:
    template = Template("{% load fragments %}{% fragment shown %}{{ shown.made }}{% endfragment %}")
    MADE.clear()
    texts = [template.render(Context({"shown": Shown(7)})) for _ in range(3)]
    assert texts == ["made of 7"] * 3
    assert MADE == [7]


def test_x114_what_is_drawn_while_the_brand_changes_is_kept_under_neither_brand(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    template = Template("{% load fragments %}{% fragment shown %}{{ shown.made }}{% endfragment %}")
    asked = "web.templatetags.fragments.get_drawing_key"
    MADE.clear()
    # The brand changes while the part is drawn. Then the former one is used again.
    for key in (lambda: "new" if MADE else "old", lambda: "old", lambda: "old"):
        monkeypatch.setattr(asked, key)
        template.render(Context({"shown": Shown(8)}))
    assert MADE == [8, 8]


def test_x114_equal_values_that_look_different_are_different_keys() -> None:
    template = Template("{% load fragments %}{% fragment shown %}{{ shown.a }}{% endfragment %}")
    values = [1, True, Decimal("1.0"), "<b>", SafeString("<b>")]
    texts = [template.render(Context({"shown": Shown(value)})) for value in values * 2]
    assert texts == ["1", "True", "1.0", "&lt;b&gt;", "<b>"] * 2
    translated = Template(
        "{% load fragments %}{% fragment %}{% translate 'Yes' %}{% endfragment %}"
    )
    found = []
    for language in ("en", "de"):
        with override(language):
            found.append(translated.render(Context()))
    assert found == ["Yes", "Ja"]


@pytest.mark.parametrize(
    "wrong", ["a.b", "'text'", "a b", "a|lower", "a blank b.c.d", "blank 'text'"]
)
def test_a_fragment_takes_one_view_object_and_names(wrong: str) -> None:
    with pytest.raises(TemplateSyntaxError, match="fragment takes"):
        draw(f"{{% fragment {wrong} %}}{{% endfragment %}}")


def test_what_has_no_hash_is_no_key() -> None:
    with pytest.raises(TypeError, match="unhashable"):
        draw("{% fragment shown %}{% endfragment %}", shown=Shown([]))


def list_view_classes() -> dict[str, Any]:
    """Return the view objects' classes, by the names that templates know."""
    return {
        re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower(): each
        for module in (
            *(fragments, cards, header, list_filters, menus, suggestions),
            *(shown_cart, with_product, placed_orders),
        )
        for name, each in vars(module).items()
        if is_dataclass(each) and each.__module__ == module.__name__
    } | {"card": cards.CardInList, "order_summary": OrderSummary, "text_page": fragments.ShownText}


def test_x114_a_view_object_has_what_its_fragment_reads_of_it() -> None:
    classes = list_view_classes()
    read = set().union(*(read_template(each).of_views for each in list_templates()))
    for name, attribute in read:
        made = classes[name]
        assert attribute in {*made.__dataclass_fields__, *dir(made)}, f"{name}.{attribute}"
    assert ("product_body", "product") in read


def test_x114_view_objects_are_frozen_and_their_methods_know_their_fields_alone() -> None:
    for name, each in list_view_classes().items():
        assert each.__dataclass_params__.frozen, name
        assert each.__hash__ is not None, name
        for method_name, method in vars(each).items():
            function = getattr(method, "fget", None) or getattr(method, "func", method)
            if isfunction(function) and not method_name.startswith("__"):
                assert list(signature(function).parameters) == ["self"], f"{name}.{method_name}"
                names = {*function.__code__.co_names}
                assert not names & {"localdate", "current_time", "now", "settings"}, method_name


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


def test_x115_each_page_of_a_list_is_kept_as_a_whole(settings: Settings) -> None:
    settings.FRAGMENT_CACHE_BYTES = 10**6
    for card_count, list_count in ((PAGE_LENGTH, 1), (PAGE_LENGTH + 1, 2)):
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
    template = "{% fragment shown blank b %}{{ shown.a }}{{ b }}{% endfragment %}"
    assert draw(template, shown=Shown(1), b=2) == "12"
    assert len(FRAGMENTS) == count

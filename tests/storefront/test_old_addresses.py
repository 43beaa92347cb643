"""X544, X545, X546, S122: addresses of a former shop lead to pages of this one, and samples of those that do not are kept."""

import re
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from unittest.mock import Mock
from uuid import uuid4

import pytest
from django.conf import settings
from django.core.cache import cache
from django.http import HttpResponseBase
from django.test import Client

from cassandra_db import CassandraUnavailable, count_statements
from catalogue import missing_addresses, operations, queries
from catalogue.errors import RedirectChanged, RedirectRefused
from catalogue.menu_links import make_category_target
from catalogue.missing_addresses import list_missing, sample_missing
from catalogue.operations import redirects
from catalogue.operations.redirects import (
    get_redirect,
    parse_new_address,
    parse_old_address,
    save_redirect,
)
from storefront.views import errors
from tests.catalogue.redirects import allow_in_shard, find_path_beside
from tests.clock import now
from tests.factories import make_category, make_product
from tests.reads import existing
from tests.threads import map_at_once


def led_to(answer: HttpResponseBase) -> tuple[int, str]:
    return answer.status_code, answer.get("Location", "")


def test_x544_a_former_shops_address_of_a_product_leads_to_its_page(client: Client) -> None:
    old, product = f"/shop/blue%20what%3f-{uuid4().hex}.html", make_product()
    page = f"/p/{product.slug}/"
    operations.save_product(replace(product, old_addresses=f"https://a.example{old}"), now())
    assert client.get(old)["Cache-Control"] == f"max-age={errors.REDIRECT_SECONDS}"
    for address in (
        *(
            old,
            f"{old.upper()}/?variant=7",
            f"/products/{product.slug}",
            f"/product/{product.slug}/",
        ),
        *(f"/collections/cups/products/{product.slug}?utm=x", f"/de/product/{product.slug}.html"),
    ):
        assert led_to(client.get(address)) == (301, page), address
        assert led_to(client.head(address)) == (301, page), address
    assert client.post(old).status_code == 404
    for unknown in ("/products/", "/products/no-such", f"/blog/{product.slug}", "/%2F[x"):
        assert client.get(unknown).status_code == 404, unknown
    # The page says that it is no longer sold; a draft is still nobody's business.
    for status, answer in (("archived", (301, page)), ("draft", (404, ""))):
        found = existing(queries.get_product_at_quorum(product.product_id))
        found = operations.change_product_status(found, status, now())
        assert found.status == status
        assert led_to(client.get(old)) == answer


def test_x544_a_page_of_this_shop_and_a_product_to_come_lead_to_no_other_product(
    client: Client,
) -> None:
    other, slug = make_product(), f"vase-{uuid4().hex}"
    operations.save_product(replace(other, old_addresses=f"/p/{slug} /new"), now())
    assert led_to(client.get(f"/p/{slug}/")) == (301, f"/p/{other.slug}/")
    vase = operations.save_product(replace(make_product(), slug=slug), now())
    assert led_to(client.get(f"/p/{slug}")) == (301, f"/p/{slug}/")
    operations.change_product_status(vase, "draft", now())
    assert client.get(f"/p/{slug}/").status_code == 404
    assert led_to(client.get("/new")) == (301, "/new/")


def test_x545_a_redirect_follows_its_category(client: Client) -> None:
    node = make_category("Cups")
    path = f"/collections/{uuid4().hex}"
    save_redirect(path, parse_new_address(f"/c/{node.slug}/"))
    assert led_to(client.get(f"{path}/?page=2")) == (301, f"/c/{node.slug}/")
    moved = f"{node.slug}-2"
    operations.save_category(
        category_id=node.category_id,
        slug=moved,
        name=node.name,
        seen=operations.fingerprint_category(node),
    )
    assert led_to(client.get(path)) == (301, f"/c/{moved}/")
    redirects.remove_redirect(path, make_category_target(node.category_id))
    assert client.get(path).status_code == 404


def test_x545_redirects_are_listed_by_path_in_parts() -> None:
    begin = f"/x{uuid4().hex}"
    for number in (3, 1, 2):
        save_redirect(f"{begin}/{number}", "deals")
    first, second, third = redirects.list_redirects(begin, 3)
    assert [first.path, second.path, third.path] == [f"{begin}/{number}" for number in (1, 2, 3)]
    assert redirects.list_redirects(third.path, 1) == [third]


def test_s122_no_redirect_leads_out_of_the_shop_to_another_redirect_or_over_a_page(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    product, old = make_product(), f"/old/{uuid4().hex}"
    operations.save_product(replace(product, old_addresses=old), now())
    taken = f"/pages/{uuid4().hex}"
    save_redirect(taken, parse_new_address(f"{settings.PUBLIC_URL}/deals/"))
    assert get_redirect(taken) == "deals"
    for parse, typed in (
        *((parse_new_address, each) for each in ("https://evil.example/", "//evil.example/", "")),
        *((parse_new_address, each) for each in ("/\\evil.example", "javascript:alert(1)", taken)),
        *((parse_new_address, each) for each in ("/\r\nSet-Cookie: a=b", "/staff/", "/p/none/")),
        *((parse_old_address, each) for each in ("", "/", "a", "/deals", "/cart/add", "/staff/x")),
        *((parse_old_address, each) for each in (f"/p/{product.slug}", old, "https://[")),
    ):
        with pytest.raises(RedirectRefused):
            pytest.fail(f"{typed} is {parse(typed)}")
    allow_in_shard(monkeypatch, 1)
    with pytest.raises(RedirectRefused, match="too many"):
        save_redirect(find_path_beside(taken), "deals")
    save_redirect(taken, "new_arrivals", "deals")
    assert get_redirect(taken) == "new_arrivals"


def test_x545_of_two_who_change_a_redirect_the_later_changes_nothing() -> None:
    path = f"/pages/{uuid4().hex}"

    def save(target: str) -> bool:
        with suppress(RedirectChanged):
            save_redirect(path, target)
            return True
        return False

    targets = ("deals", "help", "terms", "imprint")
    done = map_at_once(save, targets)
    assert done.count(True) == 1
    stored = targets[done.index(True)]
    assert get_redirect(path) == stored
    save_redirect(path, stored)
    for late in (
        lambda: save_redirect(path, "privacy", "new_arrivals"),
        lambda: redirects.remove_redirect(path, "new_arrivals"),
    ):
        with pytest.raises(RedirectChanged) as changed:
            late()
        assert changed.value.target == stored
    assert [redirects.remove_redirect(path, stored) for _twice in range(2)] == [True, False]
    with pytest.raises(RedirectChanged, match="removed"):
        save_redirect(path, "privacy", stored)
    assert get_redirect(path) == ""


def test_s122_a_shard_of_redirects_is_counted_once_for_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begin = f"/pages/{uuid4().hex}"
    allow_in_shard(monkeypatch, redirects.MAX_IN_SHARD)
    with count_statements() as meter:
        for number in range(5):
            save_redirect(find_path_beside(begin, after=number), "deals")
    assert (meter.read_count, meter.conditional_write_count) == (1, 5)


def test_x546_what_is_not_found_is_sampled_without_what_could_name_a_person(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(missing_addresses, "SAMPLE_SECONDS", 0)
    cache.clear()
    path, other = (f"/pages/about-{uuid4().hex[:5]}" for _ in range(2))
    for address in (
        *(f"{path}?email=ada@example.com", path.upper(), f"{path}/", f"{other}.html"),
        *("/pages/ada@example.com", "/track/1234567", f"/reset/{uuid4().hex}", "/account/nothing"),
        *("/static/nothing.css", "/a b", "/wp-login.php", "/.env"),
        # Pages of this shop, although nobody is there.
        *("/people/jane-doe/", "/help/terms/versions/99999/"),
    ):
        assert client.get(address).status_code == 404, address
    assert led_to(client.get("/people/jane-doe")) == (301, "/people/jane-doe/")
    client.post(path)
    found = dict(list_missing(now(), 10_000))
    assert (found[path], found[f"{other}.html"]) == (3, 1)
    personal = re.compile("@|1234567|account|people|versions")
    assert not [each for each in found if personal.search(each)]
    assert not {"/a b", "/static/nothing.css", "/wp-login.php", "/.env"} & found.keys()
    assert list_missing(now() + timedelta(days=missing_addresses.DAYS_SHOWN), 10) == []


def test_x546_a_sample_that_cannot_be_stored_leaves_the_page_as_it_is(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    away = Mock(side_effect=CassandraUnavailable)
    monkeypatch.setattr(errors, "sample_missing", away)
    assert client.get("/pages/nothing").status_code == 404
    assert away.called
    monkeypatch.setattr(errors, "find_new_address", away)
    answer = client.get("/pages/nothing")
    assert (answer.status_code, "Retry-After" in answer) == (503, True)


def test_s122_a_flood_of_missing_addresses_stores_one_sample_at_a_time() -> None:
    begin = f"/flood-{uuid4().hex[:5]}"
    cache.clear()
    for number in range(20):
        sample_missing(f"{begin}/{number}", now())
    found = [path for path, _count in list_missing(now(), 10_000) if path.startswith(begin)]
    assert found == [f"{begin}/0"]

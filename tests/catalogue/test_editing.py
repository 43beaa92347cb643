"""Products in the hands of several people: versions, statuses, times, and what cannot be saved."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
import time_machine
from moneyed import EUR, Money

from cassandra_db import session
from catalogue import jobs, operations, queries
from catalogue.entities import Product
from catalogue.errors import ProductChanged, ProductRefused, SkuTaken, SlugTaken
from catalogue.operations import claims as name_claims
from catalogue.operations import products as product_saves
from catalogue.prices import PricePoint
from catalogue.rules import MAX_VARIANTS, is_barcode
from jobs.leases import hold_lease
from tests.catalogue.reads import changed, stored
from tests.clock import now
from tests.factories import make_category, make_product
from tests.lost_answers import AnswerLosingSession
from tests.rules import for_each

DAY = timedelta(days=1)


def listed(category_id: UUID) -> list[str]:
    return [card.name for card in queries.get_category_page(category_id, "name").cards]


def test_x90_of_two_who_edit_one_product_the_later_is_shown_what_it_is_now() -> None:
    read = make_product("Mug", price="12.00")
    first = operations.save_product(replace(read, name="Tall mug"), now())
    with pytest.raises(ProductChanged) as refused:
        operations.save_product(replace(read, brand="Other"), now())
    assert refused.value.product == stored(read)
    assert (stored(read).name, stored(read).brand, stored(read).version) == (
        "Tall mug",
        read.brand,
        first.version,
    )
    again = operations.save_product(replace(first, brand="Other"), now())
    assert (again.name, stored(read).brand) == ("Tall mug", "Other")
    with pytest.raises(ProductChanged):
        operations.save_product(replace(read, version=0), now())


def test_x90_a_save_whose_answer_is_lost_is_known_by_its_id(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read = make_product("Mug")
    losing = AnswerLosingSession(session.get_session())
    monkeypatch.setattr("cassandra_db.statements.get_session", lambda: losing)
    saved = operations.save_product(replace(read, name="Tall mug"), now())
    assert losing.lost_count == 1
    assert (saved.version, stored(read).version, stored(read).name) == (2, 2, "Tall mug")


def test_x90_a_product_of_before_versions_is_saved_and_counted_from_then() -> None:
    read = make_product("Mug")
    session.get_session().execute(
        "UPDATE products SET version = null, save_id = null WHERE product_id = %s",
        [read.product_id],
    )
    assert stored(read).version == 0
    saved = operations.save_product(replace(stored(read), name="Tall mug"), now())
    assert (saved.version, stored(read).name) == (1, "Tall mug")


def test_x90_two_hundred_variants_are_saved_at_once_and_replaced_at_once() -> None:
    read = make_product("Mug")

    def variants(prefix: str) -> tuple[Any, ...]:
        return tuple(
            replace(
                read.variants[0],
                variant_id=uuid4(),
                sku=f"{prefix}-{read.product_id.hex[:10].upper()}-{number}",
                options={"Colour": f"{number}".rjust(100, "c"), "Size": "s" * 100},
            )
            for number in range(MAX_VARIANTS)
        )

    wide = replace(read, option_names=("Colour", "Size"), description="d" * 20_000)
    # A hundred values an option, so two sizes of a hundred colours.
    first = tuple(
        replace(
            each, options={"Colour": f"{number // 2}".rjust(100, "c"), "Size": f"size {number % 2}"}
        )
        for number, each in enumerate(variants("A"))
    )
    saved = operations.save_product(replace(wide, variants=first), now())
    assert len([each for each in stored(read).variants if each.sold]) == MAX_VARIANTS
    second = tuple(
        replace(each, options=dict(other.options))
        for each, other in zip(variants("B"), first, strict=True)
    )
    operations.save_product(replace(saved, variants=second), now())
    found = stored(read)
    assert len(found.variants) == 2 * MAX_VARIANTS + 1
    assert {each.sku for each in found.variants if each.sold} == {each.sku for each in second}


def test_x90_a_claim_whose_save_was_lost_is_there_for_the_next_try(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    draft = replace(make_product(), product_id=uuid4(), slug=f"tried-{uuid4().hex}", version=0)
    draft = replace(
        draft,
        variants=(replace(draft.variants[0], variant_id=uuid4(), sku=f"R-{uuid4().hex.upper()}"),),
    )
    with monkeypatch.context() as patch:
        patch.setattr(product_saves, "_apply_save", lambda *saved: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            operations.save_product(draft, now())
    assert queries.get_product_at_quorum(draft.product_id) is None
    with pytest.raises(SlugTaken) as refused:
        operations.save_product(replace(make_product(), slug=draft.slug), now())
    assert refused.value.field == "slug"
    assert operations.save_product(draft, now()).version == 1


def with_names(product: Product, slug: str, sku: str) -> Product:
    return replace(changed(product, sku=sku), slug=slug)


def test_x90_a_save_that_is_refused_leaves_no_claim(monkeypatch: pytest.MonkeyPatch) -> None:
    product, other = make_product(), make_product()
    read = operations.save_product(replace(product, name="Mug"), now())
    slug, sku = f"wanted-{uuid4().hex}", f"R-{uuid4().hex.upper()}"
    for refused, names in (
        (SkuTaken, (slug, other.variants[0].sku)),
        (SlugTaken, (other.slug, sku)),
    ):
        with pytest.raises(refused):
            operations.save_product(with_names(read, *names), now())
    with monkeypatch.context() as patch:
        patch.setattr(product_saves, "_apply_save", lambda *saved: False)
        with pytest.raises(ProductChanged):
            operations.save_product(with_names(read, slug, sku), now())
    assert queries.find_product_id_by_slug(slug) is None
    assert queries.find_variant_by_sku(sku) is None
    # What was there before stays: a former address, too.
    moved = operations.save_product(with_names(read, slug, sku), now())
    with pytest.raises(SkuTaken):
        operations.save_product(with_names(moved, product.slug, other.variants[0].sku), now())
    assert queries.find_product_id_by_slug(product.slug) == product.product_id


def test_x90_a_claim_that_is_let_go_of_while_it_is_used_is_taken_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def meet(release_before: bool) -> None:
        """The check of claims lets go of a slug and a SKU before a save writes its product, or after it."""
        product = make_product()
        variant_id = product.variants[0].variant_id
        slug, sku = f"wanted-{uuid4().hex}", f"R-{uuid4().hex.upper()}"
        claims = [
            operations.Claim(slug, product.product_id),
            operations.Claim(sku, product.product_id, variant_id),
        ]
        real_apply, real_carried = product_saves._apply_save, name_claims._list_carried
        looks = list[int]()

        def apply_save(*save: Any) -> bool:
            if release_before:
                operations.release_claims(claims)
            return real_apply(*save)

        def list_carried(claims: Any) -> Any:
            found = real_carried(claims)
            looks.append(1)
            if not release_before and len(looks) == 1:
                operations.save_product(with_names(product, slug, sku), now())
            return found

        with monkeypatch.context() as patch:
            patch.setattr(product_saves, "_apply_save", apply_save)
            patch.setattr(name_claims, "_list_carried", list_carried)
            if release_before:
                operations.save_product(with_names(product, slug, sku), now())
            else:
                operations.release_claims(claims)
        assert queries.find_product_id_by_slug(slug) == product.product_id
        row = queries.find_variant_by_sku(sku)
        assert row
        assert row.variant_id == variant_id

    meet(release_before=True)
    meet(release_before=False)


def test_x91_one_question_says_whether_a_product_is_on_sale() -> None:
    moment = datetime(2026, 5, 4, 12, tzinfo=UTC)
    active = replace(make_product(), active_from=moment, active_until=moment + DAY)
    for product, at, on_sale, to_come in (
        (active, moment - timedelta(milliseconds=1), False, True),
        (active, moment, True, False),
        (active, moment + DAY - timedelta(milliseconds=1), True, False),
        (active, moment + DAY, False, False),
        (replace(active, status="draft"), moment, False, True),
        (replace(active, status="archived"), moment, False, False),
        (
            replace(active, variants=(replace(active.variants[0], sold=False),)),
            moment,
            False,
            False,
        ),
    ):
        assert (product.is_on_sale(at), product.is_to_come(at)) == (on_sale, to_come)


def test_x91_lists_follow_a_product_that_comes_and_goes_by_itself() -> None:
    category = make_category()
    product = make_product("Sundial", category=category)
    comes = now() + timedelta(minutes=5)
    operations.save_product(replace(product, active_from=comes, active_until=comes + DAY), now())
    assert listed(category.category_id) == []
    minute = operations.schedule_minute(comes)
    assert (minute, product.product_id) in operations.list_scheduled_products([minute], 100)
    with time_machine.travel(comes + timedelta(seconds=70), tick=True):
        real = operations.list_scheduled_products

        def list_own(minutes: Sequence[datetime], most: int) -> list[tuple[datetime, UUID]]:
            return [each for each in real(minutes, most) if each[1] == product.product_id]

        with pytest.MonkeyPatch.context() as patch, hold_lease(jobs.SCHEDULE):
            patch.setattr(operations, "list_scheduled_products", list_own)
            assert jobs.follow_schedule(now())
        assert listed(category.category_id) == ["Sundial"]
        assert operations.list_scheduled_products([minute], 100) == []
        assert product.product_id in operations.list_changed_products(
            now() - timedelta(minutes=1), now()
        )
    with time_machine.travel(comes + DAY, tick=True):
        operations.follow_schedule(operations.schedule_minute(comes + DAY), product.product_id)
        assert listed(category.category_id) == []


def test_x91_a_product_stands_in_each_of_its_categories_and_in_all_above_them() -> None:
    root = make_category("Root")
    main, second = make_category("Main", parent=root), make_category("Second", parent=root)
    other = make_category("Other")
    product = make_product("Sextant", category=main)
    saved = operations.save_product(
        replace(product, category_ids=frozenset({second.category_id, other.category_id})), now()
    )
    for node in (root, main, second, other):
        assert listed(node.category_id) == ["Sextant"]
    operations.save_product(replace(saved, category_ids=frozenset()), now())
    assert [listed(node.category_id) for node in (root, main, second, other)] == [
        ["Sextant"],
        ["Sextant"],
        [],
        [],
    ]


def test_x91_a_duplicate_is_a_draft_with_names_of_its_own() -> None:
    product = make_product("Mug", compare_at="20.00", options={"Size": ["S", "L"]})
    copy = operations.duplicate_product(product, now())
    assert (copy.status, copy.name, stored(copy)) == ("draft", "Mug (copy)", stored(copy))
    assert {each.sku for each in copy.variants}.isdisjoint(each.sku for each in product.variants)
    assert [each.options for each in copy.variants] == [each.options for each in product.variants]
    assert queries.find_product_id_by_slug(copy.slug) == copy.product_id
    shown = operations.change_product_status(copy, "active", now())
    assert shown.is_on_sale(now())


def test_a_product_keeps_what_the_law_and_search_engines_ask_for() -> None:
    product = replace(
        make_product(),
        tags=frozenset({"oak", "gift"}),
        maker="Kilnbrook, Torstraße 1, Berlin",
        safety="Hot water: keep away from children.",
        length_mm=120,
        width_mm=80,
        height_mm=95,
        search_title="A mug",
        search_description="A mug for every day.",
        related_ids=(uuid4(), uuid4()),
    )
    product = changed(product, barcode="4006381333931")
    saved = operations.save_product(product, now())
    found = stored(saved)
    assert replace(found, updated_at=None, created_at=None) == replace(
        saved, updated_at=None, created_at=None
    )


REFUSED: dict[str, tuple[str, Callable[[Product], Product]]] = {
    "no name": ("name", lambda each: replace(each, name=" ")),
    "a long name": ("name", lambda each: replace(each, name="n" * 201)),
    "an address with blanks": ("slug", lambda each: replace(each, slug="no slug")),
    "a tax class of no country": ("tax_class", lambda each: replace(each, tax_class="none")),
    "a status of its own": ("status", lambda each: replace(each, status="hidden")),
    "gone before it came": (
        "active_until",
        lambda each: replace(each, active_from=now(), active_until=now() - DAY),
    ),
    "come in the year 9999": (
        "active_from",
        lambda each: replace(each, active_from=datetime(9999, 12, 31, 23, 59, 30, tzinfo=UTC)),
    ),
    "gone in the year 9999": (
        "active_until",
        lambda each: replace(each, active_until=datetime(9999, 12, 31, 23, 59, 30, tzinfo=UTC)),
    ),
    "too many tags": (
        "tags",
        lambda each: replace(each, tags=frozenset(str(n) for n in range(101))),
    ),
    "an empty tag": ("tags", lambda each: replace(each, tags=frozenset({""}))),
    "too many details": (
        "details",
        lambda each: replace(each, details={str(n): "" for n in range(101)}),
    ),
    "itself beside it": ("related_ids", lambda each: replace(each, related_ids=(each.product_id,))),
    "thirteen pinned": (
        "related_ids",
        lambda each: replace(each, related_ids=tuple(uuid4() for _ in range(13))),
    ),
    "an unknown category": ("category_id", lambda each: replace(each, category_id=uuid4())),
    "another unknown category": (
        "category_ids",
        lambda each: replace(each, category_ids=frozenset({uuid4()})),
    ),
    "less than nothing long": ("length_mm", lambda each: replace(each, length_mm=-1)),
    "no variant": ("variants", lambda each: replace(each, variants=())),
    "a price below 0": ("price", lambda each: changed(each, price=Money(-1, EUR))),
    "a price of a billion": ("price", lambda each: changed(each, price=Money(10**9, EUR))),
    "a wrong check digit": ("barcode", lambda each: changed(each, barcode="4006381333932")),
    "a heavy one": ("weight_grams", lambda each: changed(each, weight_grams=10**9)),
    "an option that it does not have": (
        "options",
        lambda each: changed(each, options={"Size": "L"}),
    ),
    "a small SKU": ("sku", lambda each: changed(each, sku="low")),
}


@for_each(REFUSED)
def test_x92_a_refusal_says_which_field_of_which_variant(wrong: str) -> None:
    field, spoil = REFUSED[wrong]
    product = make_product()
    before, spoilt = stored(product), spoil(product)
    with pytest.raises(ProductRefused) as refused:
        operations.save_product(spoilt, now())
    assert refused.value.field == field
    assert str(refused.value)
    is_of_variant = field in {"price", "barcode", "weight_grams", "options", "sku"}
    assert refused.value.variant_id == (product.variants[0].variant_id if is_of_variant else None)
    assert stored(product) == before


def test_x272_a_price_that_is_none_hides_no_fault_of_another_variant() -> None:
    product = make_product(options={"Size": ["S", "M", "L"]})
    small, medium, large = product.variants
    crossed = replace(medium, compare_at=medium.price * 2)
    for spoilt, field in (
        (replace(small, price=Money(0, EUR)), "price"),
        (replace(small, price=Money("1.005", EUR)), "price"),
        (replace(small, compare_at=small.price), "compare_at"),
        (replace(small, planned=(PricePoint(now() - DAY, Money(1, EUR)),)), "planned"),
    ):
        wanted = replace(product, variants=(spoilt, crossed, replace(large, sku="low")))
        rows = queries.prefetch_product_at_quorum(product.product_id).rows()
        with pytest.raises(ProductRefused) as refused:
            operations.save_product(wanted, now())
        for found in (
            operations.list_save_refusals(wanted, rows, now()),
            [refused.value, *refused.value.others],
        ):
            assert {(each.field, each.variant_id) for each in found} == {
                (field, small.variant_id),
                ("compare_at", medium.variant_id),
                ("sku", large.variant_id),
            }
    # Prices in two currencies cannot be compared at all.
    foreign = replace(product, variants=(replace(small, price=Money(1, "USD")), crossed))
    assert [each.field for each in operations.list_save_refusals(foreign, rows, now())] == ["price"]


def test_x92_two_variants_share_neither_sku_nor_barcode() -> None:
    product = make_product(options={"Size": ["S", "L"]})
    small, large = product.variants
    for field, value in (("sku", small.sku), ("barcode", "4006381333931")):
        what: dict[str, Any] = {field: value}
        pair = (replace(small, **what), replace(large, **what))
        with pytest.raises(ProductRefused) as refused:
            operations.save_product(replace(product, variants=pair), now())
        assert (refused.value.field, refused.value.variant_id) == (field, large.variant_id)


def test_x92_a_variant_that_replaces_another_may_have_its_barcode() -> None:
    product = operations.save_product(changed(make_product(), barcode="4006381333931"), now())
    anew = changed(product, variant_id=uuid4(), sku=f"N-{uuid4().hex.upper()}")
    saved = operations.save_product(anew, now())
    again = operations.save_product(saved, now())
    assert [each.sold for each in again.variants] == [True, False]


def test_x92_a_barcode_has_its_check_digit() -> None:
    for right in ("4006381333931", "96385074", "036000291452", "10614141000415"):
        assert is_barcode(right)
    for wrong in ("4006381333930", "96385075", "", "400638133393", "40063813339310", "ABCDEFGH"):
        assert not is_barcode(wrong)

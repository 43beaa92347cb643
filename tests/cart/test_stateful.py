"""Carts against a simple model: whatever is submitted in whatever order, the cart has what a dictionary has."""

from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from cart import operations, queries
from cart.errors import CartError, NameTaken, TooManyUnits, TooManyUnitsTogether
from cart.limits import MAX_QUANTITY
from cart.operations import contents
from cart.undo import Undo
from catalogue.entities import Variant
from pricing.money import to_minor_units
from tests.cart.products import make_mug, with_price
from tests.cart.test_operations import NOW

NAMES = ("Gifts", "Kitchen", "Birthday")
VARIANTS = st.integers(0, 2)
# Quantities that meet the limit now and then.
QUANTITIES = st.one_of(st.integers(1, 5), st.sampled_from([998, MAX_QUANTITY]))
PICK = st.integers(0, 99)


@dataclass
class Model:
    """A cart as a dictionary: key -> (quantity, price in cents)."""

    name: str
    lines: dict[str, tuple[int, int]] = field(default_factory=dict)
    later: dict[str, tuple[int, int]] = field(default_factory=dict)

    def copied(self, name: str = "") -> "Model":
        return Model(name or self.name, dict(self.lines), dict(self.later))


def put(into: dict[str, tuple[int, int]], key: str, quantity: int, price: int) -> None:
    units, old_price = into.get(key, (0, price))
    into[key] = (units + quantity, old_price)


def fits(into: dict[str, tuple[int, int]], what: dict[str, tuple[int, int]]) -> bool:
    return all(
        into.get(key, (0, 0))[0] + quantity <= MAX_QUANTITY for key, (quantity, _) in what.items()
    )


class Carts(RuleBasedStateMachine):
    """One person's carts. Each rule acts once in the shop and once in the model."""

    def __init__(self) -> None:
        super().__init__()
        self.person = uuid4()
        self.product = make_mug(sizes=("S", "M", "L"))
        self.prices = [to_minor_units(variant.price) for variant in self.product.variants]
        self.carts: dict[UUID, Model] = {}
        self.active: UUID | None = None
        self.undo: tuple[Undo, Any] | None = None

    @initialize()
    def begin(self) -> None:
        self.make("Gifts")

    def make(self, name: str) -> None:
        cart_id = operations.create_cart(self.person, name, uuid4(), NOW)
        self.carts[cart_id] = Model(name)
        self.active, self.undo = cart_id, None

    def variant(self, place: int) -> Variant:
        return with_price(self.product.variants[place], self.prices[place])

    def key(self, place: int) -> str:
        return str(self.product.variants[place].variant_id)

    def chosen(self, pick: int) -> UUID:
        return sorted(self.carts)[pick % len(self.carts)]

    def two(self, pick: int, other: int) -> tuple[UUID, UUID]:
        source = self.chosen(pick)
        others = sorted(set(self.carts) - {source})
        return source, others[other % len(others)]

    @rule(name=st.sampled_from(NAMES))
    def another(self, name: str) -> None:
        if any(each.name == name for each in self.carts.values()):
            with pytest.raises(NameTaken):
                operations.create_cart(self.person, name.upper(), uuid4(), NOW)
        else:
            self.make(name)

    @precondition(lambda self: self.carts)
    @rule(pick=PICK)
    def switch(self, pick: int) -> None:
        self.active = self.chosen(pick)
        operations.switch_cart(self.person, self.active, NOW)

    @precondition(lambda self: self.active)
    @rule(place=VARIANTS, quantity=QUANTITIES, again=st.booleans())
    def add(self, place: int, quantity: int, again: bool) -> None:
        assert self.active
        model, key, operation = self.carts[self.active], self.key(place), uuid4()
        together = model.lines.get(key, (0, 0))[0] + quantity
        args = (self.person, self.product, self.variant(place), quantity, operation, NOW)
        if together > MAX_QUANTITY:
            with pytest.raises(TooManyUnits):
                operations.add_line(*args)
            return
        for _ in range(1 + again):  # a submit that is sent again counts once
            operations.add_line(*args)
        model.lines[key] = (together, self.prices[place])
        self.undo = None

    @rule(place=VARIANTS, price=st.integers(100, 5000))
    def new_price(self, place: int, price: int) -> None:
        self.prices[place] = price

    @precondition(lambda self: self.carts)
    @rule(pick=PICK, place=VARIANTS, quantity=QUANTITIES)
    def change(self, pick: int, place: int, quantity: int) -> None:
        cart_id, key = self.chosen(pick), self.key(place)
        model = self.carts[cart_id]
        if key in model.lines:
            operations.change_line_quantity(
                self.person, cart_id, self.variant(place), quantity, NOW
            )
            model.lines[key] = (quantity, model.lines[key][1])
            self.undo = None

    @precondition(lambda self: self.carts)
    @rule(pick=PICK, place=VARIANTS, back=st.booleans())
    def remove(self, pick: int, place: int, back: bool) -> None:
        cart_id, key = self.chosen(pick), self.key(place)
        model = self.carts[cart_id]
        if key not in model.lines:
            return
        removed = operations.remove_line(self.person, cart_id, key, NOW)
        if back:
            operations.restore_line(self.person, removed, self.product, self.variant(place), NOW)
        else:
            del model.lines[key]
            self.undo = None

    @precondition(lambda self: len(self.carts) > 1)
    @rule(pick=PICK, other=PICK, place=VARIANTS, copy=st.booleans())
    def move(self, pick: int, other: int, place: int, copy: bool) -> None:
        (source, target), key = self.two(pick, other), self.key(place)
        line = self.carts[source].lines.get(key)
        if line is None:
            return
        into, operation = self.carts[target].lines, uuid4()
        args = (self.person, source, target, key, operation, NOW)
        if not fits(into, {key: line}):
            with pytest.raises(TooManyUnitsTogether):
                operations.move_line(*args, copy=copy)
            return
        operations.move_line(*args, copy=copy)
        operations.move_line(*args, copy=copy)
        put(into, key, *line)
        if not copy:
            del self.carts[source].lines[key]
        self.undo = None

    @precondition(lambda self: self.carts)
    @rule(pick=PICK, place=VARIANTS, back=st.booleans())
    def later(self, pick: int, place: int, back: bool) -> None:
        cart_id, key = self.chosen(pick), self.key(place)
        model = self.carts[cart_id]
        source, target = (model.later, model.lines) if back else (model.lines, model.later)
        act = operations.move_saved_line_to_cart if back else operations.save_line_for_later
        if key not in source or not fits(target, {key: source[key]}):
            with pytest.raises(CartError):
                act(self.person, cart_id, key, uuid4(), NOW)
            return
        act(self.person, cart_id, key, uuid4(), NOW)
        put(target, key, *source.pop(key))
        self.undo = None

    @precondition(lambda self: self.carts)
    @rule(pick=PICK)
    def empty(self, pick: int) -> None:
        cart_id = self.chosen(pick)
        before = self.carts[cart_id].copied()
        self.undo = (operations.empty_cart(self.person, cart_id, uuid4(), NOW), (cart_id, before))
        self.carts[cart_id].lines = {}

    @precondition(lambda self: self.carts)
    @rule(pick=PICK)
    def delete(self, pick: int) -> None:
        cart_id = self.chosen(pick)
        self.undo = (
            operations.delete_cart(self.person, cart_id, NOW),
            (cart_id, self.carts.pop(cart_id)),
        )
        self.active = self.found_active() if self.active == cart_id else self.active

    @precondition(lambda self: len(self.carts) > 1)
    @rule(pick=PICK, other=PICK)
    def merge(self, pick: int, other: int) -> None:
        source, target = self.two(pick, other)
        goes, into = self.carts[source], self.carts[target]
        args = (self.person, source, target, uuid4(), NOW)
        if not (fits(into.lines, goes.lines) and fits(into.later, goes.later)):
            with pytest.raises(TooManyUnitsTogether):
                operations.merge_carts(*args)
            return
        before = (source, goes, target, into.copied())
        self.undo = (operations.merge_carts(*args), before)
        for units, added in ((into.lines, goes.lines), (into.later, goes.later)):
            for key, line in added.items():
                put(units, key, *line)
        del self.carts[source]
        self.active = target if self.active == source else self.active

    @precondition(lambda self: self.undo)
    @rule(again=st.booleans())
    def undone(self, again: bool) -> None:
        assert self.undo
        (undo, before), self.undo = self.undo, None
        act = {
            "empty": operations.refill_cart,
            "delete": operations.undelete_cart,
            "merge": operations.unmerge_carts,
        }[undo.action]
        for _ in range(1 + again):
            act(self.person, undo, NOW)
        if undo.action == "merge":
            source, goes, target, into = before
            self.carts[source], self.carts[target] = goes, into
        else:
            cart_id, model = before
            self.carts[cart_id] = model
        if undo.is_active:
            self.active = undo.cart_id

    def found_active(self) -> UUID | None:
        found = queries.find_active_cart_row(queries.CARTS.all(owner_id=self.person))
        return found.cart_id if found else None

    @invariant()
    def the_engine_has_what_the_model_has(self) -> None:
        rows = [row for row in queries.CARTS.all(owner_id=self.person) if row.cart_id is not None]
        assert {row.cart_id for row in rows} == set(self.carts)
        assert not rows or rows[0].cart_count == len(rows)
        assert self.found_active() == self.active
        for cart_id, model in self.carts.items():
            found = contents.get_contents(cart_id)
            lines = {key: (row.quantity, row.price) for key, row in found.lines.items()}
            assert lines == model.lines
            assert {
                key: (row.quantity, row.price) for key, row in found.saved_lines.items()
            } == model.later
            if found.sums and found.version is not None:
                assert found.sums.line_count == len(lines)
                assert found.sums.item_count == sum(quantity for quantity, _ in lines.values())
                assert found.sums.subtotal == sum(
                    quantity * price for quantity, price in lines.values()
                )


Carts.TestCase.settings = settings(
    max_examples=8,
    stateful_step_count=20,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
    database=None,
)
TestCarts = Carts.TestCase

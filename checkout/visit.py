"""A visit to the checkout: the cart and the typed fields."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from uuid import UUID

from accounts.models import User
from cart.entities import Cart
from cassandra_db import current_time
from checkout.checkouts import Checkout
from checkout.forms import BillingForm, CheckoutForm, checkout_fingerprint
from checkout.orderable_cart import OrderableCart, get_orderable_cart
from checkout.snapshot import CheckoutSnapshot
from checkout.steps import DELIVERY, REVIEW, STEPS
from mail.addresses import email_key
from orders.operations import OrderDraft
from orders.voucher_customers import list_voucher_customer_keys
from payments.methods import is_paid_afterwards
from pricing import quotes
from pricing.quotes import lines_weight
from text_pages.queries import get_terms_version


@dataclass(frozen=True)
class CheckoutVisit:
    """The data of a request to the checkout: the cart and its owner, the cart's checkout, and the typed fields.

    `visitor` is None for a guest; `networks` are the request's networks (web.rate_limits.list_networks).
    """

    owner_id: UUID
    visitor: User | None
    cart: Cart
    checkout: Checkout
    networks: Sequence[tuple[str, int]] = ()
    typed_fields: Mapping[str, str] = field(default_factory=dict)

    def with_typed_fields(self, typed_fields: Mapping[str, str]) -> "CheckoutVisit":
        """Return the visit with these fields."""
        return replace(self, typed_fields=typed_fields)

    @cached_property
    def form(self) -> CheckoutForm:
        return CheckoutForm(self.typed_fields)

    @cached_property
    def billing(self) -> BillingForm | None:
        """The form of the billing address; None if the delivery address is also the billing address."""
        return BillingForm(self.typed_fields) if self.form.has_billing_address else None

    def is_wrong(self, step: str) -> bool:
        """Return whether a field of a step is missing or wrong."""
        if self.form.is_wrong(step):
            return True
        return step == DELIVERY and self.billing is not None and not self.billing.is_valid()

    @cached_property
    def first_incomplete_step(self) -> str:
        """The first step with a missing or wrong field; if there is none, the last step."""
        return next((step for step in STEPS if self.is_wrong(step)), REVIEW)

    def is_too_early(self, step: str) -> bool:
        """Return whether a step before this one is incomplete."""
        return STEPS.index(step) > STEPS.index(self.first_incomplete_step)

    @property
    def is_email_confirmed(self) -> bool:
        """Whether the typed e-mail address is the member's own, and is proved."""
        return bool(
            self.visitor
            and self.visitor.verified_at
            and email_key(self.visitor.email) == email_key(self.form.cleaned_data["email"])
        )

    def is_paid_afterwards(self, total: int) -> bool:
        """Return whether the order is placed before anything is paid (payments.methods). `total` is in minor units."""
        method = self.form.payment_method
        return is_paid_afterwards(method.code if method else "", total)

    def get_orderable_cart(
        self, shortages: Mapping[UUID, int] | None = None, refused: str = ""
    ) -> OrderableCart:
        """Return the orderable part of the cart, with its voucher's discount for this person.

        `shortages` has newer stock of some variants. `refused` is the reason why the voucher gives no discount. Raises
        CassandraUnavailable.
        """
        email = "" if "email" in self.form.errors else self.form.cleaned_data["email"]
        # The customer keys are needed only for a voucher.
        customer_keys = list_voucher_customer_keys(self.visitor, email) if self.cart.voucher else ()
        orderable = get_orderable_cart(
            self.cart, shortages, customer_keys=customer_keys, refused=refused
        )
        self.form.limit_weight(lines_weight(orderable.lines))
        return orderable

    def calculate_sums(self, orderable: OrderableCart) -> quotes.Quote:
        """Return the sums of the orderable lines. Raises ValueError if there are none."""
        return orderable.calculate_sums(self.form.delivery_method, self.form.tax_rates)

    def take_snapshot(self, orderable: OrderableCart, step: str) -> CheckoutSnapshot:
        """Return the snapshot of a step's page that shows this cart. The last step's snapshot also covers all typed fields."""
        snapshot = orderable.take_snapshot(
            self.calculate_sums(orderable),
            self.form.delivery_method.promise(current_time()),
            self.owner_id,
            self.checkout.checkout_id,
        )
        if step != REVIEW:
            return snapshot
        return replace(
            snapshot,
            review_fingerprint=checkout_fingerprint(self.form, self.billing, snapshot.content),
            terms=get_terms_version(current_time()),
        )

    def build_draft(self, snapshot: CheckoutSnapshot, orderable: OrderableCart) -> OrderDraft:
        """Return the order draft from the valid forms and the orderable cart."""
        address, voucher = self.form.cleaned_address(), orderable.applied.voucher
        return OrderDraft(
            order_id=snapshot.order_id,
            owner_id=snapshot.owner_id,
            user_id=self.visitor.user_id if self.visitor else None,
            email=self.form.cleaned_data["email"],
            delivery_address=address,
            billing_address=self.billing.cleaned_address() if self.billing else address,
            method=self.form.delivery_method,
            tax_rates=self.form.tax_rates,
            lines=orderable.lines,
            cart_id=self.cart.cart_id,
            fingerprint=snapshot.review_fingerprint,
            payment_method=self.form.cleaned_data["payment"],
            voucher=voucher.code if voucher and not voucher.reason else "",
            promotions=orderable.applied.promotions,
            cart=self.cart,
            checkout_number=self.checkout.number,
            stock=orderable.stock,
            customer_notes=self.form.cleaned_data["notes"],
            terms_version=snapshot.terms,
            is_email_confirmed=self.is_email_confirmed,
            networks=self.networks,
        )

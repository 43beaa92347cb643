"""Each form of the staff, sent from a page that somebody has overtaken: it answers 409 and changes nothing.

A form is read from its page as a browser reads it, with the version in it. Then a colleague changes the same thing by a page of
their own, in a way that would still allow the late form. A form whose version is ignored would be done.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse
from lxml import html
from moneyed import Money

from catalogue.operations.redirects import save_redirect
from catalogue.queries import get_product_at_quorum
from catalogue.search_rules import TWO_WAY
from orders import operations
from orders.lifecycle.entities import Order
from orders.lifecycle.transitions import Transition
from questions.entities import QUESTION
from questions.operations import ask_question
from tests.adminpanel.conftest import make_order_with_events
from tests.adminpanel.orders.test_money import by_transfer
from tests.architecture.apps import ROOT
from tests.architecture.routes import ROUTES
from tests.catalogue.search_rules import make_search_rule
from tests.clock import now
from tests.factories import make_category, make_product, make_user, sign_in_staff
from tests.reviews.writes import write

Body = dict[str, str]


@dataclass(frozen=True)
class StaleForm:
    """A form on a page, what is typed into it too late, and what a colleague has done before."""

    page: str
    action: str
    late: Body
    # What a colleague sends by the same form, or does elsewhere.
    first: Body | Callable[[Client], None] = field(default_factory=dict)
    # The form stands at this address in the page, if its button names another one.
    form_action: str = ""

    def read(self, client: Client) -> Body:
        """Return what a browser would send of the form as it stands."""
        page = html.fromstring(client.get(self.page).content)
        wanted = self.form_action or self.action
        # An address that takes files is signed.
        form = next(each for each in page.forms if each.get("action", "").split("?")[0] == wanted)
        # In a table a form's fields stand outside of it.
        beside = page.xpath(
            "//*[@form=$id][@name][@value][not(self::button)]", id=form.get("id", "")
        )
        fields = {each.get("name"): each.get("value") for each in beside}
        return fields | {name: value or "" for name, value in form.form_values()}

    def overtake(self, client: Client) -> None:
        if callable(self.first):
            self.first(client)
            return
        done = client.post(self.action, self.read(client) | self.first)
        errors = html.fromstring(done.content or b"<p>").xpath("//*[contains(@class, 'error')]")
        said = " ".join(each.text_content() for each in errors)
        assert done.status_code in (302, 303), f"a colleague could not do it: {said}"

    def shown(self, client: Client) -> str:
        """The page as it is now, without what differs at each look."""
        text = client.get(self.page).content.decode()
        text = re.sub(r"\b[A-Za-z0-9]{64}\b|[0-9a-f]{8}-[0-9a-f-]{27}", "", text)
        return re.sub(
            r"[\w.-]+(:|%3A)1[\w-]{5}(:|%3A)[\w-]{20,}|\d+ (second|minute)s? ago|just now", "", text
        )


def url(name: str, *args: object) -> str:
    return reverse(f"adminpanel:{name}", args=args)


# ---- Orders


def of_order(
    name: str,
    make: Callable[[], Order],
    late: Body,
    more: Callable[[Order], tuple[object, ...]] = lambda _: (),
    form: str = "",
    overtake: Callable[[Order], Order] | None = None,
) -> Callable[[], StaleForm]:
    """A form on an order's page; by default a colleague has put the order on hold and taken it up again."""
    overtake = overtake or _hold_and_resume

    def stale() -> StaleForm:
        order = make()

        def move_on(_client: Client) -> None:
            after = overtake(order)
            assert after.version > order.version

        page, args = url("order", order.number), (order.number, *more(order))
        form_action = url(form, *args) if form else ""
        return StaleForm(page, url(name, *args), late, move_on, form_action)

    return stale


def _hold_and_resume(order: Order) -> Order:
    for kind in ("held", "resumed"):
        order = operations.transition_order(order, Transition(kind, actor="Ben", at=now()))
    return order


def _give_one_back(order: Order) -> Order:
    one = Money(1, order.total.currency)
    return operations.decide_refund(order, one, {}, "Late", actor="Ben", now=now())


def _pay_one(order: Order) -> Order:
    one = Money(1, order.total.currency)
    return operations.record_manual_payment(order, one, key=str(uuid4()), actor="Ben", now=now())[0]


def _paid() -> Order:
    return make_order_with_events("paid")


def _packed() -> Order:
    return make_order_with_events("paid", "packed")


def _returned(*steps: str) -> Order:
    order = make_order_with_events("paid", "packed", "shipped", "delivered")
    order = operations.request_return(order, {1: 2}, "Too small", actor="shopper", now=now())
    if "received" in steps:
        order = operations.approve_return(order, "1", actor="staff", now=now(), note="")
        order = operations.receive_return(order, "1", {1: 2}, actor="staff", now=now())
    return order


def _warehouse(order: Order) -> tuple[object, ...]:
    return (next(iter(order.units_to_pack)),)


# ---- Products


def of_product(name: str, late: Body, first: Body | None = None) -> Callable[[], StaleForm]:
    """A form of a product; without `first` a colleague has renamed the product."""

    def stale() -> StaleForm:
        product = make_product("Bowl", listed=True)
        args: tuple[object, ...] = (product.product_id,)
        page = url("product", *args)
        if name == "product_prices":
            args = (*args, product.variants[0].variant_id)
            page = url(name, *args)

        def rename(client: Client) -> None:
            StaleForm(
                url("product", product.product_id),
                url("product", product.product_id),
                {},
                {"name": "Dish"},
            ).overtake(client)
            now = get_product_at_quorum(product.product_id)
            assert now
            assert now.version > product.version

        return StaleForm(page, url(name, *args), late, rename if first is None else first)

    return stale


def of_stock(name: str, late: Body, first: Body) -> Callable[[], StaleForm]:
    def stale() -> StaleForm:
        product = make_product(stock=5)
        variant_id = product.variants[0].variant_id
        args = (product.product_id, variant_id)
        return StaleForm(url("stock_item", *args), url(name, *args), late, first)

    return stale


# ---- Others


def of_category(name: str, late: Body) -> Callable[[], StaleForm]:
    def stale() -> StaleForm:
        own = url("category", make_category(f"Shelf {uuid4().hex[:8]}").category_id)
        action = own if name == "category" else f"{own}remove/"

        def describe(client: Client) -> None:
            StaleForm(own, own, {}, {"description": "Overtaken"}).overtake(client)

        return StaleForm(own, action, late, describe)

    return stale


def of_setting(name: str, late: Body, *args: str, remove: str = "") -> Callable[[], StaleForm]:
    """A form of the shop's settings, which other tests read: its version is made an older one instead."""

    def stale() -> StaleForm:
        page = url(name, *args)
        return StaleForm(
            page,
            url(remove, *args) if remove else page,
            late | {"version": "0" * 32},
            lambda _: None,
        )

    return stale


def of_search_rule(remove: bool) -> Callable[[], StaleForm]:
    def stale() -> StaleForm:
        rule = make_search_rule(TWO_WAY, f"{uuid4().hex[:8]}, pouffe")
        page = url("search_rule", TWO_WAY, rule.key)

        def add_a_word(client: Client) -> None:
            StaleForm(page, page, {}, {"words": f"{rule.words}, footstool"}).overtake(client)

        late = {} if remove else {"words": "late, words"}
        return StaleForm(page, f"{page}remove/" if remove else page, late, add_a_word)

    return stale


def of_redirect(name: str) -> Callable[[], StaleForm]:
    def stale() -> StaleForm:
        path, own = f"/pages/{uuid4().hex}", url("redirects")
        first = {"old_address": path, "new_address": "/new/"}
        if name == "redirects":
            late = first | {"new_address": "/deals/"}
            return StaleForm(f"{own}?begin={path}", own, late, first)
        save_redirect(path, "deals")

        def change(client: Client) -> None:
            assert client.post(own, first | {"seen": "deals"}).status_code == 303

        return StaleForm(f"{own}?begin={path}", url(name), {}, change)

    return stale


def of_draft(name: str) -> Callable[[], StaleForm]:
    def stale() -> StaleForm:
        client = sign_in_staff(Client(), make_user("Sue", role="admin"))
        product = make_product(stock=5)
        page = html.fromstring(client.get(url("draft_new")).content)
        (form,) = page.xpath("//form[@id='draft']")
        own = str(form.get("action"))
        written = StaleForm(
            own,
            own,
            {},
            {
                "q": product.variants[0].sku,
                "find": "1",
                "email": f"{uuid4().hex}@example.org",
                "name": "Ada",
                "street": "Torstraße 1",
                "postal_code": "10115",
                "city": "Berlin",
            },
        )
        body = {each: value or "" for each, value in form.form_values()}
        assert isinstance(written.first, dict)
        assert client.post(own, body | written.first).status_code == 303

        def move(other: Client) -> None:
            StaleForm(own, own, {}, {"city": "Potsdam"}).overtake(other)

        if name == "draft_delete":
            return StaleForm(own, f"{own}delete/", {}, move, own)
        action = {"draft": own, "draft_send": f"{own}send/", "draft_order": f"{own}order/"}[name]
        return StaleForm(own, action, {"city": "Hamburg"}, move, own)

    return stale


def of_review(name: str, late: Body, first: Body) -> Callable[[], StaleForm]:
    def stale() -> StaleForm:
        product, writer = make_product(), make_user()
        write(product.product_id, 4, writer.user_id, held_for="links")
        args = (product.product_id, writer.user_id)

        def decide(client: Client) -> None:
            StaleForm(url("review", *args), url("review_decide", *args), {}, first).overtake(client)

        return StaleForm(url("review", *args), url(name, *args), late, decide)

    return stale


def of_question() -> StaleForm:
    product, writer = make_product(), make_user()
    question = ask_question(
        *(product.product_id, writer.user_id, "Is it heavy?"),
        name="A.",
        held_for="links",
        change_id=uuid4(),
        now=now(),
    )
    args = (product.product_id, question.question_id, QUESTION)
    action = url("question_decide", *args)
    late = {"act": "refuse", "reason": "No links, please."}
    return StaleForm(url("question", *args), action, late, {"act": "publish"})


def of_customer(name: str) -> Callable[[], StaleForm]:
    def stale() -> StaleForm:
        page = url("customer", make_user().pk)
        block = StaleForm(page, f"{page}block/", {}, {"block_reason": "Returned everything"})
        if name == "customer_block":
            return StaleForm(page, block.action, {"block_reason": "Mine"}, block.overtake)
        block.overtake(sign_in_staff(Client(), make_user("Sue", role="admin")))

        def block_again(client: Client) -> None:
            StaleForm(page, f"{page}unblock/", {}).overtake(client)
            block.overtake(client)

        return StaleForm(page, f"{page}unblock/", {}, block_again)

    return stale


def of_person() -> StaleForm:
    page = url("person", make_user("Pat", role="support").pk)
    return StaleForm(page, f"{page}role/", {"role": "catalogue"}, {"role": "warehouse"})


STALE_FORMS: dict[str, Callable[[], StaleForm]] = {
    "move": of_order("move", _paid, {"event": "packed"}),
    "pack": of_order("pack", _paid, {"line_1": "1"}, _warehouse),
    "pack_scan": of_order("pack_scan", _paid, {"scan": "X"}, _warehouse, form="pack"),
    "parcel": of_order("parcel", _packed, {"event": "shipped"}, lambda _: ("1",)),
    "sent_back": of_order("sent_back", _returned, {"event": "return_approved"}, lambda _: ("1",), overtake=_give_one_back),
    "return_refund": of_order("return_refund", lambda: _returned("received"), {"line_1": "1", "reason": "Back"}, lambda _: ("1",), overtake=_give_one_back),
    "refund": of_order("refund", _paid, {"amount": "1", "reason": "Late"}),
    "lines": of_order("lines", _paid, {"line_1": "1"}),
    "door": of_order("door", _paid, {"street": "Elsewhere 1"}),
    "received": of_order("received", by_transfer, {"amount": "1"}, overtake=_pay_one),
    "draft": of_draft("draft"),
    "draft_send": of_draft("draft_send"),
    "draft_order": of_draft("draft_order"),
    "draft_delete": of_draft("draft_delete"),
    "product": of_product("product", {"name": "Cup"}),
    "product_status": of_product("product_status", {"status": "archived"}),
    "product_prices": of_product("product_prices", {"price": "9.00", "starts": "2035-01-01T10:00"}, {"price": "8.00", "starts": "2034-01-01T10:00"}),
    "stock_threshold": of_stock("stock_threshold", {"threshold": "5"}, {"threshold": "6"}),
    "stock_place": of_stock("stock_place", {"place": "C-1"}, {"place": "B-7"}),
    "category": of_category("category", {"description": "Mine"}),
    "category_remove": of_category("category_remove", {}),
    "search_rule": of_search_rule(remove=False),
    "search_rule_remove": of_search_rule(remove=True),
    "redirects": of_redirect("redirects"),
    "redirect_remove": of_redirect("redirect_remove"),
    "delivery_method": of_setting("delivery_method", {"price": "6.66"}, "standard-de"),
    "delivery_method_remove": of_setting("delivery_method", {}, "express-de", remove="delivery_method_remove"),
    "warehouse": of_setting("warehouse", {"name": "Corker"}, "cork"),
    "terms_detail": of_setting("terms_detail", {"seller_name": "Another"}, "first"),
    "front_block": of_setting("front_block", {"title": "Mine"}, "tiles"),
    "front_block_remove": of_setting("front_block", {}, "tiles", remove="front_block_remove"),
    "parcel_weights": of_setting("parcel_weights", {"surcharge_1": "77"}),
    "filter": of_setting("filter", {"filter_kind": "plain"}, "size"),
    "colour": of_setting("colour", {"hex": "#123456"}, "ink"),
    "review_rules": of_setting("review_rules", {"words": "another"}),
    "mail_text": of_setting("mail_text", {"subject": "Late"}, "reset"),
    "country_tax": of_setting("country_tax", {"standard_0": "26"}, "DE"),
    "review_decide": of_review("review_decide", {"act": "refuse", "reason": "No links, please."}, {"act": "publish"}),
    "review_answer": of_review("review_answer", {"answer": "Thank you."}, {"act": "publish"}),
    "question_decide": of_question,
    "customer_block": of_customer("customer_block"),
    "customer_unblock": of_customer("customer_unblock"),
    "person_role": of_person,
}  # fmt: skip

# Forms whose own tests send a stale one: the file, and the test's name.
TRIED_ELSEWHERE = {
    "import_columns": "adminpanel/files/test_columns.py::test_x531_of_two_who_match_columns_the_later_changes_nothing",
    "conversation_reply": "adminpanel/conversations/test_conversation.py::test_x394_a_reply_that_overlooks_a_message_is_shown_it_first_and_can_be_sent_then",
    "conversation_assign": "adminpanel/conversations/test_conversation.py::test_x395_a_stale_form_changes_nothing",
    "conversation_state": "adminpanel/conversations/test_conversation.py::test_x395_a_stale_form_changes_nothing",
    "message_label": "adminpanel/conversations/test_labels_and_replies.py::test_x396_labels_are_added_changed_and_named_once",
    "message_label_empty": "adminpanel/conversations/test_labels_and_replies.py::test_x396_a_label_is_emptied_and_deleted_and_its_conversations_stay",
    "message_label_delete": "adminpanel/conversations/test_labels_and_replies.py::test_x396_a_label_is_emptied_and_deleted_and_its_conversations_stay",
    "saved_reply": "adminpanel/conversations/test_labels_and_replies.py::test_x397_a_saved_reply_is_filled_in_by_a_button",
    "saved_reply_remove": "adminpanel/conversations/test_labels_and_replies.py::test_x397_a_saved_reply_is_filled_in_by_a_button",
    "product_pictures": "adminpanel/catalogue/test_pictures.py::test_x102_of_two_who_change_the_pictures_the_later_sees_both_states",
    "product_stock": "adminpanel/stock/test_stock.py::test_x111_of_two_who_count_at_once_one_is_asked_to_look_again",
    "product_price": "adminpanel/catalogue/test_bulk_changes.py::test_x99_a_price_that_cannot_be_stays_typed_in_its_row",
    "product_count": "adminpanel/catalogue/test_bulk_changes.py::test_x147_what_was_counted_is_typed_in_its_row",
    "bulk_change_new": "adminpanel/catalogue/test_bulk_changes.py::test_x99_all_that_match_are_changed_and_not_what_matches_later",
    "order_changes_new": "adminpanel/orders/test_bulk_changes.py::test_x172_what_was_not_looked_at_is_not_done",
    "category_picture": "adminpanel/catalogue/test_category_picture.py::test_x146_of_two_who_change_a_picture_the_later_sees_both_states",
    "category_order": "adminpanel/catalogue/test_pins.py::test_x109_of_two_who_order_at_once_none_loses_what_was_typed",
    "mail_text_reset": "adminpanel/settings/test_mail_texts.py::test_x472_of_two_who_change_the_texts_the_later_sees_both",
    "text_page": "adminpanel/text_pages/test_text_pages.py::test_x476_of_two_who_write_a_page_the_later_sees_both_texts",
    "brand": "adminpanel/settings/test_brand.py::test_x463_of_two_who_change_the_brand_the_later_sees_both",
    "brand_restore": "adminpanel/settings/test_brand.py::test_x463_an_earlier_brand_is_used_again_and_the_last_twenty_are_kept",
    "menu": "adminpanel/settings/test_menus.py::test_x481_of_two_who_change_a_menu_the_later_sees_both_states",
    "front_page_row": "adminpanel/catalogue/test_pins.py::test_x110_staff_pin_products_in_the_rows_of_the_front_page",
    "stock_transfer_end": "adminpanel/stock/test_stock.py::test_x151_x153_s90_a_transfer_is_sent_and_ended_by_form_and_the_history_says_by_whom",
    "review_picture_remove": "reviews/test_pictures.py::test_x244_pictures_are_shown_once_the_staff_have_seen_them",
    "promotion_resume": "adminpanel/promotions/test_promotions.py::test_the_list_shows_the_uses_and_a_submit_ends_it",
    "promotion": "adminpanel/promotions/test_promotions.py::test_x507_of_two_who_change_a_promotion_the_later_sees_both",
}

# Forms that overwrite nothing that their page has shown, and why.
NOTHING_TO_OVERWRITE = {
    "it only adds something": "conversation_note note mail_again customer_note question_answer product_copy product_upload category_upload brand_upload stock_transfer_new",
    "it makes something new": "conversation_new message_label_new saved_reply_new front_block_new text_page_new product_new category_new delivery_method_new warehouse_new terms_new promotion_make promotion_duplicate search_rule_new import_new export_new paper_new book_invoices",
    "it adds or takes off the tags that it names": "tags conversation_labels",
    "it skips what has changed since its page was read": "messages_change",
    "it names the address": "sender_block sender_unblock",
    "it names the refund, which is noted once": "money_sent unmatched_payment_settle",
    "it names the version that does not go live": "text_page_take_back",
    "it says what the page is to be": "text_page_offline",
    "what it ends stays ended, whoever does it first": "person_sessions_end person_factor_reset promotion_end",
    "it changes nothing": "command brand_preview order_changes_preview mail_text_preview mail_text_test customer_find person_find customer_export customers_export paper_file faulty_rows",
    "it moves by a step from where it is": "category_move front_block_move",
    "each row keeps what was changed after its version": "bulk_change_undo import_apply",
    "it names the person by the address that is typed": "customer_erase",
    "it lets an address that it names get mail again": "mail_allow",
    "it marks the messages that its page showed": "conversation_read",
    "it is about the one who sends it": "conversation_draft board_columns density stock_mail second_factor recovery_codes",
}


def test_s111_every_form_of_the_staff_is_tried_stale_or_says_why_not() -> None:
    """A new form: give it a row in STALE_FORMS, or say in NOTHING_TO_OVERWRITE why it needs no version."""
    client = sign_in_staff(Client(), make_user("Ada", role="admin"))
    takes_posts = {
        route.name.removeprefix("adminpanel:")
        for route in ROUTES
        if route.name.startswith("adminpanel:")
        and client.post(route.sample_path, headers={"Accept": "text/html"}).status_code != 405
    }
    exempt = {name for names in NOTHING_TO_OVERWRITE.values() for name in names.split()}
    tables = (STALE_FORMS.keys(), TRIED_ELSEWHERE.keys(), exempt)
    assert set().union(*tables) == takes_posts
    assert sum(map(len, tables)) == len(takes_posts), "one is in two tables"
    for place in TRIED_ELSEWHERE.values():
        file, _, name = place.partition("::")
        test = (
            (ROOT / "tests" / file).read_text().partition(f"def {name}(")[2].partition("\ndef ")[0]
        )
        assert "409" in test, place


def test_s111_a_stale_form_of_the_staff_answers_409_and_changes_nothing(
    subtests: pytest.Subtests,
) -> None:
    client = sign_in_staff(Client(), make_user("Ada", role="admin"))
    colleague = sign_in_staff(Client(), make_user("Ben", role="admin"))
    for name, make in STALE_FORMS.items():
        with subtests.test(form=name):
            stale = make()
            body = stale.read(client) | stale.late
            stale.overtake(colleague)
            before = stale.shown(client)
            answer = client.post(stale.action, body)
            assert answer.status_code == 409
            assert stale.shown(client) == before

"""What the staff's addresses are like. Who gets in is tested as every kind of user in tests/journeys/test_sweep.py."""

import logging

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from accounts import audit_log
from accounts.models import User
from accounts.roles import ADMIN
from tests.adminpanel.people.audit_entries import list_entries_this_month
from tests.architecture.routes import ROLES_BY_URL, ROUTES
from tests.factories import make_user, sign_in_staff

# The pages to be looked at; and submits, by the page that each belongs to.
LOOKS = {
    *(
        "home",
        "board",
        "search",
        "order",
        "viewers",
        "order_changes",
        "order_changes_new",
        "order_change",
        "papers",
        "paper_new",
        "paper",
        "drafts",
        "draft_new",
        "draft",
        "customers",
        "customer",
        "order_mail",
        "mails",
        "reviews",
        "review",
        "question",
        "second_factor",
        "second_factor_picture",
        "people",
        "person",
        "log",
        "sales",
        "visits",
        "live",
        "searches",
        "books",
        "open_invoices",
        "unmatched_payments",
        "worker",
        "system",
        "climate",
    ),
    *("products", "product_new", "product", "product_prices", "attention", "stock_value"),
    *("product_pictures", "category_picture"),
    *("categories", "category_new", "category", "category_order", "front_page", "product_stock"),
    *("menus", "menu", "front_block_new", "front_block", "front_page_rows"),
    *("filters", "filter", "colours", "colour"),
    *("bulk_change_new", "bulk_changes", "bulk_change"),
    *("spreadsheets", "spreadsheet_help", "spreadsheet_example", "spreadsheet"),
    *("import_new", "import_columns", "export_new", "export_file"),
    *("settings", "brand", "delivery_methods", "delivery_method_new", "delivery_method"),
    *(
        "parcel_weights",
        "review_rules",
        "tax_rates",
        "country_tax",
        "warehouses",
        "warehouse_new",
        "warehouse",
    ),
    *("terms", "terms_new", "terms_detail"),
    *("mail_texts", "mail_text", "mail_text_preview"),
    *("text_pages", "text_page_new", "text_page"),
    *("stock", "stock_item", "stock_transfers"),
    *("messages", "conversation", "conversation_new", "conversation_file", "conversation_viewers"),
    *("message_labels", "message_label", "saved_replies", "saved_reply_new", "saved_reply"),
    "blocked_senders",
    *("promotions", "promotion_make", "promotion", "promotion_duplicate"),
    *("search_rules", "search_rule", "search_rule_new", "search_rule_file"),
    "redirects",
}
SUBMITS = {
    "order": {
        *(
            "move",
            "note",
            "tags",
            "pack",
            "pack_scan",
            "parcel",
            "sent_back",
            "return_refund",
            "refund",
            "lines",
            "door",
        ),
        *("received", "money_sent"),
    },
    "draft": {"draft_send", "draft_order", "draft_delete"},
    "text_page": {"text_page_offline", "text_page_take_back"},
    "customer": {
        *("customer_note", "customer_block", "customer_unblock"),
        *("customer_export", "customer_erase"),
    },
    "board": {"board_columns", "order_changes_preview"},
    "customers": {"customer_find", "customers_export"},
    "order_mail": {"mail_again"},
    "mails": {"mail_allow"},
    "books": {"book_invoices"},
    "unmatched_payments": {"unmatched_payment_settle"},
    "review": {"review_decide", "review_answer", "review_picture_remove"},
    "question": {"question_decide", "question_answer"},
    "messages": {"messages_change"},
    "conversation": {
        *("conversation_read", "conversation_reply", "conversation_draft", "conversation_note"),
        *("conversation_assign", "conversation_state", "conversation_labels"),
    },
    "message_labels": {"message_label_new"},
    "message_label": {"message_label_empty", "message_label_delete"},
    "saved_reply": {"saved_reply_remove"},
    "blocked_senders": {"sender_block", "sender_unblock"},
    "person": {"person_role", "person_sessions_end", "person_factor_reset"},
    "people": {"person_find"},
    "paper": {"paper_file"},
    "second_factor": {"recovery_codes", "density"},
    "product": {"product_status", "product_copy"},
    "product_pictures": {"product_upload"},
    "category_picture": {"category_upload"},
    "categories": {"category_move"},
    "category": {"category_remove"},
    "front_page_rows": {"front_page_row"},
    "front_page": {"front_block_move"},
    "front_block": {"front_block_remove"},
    "search_rule": {"search_rule_remove"},
    "redirects": {"redirect_remove"},
    "products": {"product_price", "product_count"},
    "search": {"command"},
    "bulk_change": {"bulk_change_undo"},
    "spreadsheet": {"import_apply", "faulty_rows"},
    "brand": {"brand_preview", "brand_restore", "brand_upload"},
    "delivery_method": {"delivery_method_remove"},
    "mail_text": {"mail_text_test", "mail_text_reset"},
    "stock": {"stock_mail"},
    "stock_item": {"stock_threshold", "stock_place", "stock_transfer_new"},
    "stock_transfers": {"stock_transfer_end"},
    "promotions": {"promotion_end", "promotion_resume"},
}
STAFF = {
    each.name.removeprefix("adminpanel:"): each
    for each in ROUTES
    if each.name.startswith("adminpanel:")
}


@pytest.fixture
def admin(client: Client) -> Client:
    return sign_in_staff(client, make_user("Ada", password=None, role=ADMIN))


@pytest.fixture
def shopper(client: Client) -> User:
    sam = make_user("Sam", password=None)
    client.force_login(sam)
    return sam


def test_the_table_in_the_documents_says_of_each_view_whom_it_lets_in() -> None:
    assert len(STAFF) >= 28
    for_staff = {each.name: each.roles | {ADMIN} for each in ROUTES if each.access == "staff"}
    assert for_staff == ROLES_BY_URL


def test_s24_a_shopper_who_asks_is_entered_in_both_logs(
    client: Client, shopper: User, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "accounts.access"):
        answer = client.get(reverse("adminpanel:people"))
    assert f"user {shopper.pk}, no staff, asked for adminpanel:people" in caplog.text
    (entry,) = list_entries_this_month(shopper, audit_log.ACCOUNTS)
    assert (entry.act, entry.outcome) == (
        "adminpanel:people",
        "refused: no such page for a shopper (404)",
    )
    assert str(entry.request_id) == answer["X-Request-Id"]


def test_s24_who_goes_on_asking_does_not_fill_the_audit_log(
    client: Client, shopper: User, settings: Settings
) -> None:
    settings.RATE_LIMITS = settings.RATE_LIMITS | {"password": (3, 0, 0, 60)}
    assert [client.get(reverse("adminpanel:people")).status_code for _ in range(6)] == [404] * 6
    assert len(list_entries_this_month(shopper, audit_log.ACCOUNTS)) == 3


def test_no_cache_keeps_a_staff_page(admin: Client) -> None:
    for name in ("board", "people", "log", "second_factor"):
        assert "no-store" in admin.get(reverse(f"adminpanel:{name}"))["Cache-Control"], name


def test_s20_opening_the_address_of_an_action_leads_to_the_page(admin: Client) -> None:
    pages = {name: STAFF[page].sample_path for page, names in SUBMITS.items() for name in names}
    assert pages.keys() | LOOKS == STAFF.keys()
    assert {name: admin.get(STAFF[name].sample_path).get("Location") for name in pages} == pages


def test_only_these_forms_are_not_in_the_audit_log() -> None:
    only_reads = {each.name for each in ROUTES if getattr(each.view, "only_reads", False)}
    assert only_reads == {"adminpanel:command", "adminpanel:density"}


def test_there_is_no_action_on_an_order_or_a_person_that_nobody_has(admin: Client) -> None:
    submitted = {
        name: admin.post(STAFF[name].sample_path).status_code
        for name in SUBMITS["order"] | SUBMITS["person"]
    }
    assert submitted == dict.fromkeys(submitted, 404)

"""Each form on a page can be sent as it stands."""

import json

from tests.architecture.apps import ROOT
from tests.browser.conftest import ServedShop
from tests.browser.sent_forms import list_forms

# What a form may answer: it is done, or leads on, or says what is wrong or has changed meanwhile.
ANSWERS = {200, 302, 303, 409, 422}
# Forms that stand on a page only after something has happened, by the test that makes it happen and sends them.
SENT_BY = {
    "accounts/test_passwords.py": {
        "accounts/security.html: {% url 'accounts:session_end' %}",
        "accounts/security.html: {% url 'accounts:sessions_end_others' %}",
    },
    "accounts/test_privacy.py": {"accounts/privacy_erase.html: {% url 'accounts:erase' %}"},
    "adminpanel/catalogue/test_bulk_changes.py": {
        "adminpanel/catalogue/bulk_change.html: {% url 'adminpanel:bulk_change_undo' change.change_id %}"
    },
    "adminpanel/catalogue/test_categories.py": {
        "adminpanel/catalogue/category.html: {% url 'adminpanel:category_remove' node.category_id %}"
    },
    "adminpanel/catalogue/test_pictures.py": {
        "adminpanel/catalogue/_uploads.html: {{ uploads.page_url }}",
        "adminpanel/catalogue/product_pictures.html: {{ own_url }}",
    },
    "adminpanel/customers/test_customers.py": {
        "adminpanel/customers/customer.html: {% url 'adminpanel:customer_unblock' customer.pk %}"
    },
    "adminpanel/people/test_people.py": {
        "adminpanel/people/person.html: {% url 'adminpanel:person_factor_reset' person.pk %}"
    },
    "adminpanel/settings/test_brand.py": {
        "adminpanel/settings/brand.html: {% url 'adminpanel:brand_restore' %}"
    },
    "adminpanel/settings/test_mail_texts.py": {
        "adminpanel/settings/mail_text.html: {% url 'adminpanel:mail_text_reset' key %}"
    },
    "adminpanel/text_pages/test_text_pages.py": {
        "adminpanel/text_pages/page.html: {% url 'adminpanel:text_page_offline' page.key %}",
        "adminpanel/text_pages/page.html: {% url 'adminpanel:text_page_take_back' page.key head.number %}",
    },
    "adminpanel/promotions/test_promotions.py": {
        "adminpanel/promotions/promotions.html: {% url 'adminpanel:promotion_resume' line.trigger line.promotion.key %}"
    },
    "backups/test_reconciliation.py": {
        "adminpanel/books/unmatched_payments.html: {% url 'adminpanel:unmatched_payment_settle' asked.payment_id %}"
    },
    "cart/test_carts.py": {"cart/carts.html: {% url 'cart:undo' %}"},
    "cart/test_prices.py": {
        "cart/_line.html: {% url 'cart:agree' %}",
        "cart/show.html: {% url 'cart:agree' %}",
    },
    "cart/test_sharing_pages.py": {
        "cart/invitation.html: {% url 'cart:invitation' invitation.token %}",
        "cart/invitation.html: {{ next }}",
        "cart/people.html: {% url 'cart:leave' access.cart_id %}",
    },
    "cart/test_views.py": {
        "cart/_set_to.html: {% url 'cart:add' %}",
        "cart/add.html: {% url 'cart:add' %}",
        "cart/show.html: {% url 'cart:restore' %}",
    },
    "orders/test_submits.py": {
        "adminpanel/orders/order.html: {% url 'adminpanel:lines' order.number %}",
        "adminpanel/orders/order.html: {% url 'adminpanel:money_sent' order.number %}",
        "adminpanel/orders/order.html: {% url 'adminpanel:received' order.number %}",
        "orders/_payment_deadline.html: {% url 'orders:extend_deadline' order.number %}",
    },
    "posts/test_follows.py": {
        "posts/_comment.html: {% url 'posts:block_writer' post_id comment.partition comment.thread_id comment.comment_id %}"
    },
    "price_alerts/test_watching.py": {"price_alerts/watch_button.html: {{ action_url }}"},
    "questions/test_pages.py": {
        "adminpanel/moderation/question.html: {{ act_url }}",
        "questions/question.html: {% url 'questions:answer' product.slug question.question_id %}",
    },
    "stock_alerts/test_back_in_stock.py": {"cart/_line.html: {% url 'stock_alerts:subscribe' %}"},
    "web/test_checkout_queue.py": {"_send_again.html: {{ path }}"},
}


def test_x284_a_form_that_is_on_a_page_can_be_sent(shop: ServedShop) -> None:
    """It ends promotions and moves categories: so it runs after the other tests of this shop (`conftest.py`)."""
    printed = shop.run_script("from tests.browser import sent_forms; sent_forms.print_answers()")
    answers: dict[str, tuple[str, int]] = json.loads(printed.splitlines()[-1])
    wrong = [
        f"{name} at {address}: {status}"
        for name, (address, status) in answers.items()
        if status not in ANSWERS
    ]
    elsewhere = set().union(*SENT_BY.values())
    unmet = list_forms() - answers.keys()
    wrong += [f"{name}: no page shows it, and no test is named" for name in unmet - elsewhere]
    wrong += [f"{name}: a page shows it, or it is gone" for name in elsewhere - unmet]
    assert not wrong, "\n".join(wrong)
    assert all((ROOT / "tests" / each).is_file() for each in SENT_BY)

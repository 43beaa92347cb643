"""What the sweep asks for: each address with an id in it, and what a submit there sends."""

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import uuid4

from questions.entities import QUESTION

# ---- What is asked for. "{cart}" stands for Alice's cart and, the second time, for one that nobody has.


@dataclass(frozen=True)
class Ask:
    """What stands in an address, and what a submit sends."""

    args: Mapping[str, str]
    body: Mapping[str, str]


def ask(body: Mapping[str, str] | None = None, /, **args: str) -> Ask:
    return Ask(args, {"operation": str(uuid4())} | dict(body or {}))


_CART = {"cart_id": "{cart}"}
_LINE = {"cart_id": "{cart}", "key": "{line}"}
_ORDER = {"number": "{number}"}

WITH_AN_ID: dict[str, list[Ask]] = {
    "cart:one": [ask(**_CART)],
    "cart:rename": [ask({"name": "Mine now"}, **_CART)],
    "cart:duplicate": [ask(**_CART)],
    "cart:empty": [ask(**_CART)],
    "cart:delete": [ask(**_CART)],
    # Into a cart of one's own, and one's own into it.
    "cart:merge": [
        ask({"into": "{own_cart}"}, **_CART),
        ask({"into": "{cart}"}, cart_id="{own_cart}"),
    ],
    "cart:move": [
        ask({"into": "{own_cart}"}, **_LINE),
        ask({"into": "{own_cart}", "copy": "1"}, **_LINE),
        ask({"into": "{cart}"}, cart_id="{own_cart}", key="{own_line}"),
        ask({"into": "{own_cart}"}, cart_id="{own_cart}", key="{line}"),
    ],
    "cart:later": [ask(**_LINE), ask(cart_id="{own_cart}", key="{line}")],
    "cart:now": [ask(**_LINE), ask(cart_id="{own_cart}", key="{line}")],
    "cart:drop": [ask(**_LINE), ask(cart_id="{own_cart}", key="{line}")],
    "cart:changes": [ask(**_CART)],
    "cart:people": [ask(**_CART)],
    "cart:invite": [ask({"email": "eve@example.com", "role": "buyer"}, **_CART)],
    "cart:withdraw": [
        ask({"key": "{invitation}"}, **_CART),
        ask({"key": "{invitation}"}, cart_id="{own_cart}"),
    ],
    "cart:role": [
        ask({"person": "{person}", "role": "buyer"}, **_CART),
        ask({"person": "{person}", "role": "buyer"}, cart_id="{own_cart}"),
    ],
    "cart:exclude": [
        ask({"person": "{person}"}, **_CART),
        ask({"person": "{person}"}, cart_id="{own_cart}"),
    ],
    "cart:link": [ask(**_CART)],
    "cart:unlink": [ask({"key": "{link}"}, **_CART), ask({"key": "{link}"}, cart_id="{own_cart}")],
    "cart:leave": [ask(**_CART)],
    # A token opens what it is for: so it is a token that we have not made.
    "cart:shared": [ask(token="{forged}")],
    "cart:shared_copy": [ask(token="{forged}")],
    "cart:invitation": [ask(token="{forged}")],
    "stock_alerts:confirm": [ask(token="{forged}")],
    "stock_alerts:unsubscribe": [ask(token="{forged}")],
    "accounts:finish": [ask(token="{forged}")],
    "accounts:reset_finish": [ask({"password": "seven dry otters"}, token="{forged}")],
    "accounts:email_confirm": [ask(token="{forged}")],
    "accounts:notification_open": [ask(notification_id="{notification}")],
    "notifications:end_mails": [ask(token="{forged}")],
    "accounts:address_edit": [
        ask(
            {
                "name": "Eve",
                "street": "Elsewhere 1",
                "postal_code": "10115",
                "city": "Berlin",
                "country": "DE",
            },
            key="{address}",
        )
    ],
    "accounts:address_remove": [ask(key="{address}")],
    "orders:detail": [ask(**_ORDER)],
    "orders:invoice": [ask(**_ORDER)],
    "orders:pay": [ask(**_ORDER), ask(number="{unpaid}")],
    "orders:give_up": [ask(**_ORDER), ask(number="{unpaid}")],
    "orders:extend_deadline": [ask(**_ORDER), ask(number="{unpaid}")],
    # A payment's own id is a secret: a visitor who has it has been at the bank, and is asked to log in.
    "orders:return_from_payment": [ask(number="{unpaid}", payment_id=str(uuid4()))],
    "orders:reorder": [
        ask(**_ORDER),
        ask({"cart": "{cart}"}, **_ORDER),
        ask({"cart": "{own_cart}"}, **_ORDER),
    ],
    "orders:cancel": [ask(**_ORDER), ask(number="{unpaid}")],
    "orders:change": [ask({"line_1": "0"}, **_ORDER)],
    "orders:change_address": [
        ask(
            {
                "name": "Eve",
                "street": "Elsewhere 1",
                "postal_code": "10115",
                "city": "Berlin",
                "country": "DE",
            },
            **_ORDER,
        )
    ],
    "orders:request_return": [ask({"line_1": "1", "reason": "mind"}, **_ORDER)],
    "orders:track": [ask(token="{forged}")],
    "drafts:offer": [ask({"payment": "card"}, token="{forged}")],
    "orders:confirm": [
        ask({"confirm": "yes"}, token="{forged}"),
        ask({"reject": "yes"}, token="{forged}"),
    ],
    "orders:confirmation_mail": [ask(**_ORDER), ask(number="{unpaid}")],
    "adminpanel:order": [ask(**_ORDER)],
    "adminpanel:move": [ask({"event": "packed", "version": "2"}, **_ORDER)],
    "adminpanel:note": [ask({"note": "I was here"}, **_ORDER)],
    "adminpanel:viewers": [ask(**_ORDER)],
    "adminpanel:order_mail": [ask(mail_id="{order_mail}", **_ORDER)],
    "adminpanel:mail_again": [ask(mail_id="{order_mail}", **_ORDER)],
    "adminpanel:tags": [ask({"add": "mine"}, **_ORDER)],
    "adminpanel:pack": [ask({"version": "3", "line_1": "1"}, warehouse="berlin", **_ORDER)],
    "adminpanel:pack_scan": [
        ask({"version": "3", "line_1": "1", "scan": "X"}, warehouse="berlin", **_ORDER)
    ],
    "adminpanel:order_change": [ask(change_id="{order_change}")],
    "adminpanel:paper": [ask(file_id="{paper}")],
    "adminpanel:paper_file": [ask({}, file_id="{paper}")],
    "adminpanel:parcel": [ask({"version": "3", "event": "shipped"}, parcel_id="1", **_ORDER)],
    "adminpanel:sent_back": [
        ask({"version": "3", "event": "return_approved"}, return_id="1", **_ORDER)
    ],
    "adminpanel:return_refund": [ask({"version": "3", "amount": "1"}, return_id="1", **_ORDER)],
    "adminpanel:refund": [ask({"version": "3", "amount": "1", "reason": "Me"}, **_ORDER)],
    "adminpanel:lines": [ask({"version": "3", "line_1": "0"}, **_ORDER)],
    "adminpanel:door": [ask({"version": "3", "name": "Eve", "street": "Elsewhere 1"}, **_ORDER)],
    "adminpanel:received": [ask({"version": "3", "amount": "1"}, **_ORDER)],
    "adminpanel:money_sent": [ask({"refund": "1"}, **_ORDER)],
    "adminpanel:product": [ask({"name": "Mine now"}, product_id="{product}")],
    "adminpanel:product_status": [ask({"status": "archived"}, product_id="{product}")],
    "adminpanel:product_copy": [ask(product_id="{product}")],
    "adminpanel:product_pictures": [
        ask({"picture": "mug/c8724c-efeae0", "line_0": "Mine"}, product_id="{product}")
    ],
    "adminpanel:product_upload": [ask(product_id="{product}")],
    "adminpanel:product_stock": [
        ask(
            {"variant": "{line}", "warehouse": "berlin", "units": "1", "receive": "1"},
            product_id="{product}",
        )
    ],
    "adminpanel:stock_item": [ask(product_id="{product}", variant_id="{line}")],
    "adminpanel:stock_threshold": [
        ask({"warehouse": "berlin", "threshold": "1"}, product_id="{product}", variant_id="{line}")
    ],
    "adminpanel:stock_place": [
        ask(
            {"warehouse": "berlin", "place": "A-1", "seen_place": ""},
            product_id="{product}",
            variant_id="{line}",
        )
    ],
    "adminpanel:stock_transfer_new": [
        ask(
            {"source": "berlin", "destination": "cork", "units": "1"},
            product_id="{product}",
            variant_id="{line}",
        )
    ],
    "adminpanel:stock_transfer_end": [ask(transfer_id="{transfer}")],
    "adminpanel:unmatched_payment_settle": [ask(payment_id="{unmatched}")],
    "adminpanel:product_price": [
        ask({"price": "0.01"}, product_id="{product}", variant_id="{line}")
    ],
    "adminpanel:product_count": [
        ask(
            {"warehouse": "berlin", "units": "1", "count": "1"},
            product_id="{product}",
            variant_id="{line}",
        )
    ],
    "adminpanel:bulk_change": [ask(change_id="{change}")],
    "adminpanel:bulk_change_undo": [ask(change_id="{change}")],
    "adminpanel:spreadsheet": [ask(task_id="{spreadsheet}")],
    "adminpanel:spreadsheet_example": [ask(layout="prices")],
    "adminpanel:import_apply": [ask(task_id="{spreadsheet}")],
    "adminpanel:import_columns": [ask(task_id="{spreadsheet}")],
    "adminpanel:faulty_rows": [ask(task_id="{spreadsheet}")],
    "adminpanel:export_file": [ask(task_id="{spreadsheet}")],
    "adminpanel:product_prices": [
        ask(
            {"price": "0.01", "starts": "2030-01-01T10:00"},
            product_id="{product}",
            variant_id="{line}",
        )
    ],
    "adminpanel:category": [ask({"name": ""}, category_id="{category}")],
    "adminpanel:category_order": [ask({"pin": "{product}"}, category_id="{category}")],
    "adminpanel:category_picture": [
        ask({"picture": "mug/c8724c-efeae0", "alt": "Mine"}, category_id="{category}")
    ],
    "adminpanel:category_upload": [ask(category_id="{category}")],
    "adminpanel:category_remove": [ask({"version": "x"}, category_id="{category}")],
    "adminpanel:delivery_method": [ask({"name": "Mine"}, key="standard-de")],
    "adminpanel:delivery_method_remove": [ask({"version": "x"}, key="express-de")],
    "adminpanel:mail_text": [ask({"subject": ""}, key="reset")],
    "adminpanel:mail_text_preview": [ask({"subject": ""}, key="reset")],
    "adminpanel:mail_text_test": [ask({"subject": ""}, key="reset")],
    "adminpanel:mail_text_reset": [ask({"version": "x"}, key="reset")],
    "adminpanel:warehouse": [ask({"name": ""}, key="cork")],
    "adminpanel:country_tax": [ask({"standard_0": "0"}, key="DE")],
    "adminpanel:filter": [ask({"name": ""}, key="size")],
    "adminpanel:colour": [ask({"hex": "no colour"}, key="ink")],
    "adminpanel:terms_detail": [ask({"seller_name": "Mine"}, key="first")],
    "adminpanel:menu": [ask({"line_0000": "Mine"}, key="footer")],
    "adminpanel:front_block_new": [ask({"title": "Mine"}, kind="text")],
    "adminpanel:front_block": [ask({"title": "Mine"}, key="deals")],
    "adminpanel:front_block_remove": [ask({"version": "x"}, key="deals")],
    "adminpanel:text_page": [ask({"title": ""}, key="help")],
    "adminpanel:text_page_offline": [ask({"offline": "yes"}, key="help")],
    "adminpanel:text_page_take_back": [ask(key="help", number="9")],
    "text_page": [ask(slug="delivery")],
    "terms_version": [ask(number="0")],
    "adminpanel:front_page_row": [ask({"pin": "{product}"}, row="deals")],
    "adminpanel:search_rule_new": [ask({"words": ""}, kind="two_way")],
    "adminpanel:search_rule": [ask({"words": ""}, kind="two_way", key=str(uuid4()))],
    "adminpanel:search_rule_remove": [ask({}, kind="two_way", key=str(uuid4()))],
    "adminpanel:promotion_make": [ask({"title": ""}, kind="percentage")],
    "adminpanel:promotion": [ask({"title": ""}, trigger="code", name="{promotion}")],
    "adminpanel:promotion_duplicate": [ask({"title": ""}, trigger="code", name="{promotion}")],
    "adminpanel:promotion_end": [ask(trigger="code", name="{promotion}")],
    "adminpanel:promotion_resume": [ask(trigger="code", name="{promotion}")],
    "adminpanel:draft": [ask({"version": "x"}, draft_id="{draft}")],
    "adminpanel:draft_send": [ask({"version": "x"}, draft_id="{draft}")],
    "adminpanel:draft_order": [ask({"version": "x"}, draft_id="{draft}")],
    "adminpanel:draft_delete": [ask({"version": "x"}, draft_id="{draft}")],
    "adminpanel:customer": [ask(user_id="{user}")],
    "adminpanel:customer_note": [ask({"customer_note": ""}, user_id="{user}")],
    "adminpanel:review": [ask(product_id="{reviewed_id}", user_id="{user}")],
    "adminpanel:review_decide": [
        ask({"act": "publish", "version": "1"}, product_id="{reviewed_id}", user_id="{user}")
    ],
    "adminpanel:review_picture_remove": [
        ask({"picture": "photo/none", "version": "1"}, product_id="{reviewed_id}", user_id="{user}")
    ],
    "adminpanel:review_answer": [
        ask({"answer": "x", "version": "1"}, product_id="{reviewed_id}", user_id="{user}")
    ],
    # One that waits for the staff, of a product that is for all.
    "reviews:vote": [ask({"review": "{review}", "helpful": "1"}, slug="{reviewed}")],
    "reviews:report": [ask({"review": "{review}"}, slug="{reviewed}")],
    "reviews:write": [ask(slug="none")],
    "reviews:withdraw": [ask({"version": "1"}, slug="{reviewed}")],
    "reviews:write_as_guest": [ask(token="{forged}", slug="{reviewed}")],
    "reviews:withdraw_as_guest": [ask({"version": "1"}, token="{forged}", slug="{reviewed}")],
    "reviews:stop": [ask(token="{forged}")],
    # Likewise one that waits.
    "questions:ask": [ask({"body": "x"}, slug="none")],
    "questions:answer": [ask({"body": "x"}, slug="{reviewed}", question_id="{question}")],
    "questions:withdraw": [ask({"version": "1"}, slug="{reviewed}", question_id="{question}")],
    "questions:report": [ask(slug="{reviewed}", question_id="{question}")],
    "adminpanel:question": [
        ask(product_id="{reviewed_id}", question_id="{question}", answer_id=str(QUESTION))
    ],
    "adminpanel:question_decide": [
        ask(
            {"act": "publish", "version": "1"},
            product_id="{reviewed_id}",
            question_id="{question}",
            answer_id=str(QUESTION),
        )
    ],
    "adminpanel:question_answer": [
        ask(
            {"body": "x"},
            product_id="{reviewed_id}",
            question_id="{question}",
            answer_id=str(QUESTION),
        )
    ],
    **{
        f"adminpanel:conversation{name}": [ask(body, conversation_id="{conversation}")]
        for name, body in {
            "": {},
            "_reply": {"message": ""},
            "_draft": {"message": "Half"},
            "_note": {"message": ""},
            "_assign": {"version": "x"},
            "_state": {"state": "x"},
            "_labels": {"label": "x"},
            "_read": {},
            "_viewers": {},
        }.items()
    },
    "adminpanel:conversation_file": [
        ask(conversation_id="{conversation}", message_id=str(uuid4()), attachment_id=str(uuid4()))
    ],
    "conversations:file": [
        ask(conversation_id="{conversation}", message_id=str(uuid4()), attachment_id=str(uuid4()))
    ],
    "conversations:guest_file": [
        ask(token="{forged}", message_id=str(uuid4()), attachment_id=str(uuid4()))
    ],
    "conversations:confirm": [ask(token="{forged}")],
    "conversations:guest": [ask({"message": "I was here"}, token="{forged}")],
    **{
        f"conversations:{name}": [ask({"message": "I was here"}, conversation_id="{conversation}")]
        for name in ("detail", "reply", "draft", "read")
    },
    "conversations:label": [ask({"name": ""}, label_id="{own_label}")],
    "conversations:label_empty": [ask(label_id="{own_label}")],
    "conversations:label_delete": [ask(label_id="{own_label}")],
    "adminpanel:message_label": [ask({"name": ""}, label_id="{message_label}")],
    "adminpanel:message_label_empty": [ask({"version": "x"}, label_id="{message_label}")],
    "adminpanel:message_label_delete": [ask({"version": "x"}, label_id="{message_label}")],
    "adminpanel:saved_reply": [ask({"name": ""}, key=str(uuid4()))],
    "adminpanel:saved_reply_remove": [ask({}, key=str(uuid4()))],
    # A post that waits, and a comment that does, on a post that all see.
    **{
        f"posts:{name}": [ask(body, post_id="{post}")]
        for name, body in {
            "post": {},
            "add_all": {},
            "write": {"body": "Mine now", "version": "1"},
            "withdraw": {"version": "1"},
            "like": {"like_type": "like"},
            "report": {},
            "comment": {"body": "I was here"},
            "staff_post": {},
            "staff_post_decide": {"act": "publish", "version": "1"},
            "staff_picture_remove": {"picture": "photo/none", "version": "1"},
        }.items()
    },
    **{
        f"posts:comment_{name}": [
            ask(
                {"body": "Mine now", "version": "1", "hidden": "1"},
                post_id="{commented}",
                partition="0",
                thread_id="{comment}",
                comment_id="{comment}",
            )
        ]
        for name in ("edit", "withdraw", "hide", "report")
    },
    "posts:block_writer": [
        ask(post_id="{commented}", partition="0", thread_id="{comment}", comment_id="{comment}")
    ],
    # A public profile is for all to follow and to block: so it is one that nobody has.
    "posts:follow": [ask({"follows": "1"}, handle="nobody_1")],
    "posts:block": [ask(handle="nobody_1")],
    "posts:staff_comment": [ask(user_id="{user}", comment_id="{comment}")],
    "posts:staff_comment_decide": [
        ask({"act": "publish", "version": "1"}, user_id="{user}", comment_id="{comment}")
    ],
    "adminpanel:customer_block": [ask({"block_reason": ""}, user_id="{user}")],
    "adminpanel:customer_unblock": [ask({"seen": "x"}, user_id="{user}")],
    "adminpanel:customer_export": [ask(user_id="{user}")],
    "adminpanel:customer_erase": [ask({"email": "eve@example.com"}, user_id="{user}")],
    "adminpanel:person": [ask(user_id="{user}")],
    "adminpanel:person_role": [ask({"role": "admin"}, user_id="{user}")],
    "adminpanel:person_sessions_end": [ask(user_id="{user}")],
    "adminpanel:person_factor_reset": [ask(user_id="{user}")],
}


# Addresses without an id whose submits name one.
BY_A_PRESS: dict[str, list[Ask]] = {
    "adminpanel:review_rules": [ask({"words": "x" * 30_000})],
    "adminpanel:parcel_weights": [ask({"surcharge_0": "a lot"})],
    "adminpanel:order_changes_new": [ask({"orders": "{order_id}", "act": "tagged"})],
    "adminpanel:order_changes_preview": [ask({"orders": "{order_id}", "act": "held"})],
    "adminpanel:bulk_change_new": [ask({"products": "{product}", "act": "status"})],
    "cart:change": [ask({"cart": "{cart}", "line": "{line}", "quantity": "7"})],
    "cart:remove": [ask({"cart": "{cart}", "line": "{line}"})],
    "cart:restore": [ask({"removed": "{removed}"})],
    "cart:agree": [ask({"cart": "{cart}", "agreed": "{line}:1:1200:1300"})],
    "cart:voucher": [
        ask({"cart": "{cart}", "code": "EVE"}),
        ask({"cart": "{cart}", "remove": "1"}),
    ],
    "cart:switch": [ask({"cart": "{cart}"})],
    "cart:undo": [ask({"undo": "{undo}"})],
    "accounts:session_end": [ask({"session": "{session}"})],
    "orders:lookup": [ask({"number": "{number}", "email": "eve@example.com"})],
    "orders:withdraw": [ask({"number": "{number}", "email": "eve@example.com", "name": "Eve"})],
    "conversations:contact": [ask({"order": "{number}", "message": ""})],
    "conversations:change": [
        ask({"act": act, "conversation": "{conversation}.0"}) for act in ("archive", "unread")
    ],
    "checkout:details": [ask({"checkout": "{forged}", "address": "{address}"})],
    "checkout:delivery": [ask({"checkout": "{forged}", "delivery": "standard", "payment": "card"})],
    "checkout:review": [ask({"checkout": "{forged}", "email": "eve@example.com"})],
    "adminpanel:customer_find": [ask({"email": "{email}"})],
    "adminpanel:customers_export": [ask({"file_id": ""})],
    "adminpanel:person_find": [ask({"email": "{email}"})],
    "adminpanel:category_new": [ask({"name": "", "parent": "{category}"})],
    "adminpanel:category_move": [ask({"up": "{category}"})],
    "adminpanel:search": [ask({"q": "{number}"}), ask({"q": "{email}"})],
    "adminpanel:command": [ask({"q": "{number}"}), ask({"q": "{email}"})],
}


# What is public, or opens to every user who knows it; and why.
OPEN_TO_ALL = {
    "category": "the shop window",
    "product": "the shop window",
    "reviews:list": "the shop window",
    "questions:list": "the shop window",
    "posts:tag": "the shop window",
    "posts:of_product": "the shop window",
    "posts:person": "what a member has made public",
    **dict.fromkeys(("brand_stylesheet", "brand_preview"), "colours, which the address names"),
    "picture": "a drawing",
    "picture_sheet": "drawings",
    "photo": "a picture that staff have uploaded",
    "share_image": "a drawing, whose address the shop has signed",
    "shop_share_image": "the shop's own drawing",
    "sitemap_part": "the shop window's list",
    "mail:message": "the demo shop's mail reader, which a shop does not have",
    "mail:html": "the same",
    "mail:answer": "the same",
    "testbank:pay": "the bank's page: its payment's id is the bank's secret, and it shows a sum and an order's number",
    "orders:payment_webhook": "the bank's own: its body is signed",
    "readings": "a device's own: it has a token",
}

"""The shop's pages, each ready to be looked at: with something in the cart, an order placed, a user signed in."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.urls import URLPattern, URLResolver, get_resolver

from demo.catalogue_data import PRODUCTS
from tests.browser.shop_data import CSRF
from tests.browser.steps import TWO_CHOICES, sold_out_skus
from tests.factories import PASSWORD


@dataclass(frozen=True)
class ShopPage:
    """A page: the view that draws it, or a template that needs none; where it is, who looks, and what it answers.

    "{order}" in an address stands for what `making` has made. `sent` is what a form sends there.
    """

    view: str = ""
    address: str = ""
    who: str = ""
    status: int = 200
    form_data: str = ""
    template: str = ""


_SOLD_OUT = next((each.slug, sku) for each in PRODUCTS for sku in sold_out_skus(each))
_ORDER, _SENT, _MOVED = "/orders/{order}/", "/orders/{sent}/", "/staff/search-rules/redirects/"
_ANOTHER_ADDRESS = urlencode(
    {"email": "max@example.org", "current": PASSWORD, "csrfmiddlewaretoken": CSRF}
)
_WITHDRAWAL = urlencode(
    {
        "name": "Max Mustermann",
        "number": "7KQF-3M9X",
        "email": "max@example.org",
        "csrfmiddlewaretoken": CSRF,
    }
)
_NOTHING = urlencode({"name": "", "csrfmiddlewaretoken": CSRF})
_NO_WITHDRAWAL = urlencode({"csrfmiddlewaretoken": CSRF})
_TOO_MANY_FIELDS = "&".join(f"field{number}=" for number in range(201))

# By the part of the shop: each is looked at in one go. A page may stand here in several states.
PAGES: dict[str, dict[str, ShopPage]] = {
    "shop window": {
        "front": ShopPage("home", "/"),
        "category": ShopPage("category", "/c/kitchen/"),
        "a filtered category": ShopPage(
            "category",
            "/c/kitchen/?filter=stock:yes&filter=bestseller:yes&filter=new:yes&price=1-2",
        ),
        "product": ShopPage("product", f"/p/{TWO_CHOICES.slug}/"),
        "reviews": ShopPage("reviews:list", "/p/{reviewed}/reviews/"),
        "reviews of one star": ShopPage("reviews:list", "/p/{reviewed}/reviews/?stars=1"),
        "questions": ShopPage("questions:list", "/p/{reviewed}/questions/"),
        "a question, unasked": ShopPage("questions:ask", "/account/questions/{reviewed}/", "ann"),
        "a question, refused": ShopPage(
            "questions:ask", "/account/questions/{reviewed}/", "ann", 422, _NOTHING
        ),
        "own question": ShopPage(
            "questions:answer", "/account/questions/{reviewed}/{question}/", "ann"
        ),
        "own review": ShopPage("reviews:write", "/account/reviews/{reviewed}/", "ann"),
        "own review, refused": ShopPage(
            "reviews:write", "/account/reviews/{reviewed}/", "ann", 422, _NOTHING
        ),
        "mails that ask for reviews, unsubscribe": ShopPage(
            "reviews:stop", "/reviews/stop/{review_stop}/"
        ),
        "a guest's review": ShopPage(
            "reviews:write_as_guest", "/reviews/{review_token}/{review_slug}/"
        ),
        "a guest's review, too late": ShopPage(
            "reviews:write_as_guest", "/reviews/{forged}/{reviewed}/", status=410
        ),
        "reviewed product": ShopPage("product", "/p/{reviewed}/"),
        "posts": ShopPage("posts:newest", "/posts/"),
        "popular posts": ShopPage("posts:newest", "/posts/?popular="),
        "posts with a tag": ShopPage("posts:tag", "/posts/tags/clay/"),
        "posts with a tag, none": ShopPage("posts:tag", "/posts/tags/none/"),
        "posts with a product": ShopPage("posts:of_product", "/p/{reviewed}/posts/"),
        "a post": ShopPage("posts:post", "/posts/{post}/"),
        "a post with comments": ShopPage("posts:post", "/posts/{post}/", "ann"),
        "a comment, refused": ShopPage(
            "posts:comment", "/account/posts/{post}/comments/", "ann", 422, _NOTHING
        ),
        "own comment": ShopPage(
            "posts:comment_edit", "/account/posts/{post}/comments/0/{comment}/{comment}/", "ann"
        ),
        "a person": ShopPage("posts:person", "/people/{handle}/"),
        "a person to follow": ShopPage("posts:person", "/people/{followed_handle}/", "ann"),
        "the feed": ShopPage("posts:feed", "/posts/following/", "ann"),
        "followed people": ShopPage("posts:people", "/account/people/", "ann"),
        "own posts": ShopPage("posts:own", "/account/posts/", "ann"),
        "own post": ShopPage("posts:write", "/account/posts/{own_post}/", "ann"),
        "own post, refused": ShopPage(
            "posts:write", "/account/posts/{own_post}/", "ann", 422, _NOTHING
        ),
        "a new post": ShopPage("posts:write", "/account/posts/{new_post}/", "ann"),
        "own profile": ShopPage("posts:profile", "/account/profile/", "ann"),
        "sold out": ShopPage("product", "/p/{}/?variant={}".format(*_SOLD_OUT)),
        "no longer sold": ShopPage("product", "/p/{gone}/", status=410),
        "not found": ShopPage("product", "/p/no-such-thing/", status=404),
        "deals": ShopPage("deals", "/deals/"),
        "new arrivals": ShopPage("new_arrivals", "/new/"),
        "search": ShopPage("search", "/search?q=cotton"),
        "a filtered search": ShopPage("search", "/search?q=cotton&filter=stock:yes&price=NaN-"),
        "search without a result": ShopPage("search", "/search?q=zzzzzz"),
        "search of fewer words": ShopPage("search", "/search?q=cotton+zzzzzz"),
        "search with a price": ShopPage("search", "/search?q=cotton+under+50"),
        "suggestions": ShopPage("suggest", "/search/suggest?q=tow"),
        "recently viewed": ShopPage("viewed", "/viewed/"),
        "nothing viewed": ShopPage("viewed", "/viewed/", "ann"),
        "help": ShopPage("help", "/help/"),
        "delivery": ShopPage("delivery", "/help/delivery/"),
        "privacy": ShopPage("privacy", "/help/privacy/"),
        "imprint": ShopPage("imprint", "/help/imprint/"),
        "terms of sale": ShopPage("terms", "/help/terms/"),
        "accepted terms": ShopPage("terms_version", "/help/terms/versions/0/?on=2026-11-01"),
        "accessibility": ShopPage("accessibility", "/help/accessibility/"),
    },
    "carts": {
        "empty cart": ShopPage("cart:show", "/cart/"),
        "cart": ShopPage("cart:show", "/cart/", "guest"),
        "another cart": ShopPage("cart:one", "/carts/{other}/", "guest"),
        "shared cart": ShopPage("cart:one", "/carts/{shared}/", "ann"),
        "shared cart, changed": ShopPage("cart:changes", "/carts/{shared}/changes/", "ann"),
        "no carts": ShopPage("cart:carts", "/carts/"),
        "carts": ShopPage("cart:carts", "/carts/", "guest"),
        "another name": ShopPage("cart:rename", "/carts/{cart}/rename/", "guest"),
        "merge": ShopPage("cart:merge", "/carts/{cart}/merge/", "guest"),
        "merge into": ShopPage("cart:merge", "/carts/{cart}/merge/?into={other}", "guest"),
        "move": ShopPage("cart:move", "/carts/{cart}/lines/{line}/move/", "guest"),
        "a guest's people": ShopPage("cart:people", "/carts/{cart}/people/", "guest"),
        "a member's people": ShopPage("cart:people", "/carts/{shared}/people/", "ann"),
        "offer": ShopPage("drafts:offer", "/offer/{offer}/"),
        "offer that is gone": ShopPage("drafts:offer", "/offer/{forged}/", status=410),
        "cart behind a link": ShopPage("cart:shared", "/carts/shared/{link}/"),
        "link that is over": ShopPage("cart:shared", "/carts/shared/{forged}/", status=404),
        "invitation": ShopPage("cart:invitation", "/carts/invitation/{invitation}/"),
        "another's invitation": ShopPage(
            "cart:invitation", "/carts/invitation/{invitation}/", "ann"
        ),
        "invitation that is over": ShopPage(
            "cart:invitation", "/carts/invitation/{forged}/", status=404
        ),
        "back in stock": ShopPage("stock_alerts:subscribe", f"/cart/wait/?variant={_SOLD_OUT[1]}"),
        "back in stock, confirmed": ShopPage("stock_alerts:confirm", "/cart/wait/{subscription}/"),
        "back in stock, unsubscribe": ShopPage("stock_alerts:unsubscribe", "/cart/wait/end/{end}/"),
        "telling that is over": ShopPage(
            "stock_alerts:confirm", "/cart/wait/{forged}/", status=410
        ),
    },
    "orders": {
        "checkout's first step": ShopPage("checkout:details", "/checkout/", "guest"),
        "checkout's second step": ShopPage("checkout:delivery", "/checkout/delivery/", "guest"),
        "checkout's last step": ShopPage("checkout:review", "/checkout/review/", "guest"),
        "line before the checkout": ShopPage(address="/checkout/", template="checkout_queue.html"),
        "order that is being placed": ShopPage(
            address="/checkout/review/", template="checkout/placing.html"
        ),
        "bank": ShopPage("testbank:pay", "/testbank/{card}/"),
        "bank that asks for a code": ShopPage("testbank:pay", "/testbank/{code}/"),
        "order": ShopPage("orders:detail", _ORDER, "guest"),
        "order to be paid": ShopPage("orders:detail", "/orders/{unpaid}/", "guest"),
        "order to be confirmed": ShopPage("orders:detail", "/orders/{unconfirmed}/", "guest"),
        "was it you": ShopPage("orders:confirm", "/o/{confirmation}/confirm/"),
        "it was me": ShopPage("orders:confirm", "/o/{confirmed}/confirm/"),
        "order that has arrived": ShopPage("orders:detail", _SENT, "guest"),
        "buy again": ShopPage("orders:reorder", f"{_ORDER}again/", "guest"),
        "cancel": ShopPage("orders:cancel", f"{_ORDER}cancel/", "guest"),
        "too late to cancel": ShopPage("orders:cancel", f"{_SENT}cancel/", "guest"),
        "take something out": ShopPage("orders:change", f"{_ORDER}change/", "guest"),
        "another address": ShopPage("orders:change_address", f"{_ORDER}address/", "guest"),
        "nothing to send back": ShopPage("orders:request_return", f"{_ORDER}return/", "guest"),
        "send back": ShopPage("orders:request_return", f"{_SENT}return/", "guest"),
        "find an order": ShopPage("orders:lookup", "/orders/"),
        "withdraw": ShopPage("orders:withdraw", "/withdraw/?number=7KQF-3M9X"),
        "withdraw, something missing": ShopPage(
            "orders:withdraw", "/withdraw/", "ann", 422, form_data=_NO_WITHDRAWAL
        ),
        "confirm a withdrawal": ShopPage(
            "orders:withdraw", "/withdraw/", "ann", form_data=_WITHDRAWAL
        ),
        "withdrawn": ShopPage("orders:withdrawn", "/withdraw/received/"),
        "history": ShopPage("orders:history", "/account/orders/", "ann"),
        "past orders": ShopPage("past_orders:list", "/account/orders/past/", "ann"),
    },
    "accounts": {
        "sign in": ShopPage("accounts:login", "/account/login/"),
        "sign out": ShopPage("accounts:logout", "/account/logout/", "ann"),
        "register": ShopPage("accounts:register", "/account/register/"),
        "registration sent": ShopPage("accounts:sent", "/account/register/sent/"),
        "registration's link": ShopPage("accounts:finish", "/account/register/{registration}/"),
        "registered already": ShopPage("accounts:finish", "/account/register/{registered}/"),
        "registration that is over": ShopPage(
            "accounts:finish", "/account/register/{forged}/", status=410
        ),
        "forgotten password": ShopPage("accounts:reset", "/account/reset/"),
        "reset sent": ShopPage("accounts:reset_sent", "/account/reset/sent/"),
        "reset's link": ShopPage("accounts:reset_finish", "/account/reset/{reset}/"),
        "reset that is over": ShopPage(
            "accounts:reset_finish", "/account/reset/{forged}/", status=410
        ),
        "profile": ShopPage("accounts:profile", "/account/", "ann"),
        "addresses": ShopPage("accounts:addresses", "/account/addresses/", "ann"),
        "new address": ShopPage("accounts:address_add", "/account/addresses/add/", "ann"),
        "address": ShopPage("accounts:address_edit", "/account/addresses/{address}/", "ann"),
        "security": ShopPage("accounts:security", "/account/security/", "ann"),
        "new password": ShopPage("accounts:password", "/account/password/", "ann"),
        "new e-mail address": ShopPage("accounts:email", "/account/email/", "ann"),
        "new e-mail address's link": ShopPage(
            "accounts:email_confirm", "/account/email/{new_email}/", "ann"
        ),
        "new e-mail address that is over": ShopPage(
            "accounts:email_confirm", "/account/email/{forged}/", "ann", 410
        ),
        "preferences": ShopPage("accounts:preferences", "/account/preferences/", "ann"),
        "notifications": ShopPage("accounts:notifications", "/account/notifications/", "ann"),
        "watched prices": ShopPage("price_alerts:list", "/account/watched/", "ann"),
        "what we tell you": ShopPage(
            "accounts:notification_choices", "/account/notifications/choices/", "ann"
        ),
        "mails, unsubscribe": ShopPage(
            "notifications:end_mails", "/notifications/end/{end_mails}/"
        ),
        "mails, unsubscribe, forged": ShopPage(
            "notifications:end_mails", "/notifications/end/{forged}/", status=410
        ),
        "own data": ShopPage("accounts:privacy", "/account/privacy/", "ann"),
        "erasing": ShopPage("accounts:erase", "/account/privacy/erase/", "ann"),
        "goodbye": ShopPage("accounts:erased", "/account/privacy/erased/"),
    },
    "messages": {
        "contact": ShopPage("conversations:contact", "/contact/"),
        "contact, refused": ShopPage("conversations:contact", "/contact/", "ann", 422, _NOTHING),
        "contact about a product": ShopPage(
            "conversations:contact", "/contact/?product={reviewed}", "ann"
        ),
        "contact, sent": ShopPage("conversations:contact_sent", "/contact/sent/"),
        "contact's link": ShopPage("conversations:confirm", "/contact/{contact}/"),
        "contact's link that is over": ShopPage(
            "conversations:confirm", "/contact/{forged}/", status=410
        ),
        "a guest's messages": ShopPage("conversations:guest", "/messages/{guest_messages}/"),
        "own messages": ShopPage("conversations:list", "/account/messages/", "ann"),
        "own messages, none": ShopPage(
            "conversations:list", "/account/messages/?folder=trash", "ann"
        ),
        "own messages, nothing ticked": ShopPage(
            "conversations:change", "/account/messages/change/", "ann", 422, _NOTHING
        ),
        "own conversation": ShopPage(
            "conversations:detail", "/account/messages/{conversation}/", "ann"
        ),
        "own conversation, refused": ShopPage(
            "conversations:reply", "/account/messages/{conversation}/reply/", "ann", 422, _NOTHING
        ),
        "own labels": ShopPage("conversations:labels", "/account/messages/labels/", "ann"),
        "own label": ShopPage(
            "conversations:label", "/account/messages/labels/{own_label}/", "ann"
        ),
    },
    "staff": {
        "home": ShopPage("adminpanel:home", "/staff/", "admin"),
        "board": ShopPage("adminpanel:board", "/staff/orders/", "staff"),
        "staff's search": ShopPage("adminpanel:search", "/staff/search/?q=ann", "admin"),
        "staff's search, nothing found": ShopPage(
            "adminpanel:search", "/staff/search/?q=xyzzy", "staff"
        ),
        "past order found": ShopPage("adminpanel:search", "/staff/search/?q={past_order}", "admin"),
        "staff's order": ShopPage("adminpanel:order", "/staff/orders/{order}/", "staff"),
        "staff's order with a return": ShopPage(
            "adminpanel:order", "/staff/orders/{sent}/", "admin"
        ),
        "changes of many orders": ShopPage(
            "adminpanel:order_changes", "/staff/orders/changes/", "staff"
        ),
        "orders to change": ShopPage(
            "adminpanel:order_changes_new", "/staff/orders/changes/new/?order={ordered}", "staff"
        ),
        "orders to ship": ShopPage(
            "adminpanel:order_changes_new",
            "/staff/orders/changes/new/?order={ordered}&act=shipped",
            "staff",
        ),
        "a finished change of orders": ShopPage(
            "adminpanel:order_change", "/staff/orders/changes/{order_change}/", "staff"
        ),
        "papers": ShopPage("adminpanel:papers", "/staff/orders/papers/", "staff"),
        "papers to choose": ShopPage(
            "adminpanel:paper_new", "/staff/orders/papers/new/?order={ordered}&kind=slips", "staff"
        ),
        "a paper": ShopPage("adminpanel:paper", "/staff/orders/papers/{paper}/", "staff"),
        "draft orders": ShopPage("adminpanel:drafts", "/staff/drafts/", "admin"),
        "draft order, new": ShopPage(
            "adminpanel:draft_new", "/staff/drafts/new/?order={to_pack}", "admin"
        ),
        "draft order": ShopPage("adminpanel:draft", "/staff/drafts/{draft}/?q=mug", "admin"),
        "customers": ShopPage("adminpanel:customers", "/staff/customers/", "admin"),
        "customers that a filter finds": ShopPage(
            "adminpanel:customers", "/staff/customers/?orders_from=1&spent_from=5", "admin"
        ),
        "customer": ShopPage("adminpanel:customer", "/staff/customers/{ann}/", "admin"),
        "second factor": ShopPage(
            "adminpanel:second_factor", "/staff/second-factor/", "not passed"
        ),
        "recovery code": ShopPage(
            "adminpanel:second_factor", "/staff/second-factor/?way=recovery", "not passed"
        ),
        "enrolling": ShopPage("adminpanel:second_factor", "/staff/second-factor/", "not enrolled"),
        "own second factor": ShopPage("adminpanel:second_factor", "/staff/second-factor/", "staff"),
        "people": ShopPage("adminpanel:people", "/staff/people/", "admin"),
        "person": ShopPage("adminpanel:person", "/staff/people/{ann}/", "admin"),
        "audit log": ShopPage("adminpanel:log", "/staff/log/", "admin"),
        "sales": ShopPage("adminpanel:sales", "/staff/sales/", "admin"),
        "sales by product": ShopPage("adminpanel:sales", "/staff/sales/?by=product", "admin"),
        "reviews that wait": ShopPage("adminpanel:reviews", "/staff/reviews/", "admin"),
        "a review that waits": ShopPage(
            "adminpanel:review", "/staff/reviews/{product}/{ann}/", "admin"
        ),
        "a question": ShopPage(
            "adminpanel:question",
            "/staff/reviews/questions/{product}/{question}/{question_row}/",
            "admin",
        ),
        "messages": ShopPage("adminpanel:messages", "/staff/messages/?folder=all", "admin"),
        "messages, searched": ShopPage("adminpanel:messages", "/staff/messages/?q=parcel", "admin"),
        "messages, nothing ticked": ShopPage(
            "adminpanel:messages_change", "/staff/messages/change/", "admin", 422, _NOTHING
        ),
        "a conversation": ShopPage(
            "adminpanel:conversation", "/staff/messages/{conversation}/", "admin"
        ),
        "a conversation, new": ShopPage(
            "adminpanel:conversation_new", "/staff/messages/new/?order={order}", "admin"
        ),
        "labels of messages": ShopPage(
            "adminpanel:message_labels", "/staff/messages/labels/", "admin"
        ),
        "a label of messages": ShopPage(
            "adminpanel:message_label", "/staff/messages/labels/{message_label}/", "admin"
        ),
        "saved replies": ShopPage("adminpanel:saved_replies", "/staff/messages/replies/", "admin"),
        "saved reply, new": ShopPage(
            "adminpanel:saved_reply_new", "/staff/messages/replies/new/", "admin"
        ),
        "saved reply": ShopPage(
            "adminpanel:saved_reply", "/staff/messages/replies/{saved_reply}/", "admin"
        ),
        "blocked senders": ShopPage(
            "adminpanel:blocked_senders", "/staff/messages/blocked/", "admin"
        ),
        "a post that waits": ShopPage("posts:staff_post", "/staff/posts/{own_post}/", "admin"),
        "a comment, for staff": ShopPage(
            "posts:staff_comment", "/staff/posts/comments/{ann}/{comment}/", "admin"
        ),
        "rules for reviews": ShopPage(
            "adminpanel:review_rules", "/staff/settings/reviews/", "admin"
        ),
        "live": ShopPage("adminpanel:live", "/staff/live/", "admin"),
        "visits": ShopPage("adminpanel:visits", "/staff/visits/", "admin"),
        "searches": ShopPage("adminpanel:searches", "/staff/searches/", "admin"),
        "books": ShopPage("adminpanel:books", "/staff/books/", "admin"),
        "books, refused": ShopPage("adminpanel:books", "/staff/books/?month=odd", "admin", 422),
        "open invoices": ShopPage("adminpanel:open_invoices", "/staff/books/open/", "admin"),
        "unmatched": ShopPage("adminpanel:unmatched_payments", "/staff/books/unmatched/", "admin"),
        "failed mails": ShopPage("adminpanel:mails", "/staff/mail/", "admin"),
        "mails, refused": ShopPage(
            "adminpanel:mail_allow", "/staff/mail/allow/", "admin", 422, _NOTHING
        ),
        "a mail": ShopPage(
            "adminpanel:order_mail", "/staff/orders/{order}/mails/{order_mail}/", "admin"
        ),
        "worker": ShopPage("adminpanel:worker", "/staff/worker/", "staff"),
        "climate": ShopPage("adminpanel:climate", "/staff/climate/", "admin"),
        "system": ShopPage("adminpanel:system", "/staff/system/", "admin"),
        "products": ShopPage("adminpanel:products", "/staff/products/", "admin"),
        "products that need attention": ShopPage(
            "adminpanel:attention", "/staff/products/attention/", "admin"
        ),
        "stock value": ShopPage("adminpanel:stock_value", "/staff/stock/value/", "admin"),
        "no products found": ShopPage("adminpanel:products", "/staff/products/?q=zzzzzz", "admin"),
        "a change of many": ShopPage(
            "adminpanel:bulk_change_new", "/staff/products/change/?product={product}", "admin"
        ),
        "a change of many, refused": ShopPage(
            "adminpanel:bulk_change_new",
            "/staff/products/change/?product={product}&act=price",
            "admin",
            422,
        ),
        "a change of many, beforehand": ShopPage(
            "adminpanel:bulk_change_new",
            "/staff/products/change/?product={product}&act=price&direction=down&by=10&unit=percent&ending=99",
            "admin",
        ),
        "changes of many": ShopPage("adminpanel:bulk_changes", "/staff/products/changes/", "admin"),
        "a finished change": ShopPage(
            "adminpanel:bulk_change", "/staff/products/changes/{change}/", "admin"
        ),
        "imports and exports": ShopPage("adminpanel:spreadsheets", "/staff/spreadsheets/", "admin"),
        "columns of files": ShopPage(
            "adminpanel:spreadsheet_help", "/staff/spreadsheets/columns/", "admin"
        ),
        "import": ShopPage("adminpanel:import_new", "/staff/spreadsheets/import/upload/", "admin"),
        "columns of another shop": ShopPage(
            "adminpanel:import_columns", "/staff/spreadsheets/{foreign_import}/columns/", "admin"
        ),
        "export": ShopPage("adminpanel:export_new", "/staff/spreadsheets/export/", "admin"),
        "an import that was read": ShopPage(
            "adminpanel:spreadsheet", "/staff/spreadsheets/{spreadsheet}/", "admin"
        ),
        "a new product": ShopPage("adminpanel:product_new", "/staff/products/new/", "admin"),
        "a new product, refused": ShopPage(
            "adminpanel:product_new", "/staff/products/new/", "admin", 422, _NOTHING
        ),
        "a product": ShopPage("adminpanel:product", "/staff/products/{product}/", "admin"),
        "a product, refused": ShopPage(
            "adminpanel:product", "/staff/products/{product}/", "admin", 422, _NOTHING
        ),
        "prices": ShopPage(
            "adminpanel:product_prices",
            "/staff/products/{product}/variants/{variant}/prices/",
            "admin",
        ),
        "pictures": ShopPage(
            "adminpanel:product_pictures", "/staff/products/{product}/pictures/", "admin"
        ),
        "pictures, refused": ShopPage(
            "adminpanel:product_upload",
            "/staff/products/{product}/pictures/upload/",
            "admin",
            422,
            _NOTHING,
        ),
        "stock": ShopPage("adminpanel:product_stock", "/staff/products/{product}/stock/", "admin"),
        "stock of a warehouse": ShopPage("adminpanel:stock", "/staff/stock/", "admin"),
        "no stock found": ShopPage("adminpanel:stock", "/staff/stock/?q=zzzzzz", "admin"),
        "stock of a variant": ShopPage(
            "adminpanel:stock_item", "/staff/stock/{product}/{variant}/", "admin"
        ),
        "stock on its way": ShopPage(
            "adminpanel:stock_transfers", "/staff/stock/transfers/", "admin"
        ),
        "categories": ShopPage("adminpanel:categories", "/staff/categories/", "admin"),
        "a new category": ShopPage("adminpanel:category_new", "/staff/categories/new/", "admin"),
        "a new category, refused": ShopPage(
            "adminpanel:category_new", "/staff/categories/new/", "admin", 422, _NOTHING
        ),
        "a category": ShopPage("adminpanel:category", "/staff/categories/{category}/", "admin"),
        "a category, refused": ShopPage(
            "adminpanel:category", "/staff/categories/{category}/", "admin", 422, _NOTHING
        ),
        "a category's order": ShopPage(
            "adminpanel:category_order", "/staff/categories/{category}/order/", "admin"
        ),
        "a category's picture": ShopPage(
            "adminpanel:category_picture", "/staff/categories/{category}/picture/", "admin"
        ),
        "a category's picture, refused": ShopPage(
            "adminpanel:category_upload",
            "/staff/categories/{category}/picture/upload/",
            "admin",
            422,
            _NOTHING,
        ),
        "pages of text": ShopPage("adminpanel:text_pages", "/staff/pages/", "admin"),
        "page of text": ShopPage("adminpanel:text_page", "/staff/pages/help/", "admin"),
        "new page of text": ShopPage(
            "adminpanel:text_page_new", "/staff/pages/new/", "admin", 422, _NOTHING
        ),
        "front page, staff": ShopPage("adminpanel:front_page", "/staff/front-page/", "admin"),
        "rows of the front page": ShopPage(
            "adminpanel:front_page_rows", "/staff/front-page/rows/", "admin"
        ),
        "a block of the front page": ShopPage(
            "adminpanel:front_block", "/staff/front-page/blocks/deals/", "admin"
        ),
        "a new block of the front page": ShopPage(
            "adminpanel:front_block_new", "/staff/front-page/new/text/", "admin"
        ),
        "filters": ShopPage("adminpanel:filters", "/staff/filters/", "admin"),
        "a filter": ShopPage("adminpanel:filter", "/staff/filters/size/", "admin"),
        "a filter, refused": ShopPage(
            "adminpanel:filter", "/staff/filters/size/", "admin", 422, _NOTHING
        ),
        "colours": ShopPage("adminpanel:colours", "/staff/colours/", "admin"),
        "a colour": ShopPage("adminpanel:colour", "/staff/colours/ink/", "admin"),
        "menus": ShopPage("adminpanel:menus", "/staff/menus/", "admin"),
        "footer menu": ShopPage("adminpanel:menu", "/staff/menus/footer/", "admin"),
        "header menu": ShopPage("adminpanel:menu", "/staff/menus/header/", "admin"),
        "brand": ShopPage("adminpanel:brand", "/staff/settings/brand/", "admin"),
        "brand, refused": ShopPage(
            "adminpanel:brand",
            "/staff/settings/brand/",
            "admin",
            422,
            urlencode({"name": "", "accent": "white", "csrfmiddlewaretoken": CSRF}),
        ),
        "brand, previewed": ShopPage(
            "adminpanel:brand_preview", "/staff/settings/brand/preview/", "admin", 422, _NOTHING
        ),
        "brand's pictures, refused": ShopPage(
            "adminpanel:brand_upload", "/staff/settings/brand/upload/", "admin", 422, _NOTHING
        ),
        "shop settings": ShopPage("adminpanel:settings", "/staff/settings/", "admin"),
        "delivery methods": ShopPage(
            "adminpanel:delivery_methods", "/staff/settings/delivery/", "admin"
        ),
        "a delivery method": ShopPage(
            "adminpanel:delivery_method", "/staff/settings/delivery/standard-de/", "admin"
        ),
        "a new delivery method, refused": ShopPage(
            "adminpanel:delivery_method_new",
            "/staff/settings/delivery/new/",
            "admin",
            422,
            _NOTHING,
        ),
        "parcel weights": ShopPage(
            "adminpanel:parcel_weights", "/staff/settings/weights/", "admin"
        ),
        "tax rates": ShopPage("adminpanel:tax_rates", "/staff/settings/taxes/", "admin"),
        "a country's rates": ShopPage(
            "adminpanel:country_tax", "/staff/settings/taxes/FI/", "admin"
        ),
        "warehouses": ShopPage("adminpanel:warehouses", "/staff/settings/warehouses/", "admin"),
        "a warehouse": ShopPage(
            "adminpanel:warehouse", "/staff/settings/warehouses/cork/", "admin"
        ),
        "a new warehouse, refused": ShopPage(
            "adminpanel:warehouse_new", "/staff/settings/warehouses/new/", "admin", 422, _NOTHING
        ),
        "texts of emails": ShopPage("adminpanel:mail_texts", "/staff/settings/mails/", "admin"),
        "texts of an email": ShopPage(
            "adminpanel:mail_text", "/staff/settings/mails/order_confirmed/", "admin"
        ),
        "terms": ShopPage("adminpanel:terms", "/staff/settings/terms/", "admin"),
        "first terms": ShopPage("adminpanel:terms_detail", "/staff/settings/terms/first/", "admin"),
        "new terms": ShopPage("adminpanel:terms_new", "/staff/settings/terms/new/", "admin"),
        "promotions": ShopPage("adminpanel:promotions", "/staff/promotions/", "admin"),
        "a promotion": ShopPage(
            "adminpanel:promotion", "/staff/promotions/code/welcome10/", "admin"
        ),
        "a promotion that replaces another": ShopPage(
            "adminpanel:promotion_duplicate", "/staff/promotions/code/welcome10/duplicate/", "admin"
        ),
        "a new promotion, refused": ShopPage(
            "adminpanel:promotion_make", "/staff/promotions/make/buy_get/", "admin", 422, _NOTHING
        ),
        "rules for searches": ShopPage(
            "adminpanel:search_rules", "/staff/search-rules/?q=gift+under+20", "admin"
        ),
        "no rules": ShopPage(
            "adminpanel:search_rules", "/staff/search-rules/?kind=one_way", "admin"
        ),
        "a rule": ShopPage(
            "adminpanel:search_rule", "/staff/search-rules/redirect/{search_rule}/", "admin"
        ),
        "a new rule": ShopPage(
            "adminpanel:search_rule_new", "/staff/search-rules/two_way/new/", "admin"
        ),
        "a new rule, refused": ShopPage(
            "adminpanel:search_rule_new", "/staff/search-rules/pinned/new/", "admin", 422, _NOTHING
        ),
        "redirects": ShopPage("adminpanel:redirects", _MOVED, "admin"),
        "a redirect, refused": ShopPage("adminpanel:redirects", _MOVED, "admin", 422, _NOTHING),
        "mails": ShopPage("mail:messages", "/demo/mail/"),
        "mail": ShopPage("mail:message", "/demo/mail/{mail}/"),
    },
    "errors": {
        "makes no sense": ShopPage(
            "accounts:email", "/account/email/", "ann", 400, form_data=_TOO_MANY_FIELDS
        ),
        "form from elsewhere": ShopPage(
            "accounts:login", "/account/login/", status=403, form_data="email=x"
        ),
        "not for everybody": ShopPage("adminpanel:people", "/staff/people/", "staff", 403),
        "no such address": ShopPage(address="/no-such-page/", status=404),
        "too often": ShopPage(
            "accounts:email", "/account/email/", "limited", 429, form_data=_ANOTHER_ADDRESS
        ),
        "broken": ShopPage(address="/", status=500, template="errors/500.html"),
        "away": ShopPage(address="/", status=503, template="errors/503.html"),
    },
}
PAGES_BY_NAME = {name: place for group in PAGES.values() for name, place in group.items()}

_SUBMIT = "a submit, which leads to a page"
_CART_ACTIONS = (
    *(
        "add",
        "agree",
        "change",
        "remove",
        "restore",
        "voucher",
        "make",
        "switch",
        "undo",
        "duplicate",
        "empty",
        "delete",
    ),
    *(
        "later",
        "now",
        "drop",
        "shared_copy",
        "invite",
        "withdraw",
        "role",
        "exclude",
        "link",
        "unlink",
        "leave",
    ),
)
_STAFF_ACTIONS = (
    *("move", "note", "mail_again", "review_decide", "review_answer", "review_picture_remove"),
    *("question_decide", "question_answer", "tags", "pack", "pack_scan", "order_changes_preview"),
    *("paper_file", "parcel", "sent_back", "return_refund", "refund", "lines", "door"),
    *("received", "money_sent"),
    *("draft_send", "draft_order", "draft_delete"),
    *("customer_find", "customer_note", "customer_block", "customer_unblock"),
    *("customer_export", "customer_erase", "customers_export"),
    *("recovery_codes", "person_find", "person_role", "person_sessions_end", "person_factor_reset"),
    *("promotion_end", "promotion_resume", "delivery_method_remove"),
    *("mail_text_test", "mail_text_reset", "brand_restore"),
    *(
        "product_status",
        "product_copy",
        "product_price",
        "product_count",
        "bulk_change_undo",
        "import_apply",
    ),
    *(
        "conversation_read",
        "conversation_reply",
        "conversation_draft",
        "conversation_note",
        "conversation_assign",
    ),
    *("conversation_state", "conversation_labels", "message_label_new", "message_label_empty"),
    *("message_label_delete", "saved_reply_remove", "sender_block", "sender_unblock"),
    *("search_rule_remove", "redirect_remove", "command"),
    *("category_move", "category_remove", "front_page_row"),
    *("front_block_move", "front_block_remove"),
    *("text_page_offline", "text_page_take_back"),
    *("stock_mail", "stock_threshold", "stock_place", "stock_transfer_new", "stock_transfer_end"),
    *("unmatched_payment_settle", "faulty_rows"),
)
# Addresses that never show a page of ours, and why.
URLS_WITHOUT_PAGE = {
    "adminpanel:mail_text_preview": "a frame of the page that shows it",
    "mail:html": "a frame of the page that shows it",
    **dict.fromkeys(("brand_stylesheet", "brand_preview"), "a stylesheet"),
    "manifest": "a file",
    "picture": "a drawing",
    "picture_sheet": "drawings",
    "text_page": "drawn as help, delivery and the other pages of text are",
    "photo": "a picture",
    "share_image": "a picture",
    "shop_share_image": "a picture",
    "adminpanel:second_factor_picture": "a drawing",
    **dict.fromkeys(
        ("adminpanel:board_columns", "adminpanel:book_invoices", "adminpanel:density"), _SUBMIT
    ),
    **dict.fromkeys(("reviews:withdraw", "reviews:vote", "reviews:report"), _SUBMIT),
    "reviews:withdraw_as_guest": _SUBMIT,
    **dict.fromkeys(("questions:withdraw", "questions:report"), _SUBMIT),
    **dict.fromkeys(
        (
            f"posts:{name}"
            for name in (
                *("add_all", "like", "report", "withdraw"),
                *("comment_withdraw", "comment_hide", "comment_report"),
                *("follow", "block", "unblock", "block_writer"),
                *("staff_post_decide", "staff_comment_decide", "staff_picture_remove"),
            )
        ),
        _SUBMIT,
    ),
    "posts:new": "a redirect to the form of a new post",
    "posts:product_choices": "a part of the form of a post, for htmx",
    "notifications:bell": "a part of each page, for htmx",
    **dict.fromkeys(("accounts:notification_panel", "accounts:notifications_read"), _SUBMIT),
    **dict.fromkeys(("price_alerts:watch", "price_alerts:stop"), _SUBMIT),
    "accounts:notification_open": _SUBMIT,
    "adminpanel:viewers": "a part of an order's page, for htmx",
    "adminpanel:conversation_viewers": "a part of a conversation's page, for htmx",
    "adminpanel:conversation_file": "a file",
    **dict.fromkeys(
        (f"conversations:{name}" for name in ("draft", "read", "label_empty", "label_delete")),
        _SUBMIT,
    ),
    **dict.fromkeys(("conversations:file", "conversations:guest_file"), "a file"),
    "mail:answer": _SUBMIT,
    "adminpanel:spreadsheet_example": "a file",
    "adminpanel:export_file": "a file",
    "adminpanel:search_rule_file": "a file",
    "sitemap": "for robots",
    "sitemap_part": "for robots",
    "robots": "for robots",
    **dict.fromkeys(("llms", "google.xml", "google.tsv", "new_products"), "for machines"),
    "favicon": "a redirect to the icon",
    "healthz": "for machines",
    "readyz": "for machines",
    "metrics": "for machines",
    "readings": "for a sensor's machine",
    "cart:panel": "a part of a page, for htmx",
    "orders:invoice": "a PDF",
    "orders:track": "a redirect to the order",
    "orders:return_from_payment": "a redirect to the order",
    "orders:payment_webhook": "for a gateway's machines",
    "viewed_forget": _SUBMIT,
    "accounts:export": _SUBMIT,
    **dict.fromkeys((f"cart:{name}" for name in _CART_ACTIONS), _SUBMIT),
    **dict.fromkeys(
        (f"orders:{name}" for name in ("pay", "give_up", "extend_deadline", "confirmation_mail")),
        _SUBMIT,
    ),
    **dict.fromkeys(
        (
            f"accounts:{name}"
            for name in ("session_end", "sessions_end_others", "sessions_end_all", "address_remove")
        ),
        _SUBMIT,
    ),
    **dict.fromkeys((f"adminpanel:{name}" for name in _STAFF_ACTIONS), _SUBMIT),
}
# What stands in their addresses.
URL_ARGUMENTS = {
    "<uuid:cart_id>": "{cart}",
    "<uuid:key>": "{line}",
    "<int:key>": "{address}",
    "<str:number>": "{order}",
    "<str:serial_number>": "BER-01",
    "<int:number>": "1",
    "<str:row>": "deals",
    "<str:token>": "{link}",
    "<str:warehouse>": "berlin",
    "<str:parcel_id>": "1",
    "<str:return_id>": "1",
    "<uuid:user_id>": "{ann}",
    "<uuid:question_id>": "{question}",
    "<uuid:post_id>": "{post}",
    "<uuid:thread_id>": "{comment}",
    "<uuid:comment_id>": "{comment}",
    "<int:partition>": "0",
    "<str:handle>": "{handle}",
    "<str:tag>": "clay",
    "<uuid:answer_id>": "{question_row}",
    "<uuid:draft_id>": "{draft}",
    "<uuid:conversation_id>": "{conversation}",
    "<uuid:message_id>": "{conversation}",
    "<uuid:attachment_id>": "{conversation}",
    "<uuid:label_id>": "{message_label}",
    "<uuid:notification_id>": "{notification}",
    "<uuid:product_id>": "{product}",
    "<uuid:variant_id>": "{variant}",
    "<uuid:category_id>": "{category}",
    "<uuid:transfer_id>": "{transfer}",
    "<uuid:change_id>": "{change}",
    "<uuid:payment_id>": "{card}",
    "<str:gateway>": "testbank",
    "<slug:slug>": "{reviewed}",
    "<slug:trigger>": "code",
    "<slug:kind>": "redirect",
    "<slug:key>": "standard-de",
    "<slug:layout>": "products",
    "<uuid:task_id>": "{spreadsheet}",
    "<uuid:file_id>": "{paper}",
    "<uuid:mail_id>": "{order_mail}",
    "<str:name>": "welcome10",
    "<slug:shape>": "mug",
    "<str:pictures>": "mug.c8724c-efeae0",
    "<str:digest>": "0",
    "<str:key>": "0",
    "<slug:colours>": "c8724c-efeae0",
}


def iterate_urls(
    patterns: Any = None, space: str = "", route: str = "/"
) -> Iterator[tuple[str, str]]:
    """Yield the names of all addresses of the shop, and their routes."""
    for pattern in get_resolver().url_patterns if patterns is None else patterns:
        if isinstance(pattern, URLResolver):
            inner = f"{space}{pattern.namespace}:" if pattern.namespace else space
            yield from iterate_urls(pattern.url_patterns, inner, f"{route}{pattern.pattern}")
        elif isinstance(pattern, URLPattern):
            yield f"{space}{pattern.name}", f"{route}{pattern.pattern}"

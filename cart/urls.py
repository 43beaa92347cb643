"""What the cart offers."""

from django.urls import path

from cart.views import carts, lines, sharing, vouchers

app_name = "cart"
urlpatterns = [
    path("cart/", lines.show, name="show"),
    path("cart/add/", lines.add, name="add"),
    path("cart/agree/", lines.agree, name="agree"),
    path("cart/change/", lines.change, name="change"),
    path("cart/remove/", lines.remove, name="remove"),
    path("cart/restore/", lines.restore, name="restore"),
    path("cart/code/", vouchers.voucher, name="voucher"),
    path("cart/panel/", lines.panel, name="panel"),
    path("carts/", carts.overview, name="carts"),
    path("carts/make/", carts.make, name="make"),
    path("carts/switch/", carts.switch, name="switch"),
    path("carts/undo/", carts.undo, name="undo"),
    path("carts/<uuid:cart_id>/", lines.one, name="one"),
    path("carts/<uuid:cart_id>/rename/", carts.rename, name="rename"),
    path("carts/<uuid:cart_id>/duplicate/", carts.duplicate, name="duplicate"),
    path("carts/<uuid:cart_id>/empty/", carts.empty, name="empty"),
    path("carts/<uuid:cart_id>/delete/", carts.delete, name="delete"),
    path("carts/<uuid:cart_id>/merge/", carts.merge, name="merge"),
    path("carts/<uuid:cart_id>/lines/<uuid:key>/move/", carts.move, name="move"),
    path("carts/<uuid:cart_id>/lines/<uuid:key>/later/", carts.later, name="later"),
    path("carts/<uuid:cart_id>/lines/<uuid:key>/now/", carts.now, name="now"),
    path("carts/<uuid:cart_id>/lines/<uuid:key>/drop/", carts.drop, name="drop"),
    path("carts/shared/<str:token>/", sharing.shared, name="shared"),
    path("carts/shared/<str:token>/copy/", sharing.shared_copy, name="shared_copy"),
    path("carts/invitation/<str:token>/", sharing.invitation, name="invitation"),
    path("carts/<uuid:cart_id>/changes/", lines.changes, name="changes"),
    path("carts/<uuid:cart_id>/people/", sharing.everybody, name="people"),
    path("carts/<uuid:cart_id>/people/invite/", sharing.invite, name="invite"),
    path("carts/<uuid:cart_id>/people/withdraw/", sharing.withdraw, name="withdraw"),
    path("carts/<uuid:cart_id>/people/role/", sharing.role, name="role"),
    path("carts/<uuid:cart_id>/people/exclude/", sharing.exclude, name="exclude"),
    path("carts/<uuid:cart_id>/people/link/", sharing.link, name="link"),
    path("carts/<uuid:cart_id>/people/unlink/", sharing.unlink, name="unlink"),
    path("carts/<uuid:cart_id>/leave/", sharing.leave, name="leave"),
]

"""The URLs of the cart."""

from django.urls import path

from cart.views import carts, lines, sharing, vouchers

app_name = "cart"
urlpatterns = [
    path("cart/", lines.active_cart_detail, name="show"),
    path("cart/add/", lines.add_line, name="add"),
    path("cart/agree/", lines.accept_prices, name="agree"),
    path("cart/change/", lines.change_line_quantity, name="change"),
    path("cart/remove/", lines.remove_line, name="remove"),
    path("cart/restore/", lines.restore_line, name="restore"),
    path("cart/code/", vouchers.set_voucher, name="voucher"),
    path("cart/panel/", lines.cart_panel, name="panel"),
    path("carts/", carts.cart_list, name="carts"),
    path("carts/make/", carts.create_cart, name="make"),
    path("carts/switch/", carts.switch_cart, name="switch"),
    path("carts/undo/", carts.undo_cart_change, name="undo"),
    path("carts/<uuid:cart_id>/", lines.cart_detail, name="one"),
    path("carts/<uuid:cart_id>/rename/", carts.rename_cart, name="rename"),
    path("carts/<uuid:cart_id>/duplicate/", carts.duplicate_cart, name="duplicate"),
    path("carts/<uuid:cart_id>/empty/", carts.empty_cart, name="empty"),
    path("carts/<uuid:cart_id>/delete/", carts.delete_cart, name="delete"),
    path("carts/<uuid:cart_id>/merge/", carts.merge_carts, name="merge"),
    path("carts/<uuid:cart_id>/lines/<uuid:key>/move/", carts.move_line, name="move"),
    path("carts/<uuid:cart_id>/lines/<uuid:key>/later/", carts.save_line_for_later, name="later"),
    path("carts/<uuid:cart_id>/lines/<uuid:key>/now/", carts.move_saved_line_to_cart, name="now"),
    path("carts/<uuid:cart_id>/lines/<uuid:key>/drop/", carts.remove_saved_line, name="drop"),
    path("carts/shared/<str:token>/", sharing.shared_cart_detail, name="shared"),
    path("carts/shared/<str:token>/copy/", sharing.copy_shared_cart, name="shared_copy"),
    path("carts/invitation/<str:token>/", sharing.invitation_detail, name="invitation"),
    path("carts/<uuid:cart_id>/changes/", lines.cart_changes, name="changes"),
    path("carts/<uuid:cart_id>/people/", sharing.cart_people, name="people"),
    path("carts/<uuid:cart_id>/people/invite/", sharing.invite_person, name="invite"),
    path("carts/<uuid:cart_id>/people/withdraw/", sharing.withdraw_invitation, name="withdraw"),
    path("carts/<uuid:cart_id>/people/role/", sharing.change_role, name="role"),
    path("carts/<uuid:cart_id>/people/exclude/", sharing.remove_person, name="exclude"),
    path("carts/<uuid:cart_id>/people/link/", sharing.create_link, name="link"),
    path("carts/<uuid:cart_id>/people/unlink/", sharing.withdraw_link, name="unlink"),
    path("carts/<uuid:cart_id>/leave/", sharing.leave_cart, name="leave"),
]

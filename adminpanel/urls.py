"""The staff's pages. Every view declares by `staff_required` who may see it."""

from django.urls import path

from adminpanel.views import (
    audit_log,
    bulk_changes,
    categories,
    fulfilment,
    orders,
    people,
    products,
    promotions,
    sales,
    second_factor,
    worker,
)

app_name = "adminpanel"
urlpatterns = [
    path("", orders.order_board, name="board"),
    path("find/", orders.find_order, name="find"),
    path("orders/<str:number>/", orders.order_detail, name="order"),
    path("orders/<str:number>/move/", orders.change_order_status, name="move"),
    path("orders/<str:number>/note/", orders.add_staff_note, name="note"),
    path("orders/<str:number>/pack/<str:warehouse>/", fulfilment.pack_parcel, name="pack"),
    path("orders/<str:number>/parcels/<str:parcel_id>/", fulfilment.update_parcel, name="parcel"),
    path(
        "orders/<str:number>/returns/<str:return_id>/", fulfilment.update_return, name="sent_back"
    ),
    path(
        "orders/<str:number>/returns/<str:return_id>/refund/",
        fulfilment.decide_refund,
        name="return_refund",
    ),
    path("orders/<str:number>/refund/", fulfilment.decide_refund, name="refund"),
    path("orders/<str:number>/lines/", fulfilment.change_lines, name="lines"),
    path("orders/<str:number>/address/", fulfilment.change_delivery_address, name="door"),
    path("orders/<str:number>/received/", fulfilment.record_payment, name="received"),
    path("orders/<str:number>/money-sent/", fulfilment.record_manual_refund, name="money_sent"),
    path("second-factor/", second_factor.second_factor, name="second_factor"),
    path(
        "second-factor/picture.svg",
        second_factor.second_factor_qr_code,
        name="second_factor_picture",
    ),
    path("second-factor/codes/", second_factor.renew_recovery_codes, name="recovery_codes"),
    path("people/", people.staff_list, name="people"),
    path("people/find/", people.find_person, name="person_find"),
    path("people/<uuid:user_id>/", people.person_detail, name="person"),
    path("people/<uuid:user_id>/role/", people.change_person_role, name="person_role"),
    path("people/<uuid:user_id>/sessions/", people.end_person_sessions, name="person_sessions_end"),
    path(
        "people/<uuid:user_id>/second-factor/",
        people.reset_person_second_factor,
        name="person_factor_reset",
    ),
    path("log/", audit_log.audit_log_page, name="log"),
    path("sales/", sales.sales_report, name="sales"),
    path("worker/", worker.worker_status, name="worker"),
    path("products/", products.product_list, name="products"),
    path("products/new/", products.create_product, name="product_new"),
    path("products/change/", bulk_changes.change_products, name="bulk_change_new"),
    path("products/changes/", bulk_changes.change_list, name="bulk_changes"),
    path("products/changes/<uuid:change_id>/", bulk_changes.change_detail, name="bulk_change"),
    path(
        "products/changes/<uuid:change_id>/undo/",
        bulk_changes.undo_change,
        name="bulk_change_undo",
    ),
    path("products/<uuid:product_id>/", products.product_detail, name="product"),
    path(
        "products/<uuid:product_id>/status/",
        products.change_product_status,
        name="product_status",
    ),
    path("products/<uuid:product_id>/copy/", products.duplicate_product, name="product_copy"),
    path("products/<uuid:product_id>/options/", products.product_options, name="product_options"),
    path(
        "products/<uuid:product_id>/variants/<uuid:variant_id>/",
        products.update_variant,
        name="product_variant",
    ),
    path(
        "products/<uuid:product_id>/variants/<uuid:variant_id>/price/",
        products.update_price,
        name="product_price",
    ),
    path(
        "products/<uuid:product_id>/variants/<uuid:variant_id>/prices/",
        products.variant_prices,
        name="product_prices",
    ),
    path("categories/", categories.category_tree, name="categories"),
    path("categories/new/", categories.create_category, name="category_new"),
    path("categories/move/", categories.move_category, name="category_move"),
    path("categories/<uuid:category_id>/", categories.category_detail, name="category"),
    path(
        "categories/<uuid:category_id>/remove/",
        categories.remove_category,
        name="category_remove",
    ),
    path("promotions/", promotions.promotion_list, name="promotions"),
    path("promotions/make/", promotions.create_promotion, name="promotion_make"),
    path(
        "promotions/<slug:trigger>/<str:name>/end/", promotions.end_promotion, name="promotion_end"
    ),
]

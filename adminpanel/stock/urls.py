"""Addresses of the staff's pages about stock."""

from django.urls import include, path

from adminpanel.stock.views import stock_items, stock_lists, stock_value, transfers

_item_urls = [
    path("", stock_items.stock_item, name="stock_item"),
    path("threshold/", stock_items.set_stock_threshold, name="stock_threshold"),
    path("place/", stock_items.set_stock_place, name="stock_place"),
    path("transfer/", transfers.start_stock_transfer, name="stock_transfer_new"),
]
urlpatterns = [
    path("products/<uuid:product_id>/stock/", stock_lists.product_stock, name="product_stock"),
    path("stock/", stock_lists.stock_list, name="stock"),
    path("stock/value/", stock_value.stock_value, name="stock_value"),
    path("stock/mail/", stock_lists.set_stock_mail, name="stock_mail"),
    path("stock/transfers/", transfers.stock_transfers, name="stock_transfers"),
    path(
        "stock/transfers/<uuid:transfer_id>/",
        transfers.end_stock_transfer,
        name="stock_transfer_end",
    ),
    path("stock/<uuid:product_id>/<uuid:variant_id>/", include(_item_urls)),
]

"""Addresses of the staff's pages: products, categories and the front page."""

from django.urls import path

from adminpanel.catalogue.views import (
    bulk_changes,
    categories,
    category_picture,
    front_page,
    pictures,
    products,
    variants,
)

urlpatterns = [
    path("products/", products.product_list, name="products"),
    path("products/new/", products.create_product, name="product_new"),
    path("products/change/", bulk_changes.change_products, name="bulk_change_new"),
    path("products/changes/", bulk_changes.change_list, name="bulk_changes"),
    path("products/changes/<uuid:change_id>/", bulk_changes.change_detail, name="bulk_change"),
    path(
        "products/changes/<uuid:change_id>/undo/", bulk_changes.undo_change, name="bulk_change_undo"
    ),
    path("products/<uuid:product_id>/", products.product_detail, name="product"),
    path(
        "products/<uuid:product_id>/status/", products.change_product_status, name="product_status"
    ),
    path("products/<uuid:product_id>/copy/", products.duplicate_product, name="product_copy"),
    path("products/<uuid:product_id>/options/", variants.product_options, name="product_options"),
    path(
        "products/<uuid:product_id>/pictures/", pictures.product_pictures, name="product_pictures"
    ),
    path(
        "products/<uuid:product_id>/pictures/upload/",
        pictures.upload_pictures,
        name="product_upload",
    ),
    path(
        "products/<uuid:product_id>/variants/<uuid:variant_id>/",
        variants.update_variant,
        name="product_variant",
    ),
    path(
        "products/<uuid:product_id>/variants/<uuid:variant_id>/price/",
        products.update_price,
        name="product_price",
    ),
    path(
        "products/<uuid:product_id>/variants/<uuid:variant_id>/count/",
        products.update_stock,
        name="product_count",
    ),
    path(
        "products/<uuid:product_id>/variants/<uuid:variant_id>/prices/",
        variants.variant_prices,
        name="product_prices",
    ),
    path("categories/", categories.category_tree, name="categories"),
    path("categories/new/", categories.create_category, name="category_new"),
    path("categories/move/", categories.move_category, name="category_move"),
    path("categories/<uuid:category_id>/", categories.category_detail, name="category"),
    path(
        "categories/<uuid:category_id>/picture/",
        category_picture.category_picture,
        name="category_picture",
    ),
    path(
        "categories/<uuid:category_id>/picture/upload/",
        category_picture.upload_category_pictures,
        name="category_upload",
    ),
    path("categories/<uuid:category_id>/order/", categories.category_order, name="category_order"),
    path(
        "categories/<uuid:category_id>/remove/", categories.remove_category, name="category_remove"
    ),
    path("front-page/", front_page.front_page, name="front_page"),
    path("front-page/<str:row>/", front_page.pin_on_front_page, name="front_page_row"),
]

"""Addresses of the staff's pages about products, categories and the front page."""

from django.urls import URLPattern, URLResolver, include, path

from adminpanel.catalogue.views import (
    attention,
    bulk_changes,
    categories,
    category_picture,
    filters,
    front_blocks,
    front_page,
    pictures,
    products,
    redirects,
    search_rules,
    variants,
)

_change_urls = [
    path("", bulk_changes.change_detail, name="bulk_change"),
    path("undo/", bulk_changes.undo_change, name="bulk_change_undo"),
]
_variant_urls = [
    path("price/", products.update_price, name="product_price"),
    path("count/", products.update_stock, name="product_count"),
    path("prices/", variants.variant_prices, name="product_prices"),
]
_product_urls: list[URLPattern | URLResolver] = [
    path("", products.product_detail, name="product"),
    path("status/", products.change_product_status, name="product_status"),
    path("copy/", products.duplicate_product, name="product_copy"),
    path("pictures/", pictures.product_pictures, name="product_pictures"),
    path("pictures/upload/", pictures.upload_pictures, name="product_upload"),
    path("variants/<uuid:variant_id>/", include(_variant_urls)),
]
_category_urls = [
    path("", categories.category_detail, name="category"),
    path("picture/", category_picture.category_picture, name="category_picture"),
    path("picture/upload/", category_picture.upload_category_pictures, name="category_upload"),
    path("order/", categories.category_order, name="category_order"),
    path("remove/", categories.remove_category, name="category_remove"),
]
_search_rule_urls = [
    path("", search_rules.search_rule_detail, name="search_rule"),
    path("remove/", search_rules.remove_search_rule, name="search_rule_remove"),
]
urlpatterns = [
    path("products/", products.product_list, name="products"),
    path("products/new/", products.create_product, name="product_new"),
    path("products/attention/", attention.products_needing_attention, name="attention"),
    path("products/change/", bulk_changes.change_products, name="bulk_change_new"),
    path("products/changes/", bulk_changes.change_list, name="bulk_changes"),
    path("products/changes/<uuid:change_id>/", include(_change_urls)),
    path("products/<uuid:product_id>/", include(_product_urls)),
    path("categories/", categories.category_tree, name="categories"),
    path("categories/new/", categories.create_category, name="category_new"),
    path("categories/move/", categories.move_category, name="category_move"),
    path("categories/<uuid:category_id>/", include(_category_urls)),
    path("filters/", filters.filters, name="filters"),
    path("filters/<path:key>/", filters.filter_detail, name="filter"),
    path("colours/", filters.colours, name="colours"),
    path("colours/<str:key>/", filters.colour_detail, name="colour"),
    path("search-rules/", search_rules.search_rule_list, name="search_rules"),
    path("search-rules.csv", search_rules.search_rule_file, name="search_rule_file"),
    path("search-rules/<slug:kind>/new/", search_rules.create_search_rule, name="search_rule_new"),
    path("search-rules/<slug:kind>/<uuid:key>/", include(_search_rule_urls)),
    path("search-rules/redirects/", redirects.redirect_list, name="redirects"),
    path("search-rules/redirects/remove/", redirects.remove_redirect, name="redirect_remove"),
    path("front-page/", front_blocks.front_page, name="front_page"),
    path("front-page/move/", front_blocks.move_front_block, name="front_block_move"),
    path("front-page/new/<slug:kind>/", front_blocks.create_front_block, name="front_block_new"),
    path("front-page/rows/", front_page.front_page_rows, name="front_page_rows"),
    path("front-page/rows/<str:row>/", front_page.pin_on_front_page, name="front_page_row"),
    path("front-page/blocks/<slug:key>/", front_blocks.front_block, name="front_block"),
    path(
        "front-page/blocks/<slug:key>/remove/",
        front_blocks.remove_front_block,
        name="front_block_remove",
    ),
]

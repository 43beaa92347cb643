"""The shop's addresses. Each app's own urls.py has the rest."""

from importlib.util import find_spec

from django.conf import settings
from django.urls import include, path

from storefront.views import brand, health, lists, pages, product, search, sensors, seo

urlpatterns = [
    path("", pages.home, name="home"),
    path("c/<slug:slug>/", pages.category, name="category"),
    path("p/<slug:slug>/", product.product, name="product"),
    path("deals/", lists.deals, name="deals"),
    path("new/", lists.new_arrivals, name="new_arrivals"),
    path("search", search.search_page, name="search"),
    path("search/suggest", search.suggestions, name="suggest"),
    path("viewed/", pages.viewed_products, name="viewed"),
    path("viewed/forget/", pages.forget_viewed_products, name="viewed_forget"),
    path("pictures/<slug:shape>/<slug:colours>.svg", pages.picture, name="picture"),
    path(
        "pictures/<slug:shape>/<slug:colours>/<str:key>.jpg", pages.share_image, name="share_image"
    ),
    path("pictures/shop/<str:key>.jpg", pages.share_image, name="shop_share_image"),
    path("pictures/<str:pictures>.svg", pages.picture_sheet, name="picture_sheet"),
    path("media/pictures/<str:digest>/<str:name>", pages.photo, name="photo"),
    path("help/", pages.help_page, name="help"),
    path("help/delivery/", pages.delivery, name="delivery"),
    path("help/privacy/", pages.privacy, name="privacy"),
    path("help/imprint/", pages.imprint, name="imprint"),
    path("sitemap.xml", seo.sitemap_xml, name="sitemap"),
    path("sitemap-<int:number>.xml", seo.sitemap_xml, name="sitemap_part"),
    path("robots.txt", seo.robots, name="robots"),
    path("favicon.ico", seo.favicon, name="favicon"),
    path("manifest.webmanifest", brand.manifest, name="manifest"),
    path("brand/<slug:key>.css", brand.stylesheet, name="brand_stylesheet"),
    path(
        "brand/preview/<slug:key>.css", brand.stylesheet, {"is_preview": True}, name="brand_preview"
    ),
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
    path("metrics", health.metrics, name="metrics"),
    path("sensors/<str:serial_number>/readings/", sensors.take_readings, name="readings"),
    path("", include("cart.urls")),
    path("", include("stock_alerts.urls")),
    path("", include("notifications.urls")),
    path("", include("price_alerts.urls")),
    path("", include("conversations.urls")),
    path("account/", include("accounts.urls")),
    path("staff/", include("adminpanel.urls")),
    path("", include("checkout.urls")),
    path("", include("orders.urls")),
    path("", include("reviews.urls")),
    path("", include("questions.urls")),
    path("", include("drafts.urls")),
    *(path("", include(f"{app}.urls")) for app in settings.OPTIONAL_APPS),
    *(path("", include(f"{app}.urls")) for app in settings.EXTRA_APPS if find_spec(f"{app}.urls")),
]
handler400 = "storefront.views.errors.bad_request"
handler403 = "storefront.views.errors.forbidden"
handler404 = "storefront.views.errors.not_found"
handler500 = "web.middleware.server_error"

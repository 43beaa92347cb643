"""The shop's addresses. Each app's own urls.py has the rest."""

from importlib.util import find_spec

from django.conf import settings
from django.urls import include, path

from storefront.feeds import CONTENT_TYPES
from storefront.views import brand, health, lists, pages, product, search, sensors, seo, texts
from text_pages.pages import FIRST_PAGES

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
    path("help/", texts.text_page, {"slug": ""}, name="help"),
    *(
        path(f"help/{key}/", texts.text_page, {"slug": key}, name=key)
        for key in FIRST_PAGES
        if key != "help"
    ),
    path("help/<slug:slug>/", texts.text_page, name="text_page"),
    path("help/terms/versions/<int:number>/", texts.terms_version, name="terms_version"),
    path("sitemap.xml", seo.sitemap_xml, name="sitemap"),
    path("sitemap-<int:number>.xml", seo.sitemap_xml, name="sitemap_part"),
    path("robots.txt", seo.robots, name="robots"),
    path("llms.txt", seo.llms, name="llms"),
    path("feeds/new.atom", seo.new_products, name="new_products"),
    *(path(f"feeds/{name}", seo.feed, {"name": name}, name=name) for name in CONTENT_TYPES),
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
    path("", include("past_orders.urls")),
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

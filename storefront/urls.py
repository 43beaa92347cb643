"""The shop's addresses. Each app's own urls.py tells the rest."""

from importlib.util import find_spec

from django.conf import settings
from django.urls import include, path

from storefront import views

urlpatterns = [
    path("", views.home, name="home"),
    path("c/<slug:slug>/", views.category, name="category"),
    path("p/<slug:slug>/", views.product, name="product"),
    path("search", views.search_page, name="search"),
    path("search/suggest", views.suggest, name="suggest"),
    path("viewed/", views.viewed_page, name="viewed"),
    path("viewed/forget/", views.viewed_forget, name="viewed_forget"),
    path("pictures/<slug:shape>/<slug:colours>.svg", views.picture, name="picture"),
    path("help/", views.help_page, name="help"),
    path("help/delivery/", views.delivery, name="delivery"),
    path("help/privacy/", views.privacy, name="privacy"),
    path("help/imprint/", views.imprint, name="imprint"),
    path("sitemap.xml", views.sitemap_xml, name="sitemap"),
    path("sitemap-<int:number>.xml", views.sitemap_xml, name="sitemap_part"),
    path("robots.txt", views.robots, name="robots"),
    path("favicon.ico", views.favicon, name="favicon"),
    path("healthz", views.healthz, name="healthz"),
    path("readyz", views.readyz, name="readyz"),
    path("", include("cart.urls")),
    path("", include("notifications.urls")),
    path("account/", include("accounts.urls")),
    path("staff/", include("adminpanel.urls")),
    path("", include("checkout.urls")),
    path("", include("orders.urls")),
    *(path("", include(f"{app}.urls")) for app in settings.EXTRA_APPS if find_spec(f"{app}.urls")),
]

handler400 = "storefront.views.bad_request"
handler403 = "storefront.views.forbidden"
handler404 = "storefront.views.not_found"
handler500 = "web.middleware.server_error"

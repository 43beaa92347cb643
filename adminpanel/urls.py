"""The addresses of all staff pages. The decorator `staff_required` on each view says who may open it."""

from django.urls import include, path

from adminpanel.density import choose_density
from adminpanel.home.views import home

app_name = "adminpanel"
urlpatterns = [
    path("density/", choose_density, name="density"),
    path("", home, name="home"),
    path("", include("adminpanel.board.urls")),
    path("", include("adminpanel.orders.urls")),
    path("", include("adminpanel.customers.urls")),
    path("", include("adminpanel.conversations.urls")),
    path("", include("adminpanel.search.urls")),
    path("", include("adminpanel.people.urls")),
    path("", include("adminpanel.reports.urls")),
    path("", include("adminpanel.books.urls")),
    path("", include("adminpanel.moderation.urls")),
    path("", include("adminpanel.system.urls")),
    path("", include("adminpanel.catalogue.urls")),
    path("", include("adminpanel.stock.urls")),
    path("", include("adminpanel.files.urls")),
    path("", include("adminpanel.settings.urls")),
    path("", include("adminpanel.promotions.urls")),
    path("", include("adminpanel.text_pages.urls")),
]

"""The addresses of watched prices."""

from django.urls import path

from price_alerts import views

app_name = "price_alerts"
urlpatterns = [
    path("account/watched/", views.watched_products, name="list"),
    path("account/watched/watch/", views.watch, name="watch"),
    path("account/watched/stop/", views.stop, name="stop"),
]

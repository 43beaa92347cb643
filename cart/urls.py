"""What the app offers."""

from django.urls import URLPattern

app_name = "cart"
urlpatterns: list[URLPattern] = []

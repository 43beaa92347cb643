"""Addresses of the staff's pages about the search."""

from django.urls import path

from adminpanel.search import views

urlpatterns = [
    path("search/", views.search, name="search"),
    path("search/command/", views.command, name="command"),
]

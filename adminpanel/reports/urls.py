"""Addresses of the staff's pages about reports."""

from django.urls import path

from adminpanel.reports import views

urlpatterns = [
    path("sales/", views.sales_report, name="sales"),
    path("live/", views.live_visits, name="live"),
    path("visits/", views.visits_report, name="visits"),
    path("searches/", views.searches_report, name="searches"),
    path("climate/", views.climate_day, name="climate"),
]

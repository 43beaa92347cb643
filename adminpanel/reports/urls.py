"""Addresses of the staff's pages: reports."""

from django.urls import path

from adminpanel.reports.views import climate, live, sales, visits

urlpatterns = [
    path("sales/", sales.sales_report, name="sales"),
    path("live/", live.live_visits, name="live"),
    path("visits/", visits.visits_report, name="visits"),
    path("climate/", climate.climate_day, name="climate"),
]

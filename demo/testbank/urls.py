"""The bank's page, reached by redirect."""

from django.urls import path

from demo.testbank import views

app_name = "testbank"
urlpatterns = [path("testbank/<uuid:payment_id>/", views.pay, name="pay")]

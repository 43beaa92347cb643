"""The address of the test bank's page, to which the shop redirects the payer."""

from django.urls import path

from demo.testbank import views

app_name = "testbank"
urlpatterns = [path("testbank/<uuid:payment_id>/", views.pay, name="pay")]

"""The URLs of the checkout."""

from django.urls import path

from checkout import views

app_name = "checkout"
urlpatterns = [
    path("checkout/", views.details, name="details"),
    path("checkout/delivery/", views.delivery, name="delivery"),
    path("checkout/review/", views.review, name="review"),
]

"""What the app offers."""

from django.urls import path

from checkout import views

app_name = "checkout"
urlpatterns = [
    path("checkout/", views.checkout, name="details"),
]

"""The addresses of the drafts app."""

from django.urls import path

from drafts import views

app_name = "drafts"
urlpatterns = [path("offer/<str:token>/", views.offer, name="offer")]

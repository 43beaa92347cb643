"""What the app offers."""

from django.urls import path

from notifications import views

app_name = "notifications"
urlpatterns = [
    path("cart/wait/", views.wait, name="wait"),
    path("cart/wait/<str:token>/", views.waiting, name="waiting"),
    path("cart/wait/end/<str:token>/", views.wait_end, name="wait_end"),
]

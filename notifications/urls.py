"""The URLs of back-in-stock subscriptions."""

from django.urls import path

from notifications import views

app_name = "notifications"
urlpatterns = [
    path("cart/wait/", views.subscribe, name="wait"),
    path("cart/wait/<str:token>/", views.confirm_subscription, name="waiting"),
    path("cart/wait/end/<str:token>/", views.unsubscribe, name="wait_end"),
]

"""The URLs of back-in-stock subscriptions."""

from django.urls import path

from stock_alerts import views

app_name = "stock_alerts"
urlpatterns = [
    path("cart/wait/", views.subscribe, name="subscribe"),
    path("cart/wait/<str:token>/", views.confirm_subscription, name="confirm"),
    path("cart/wait/end/<str:token>/", views.unsubscribe, name="unsubscribe"),
]

"""The address of a member's past orders."""

from django.urls import path

from past_orders import views

app_name = "past_orders"
urlpatterns = [path("account/orders/past/", views.past_order_list, name="list")]

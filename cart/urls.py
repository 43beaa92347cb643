"""What the cart offers."""

from django.urls import path

from cart import views

app_name = "cart"
urlpatterns = [
    path("", views.show, name="show"),
    path("add/", views.add, name="add"),
    path("change/", views.change, name="change"),
    path("remove/", views.remove, name="remove"),
    path("restore/", views.restore, name="restore"),
    path("panel/", views.panel, name="panel"),
]

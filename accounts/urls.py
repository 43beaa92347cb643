"""What the app offers: becoming a member, coming and going, profile and address book."""

from django.urls import path

from accounts import views

app_name = "accounts"
urlpatterns = [
    path("", views.profile, name="profile"),
    path("register/", views.register, name="register"),
    path("register/sent/", views.sent, name="sent"),
    path("register/<str:token>/", views.finish, name="finish"),
    path("login/", views.login, name="login"),
    path("logout/", views.logout, name="logout"),
    path("addresses/", views.addresses, name="addresses"),
    path("addresses/add/", views.address_add, name="address_add"),
    path("addresses/<int:key>/", views.address_edit, name="address_edit"),
    path("addresses/<int:key>/remove/", views.address_remove, name="address_remove"),
]

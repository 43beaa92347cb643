"""The address of the page on which the staff's work begins."""

from django.urls import path

from adminpanel.home import views

urlpatterns = [path("", views.home, name="home")]

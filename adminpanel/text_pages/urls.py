"""Addresses of the staff's pages about pages of text."""

from django.urls import path

from adminpanel.text_pages import views

urlpatterns = [
    path("pages/", views.text_page_list, name="text_pages"),
    path("pages/new/", views.create_text_page, name="text_page_new"),
    path("pages/<slug:key>/", views.text_page, name="text_page"),
    path("pages/<slug:key>/offline/", views.switch_text_page, name="text_page_offline"),
    path(
        "pages/<slug:key>/versions/<int:number>/take-back/",
        views.take_back_text_page,
        name="text_page_take_back",
    ),
]

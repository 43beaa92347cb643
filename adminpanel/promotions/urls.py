"""Addresses of the staff's pages about promotions."""

from django.urls import path

from adminpanel.promotions import views

urlpatterns = [
    path("promotions/", views.promotion_list, name="promotions"),
    path("promotions/make/<slug:kind>/", views.create_promotion, name="promotion_make"),
    path("promotions/<slug:trigger>/<str:name>/", views.promotion_detail, name="promotion"),
    path(
        "promotions/<slug:trigger>/<str:name>/duplicate/",
        views.duplicate_promotion,
        name="promotion_duplicate",
    ),
    path("promotions/<slug:trigger>/<str:name>/end/", views.end_promotion, name="promotion_end"),
    path(
        "promotions/<slug:trigger>/<str:name>/resume/",
        views.resume_promotion,
        name="promotion_resume",
    ),
]

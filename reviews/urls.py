"""The URLs of reviews of a product."""

from django.urls import path

from reviews import views

app_name = "reviews"

urlpatterns = [
    path("p/<slug:slug>/reviews/", views.product_reviews, name="list"),
    path("account/reviews/<slug:slug>/", views.write_review, name="write"),
    path("account/reviews/<slug:slug>/withdraw/", views.withdraw_review, name="withdraw"),
    path("reviews/stop/<str:token>/", views.stop_requests, name="stop"),
    path("reviews/<str:token>/<slug:slug>/", views.write_as_guest, name="write_as_guest"),
    path(
        "reviews/<str:token>/<slug:slug>/withdraw/",
        views.withdraw_as_guest,
        name="withdraw_as_guest",
    ),
    path("account/reviews/<slug:slug>/vote/", views.vote, name="vote"),
    path("account/reviews/<slug:slug>/report/", views.report_review, name="report"),
]

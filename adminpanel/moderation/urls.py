"""Addresses of the staff's pages about reviews and questions."""

from django.urls import include, path

from adminpanel.moderation.views import questions, reviews

_review_urls = [
    path("", reviews.review_detail, name="review"),
    path("decide/", reviews.review_decide, name="review_decide"),
    path("remove-picture/", reviews.review_picture_remove, name="review_picture_remove"),
    path("answer/", reviews.review_answer, name="review_answer"),
]
_question_urls = [
    path("", questions.question_detail, name="question"),
    path("decide/", questions.question_decide, name="question_decide"),
    path("answer/", questions.question_answer, name="question_answer"),
]
urlpatterns = [
    path("reviews/", reviews.review_queue, name="reviews"),
    path("reviews/<uuid:product_id>/<uuid:user_id>/", include(_review_urls)),
    path(
        "reviews/questions/<uuid:product_id>/<uuid:question_id>/<uuid:answer_id>/",
        include(_question_urls),
    ),
]

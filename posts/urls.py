"""The addresses of posts, comments, likes and people."""

from django.urls import URLPattern, URLResolver, include, path

from posts import staff_views
from posts.views import comments, follows, likes, lists, people, post, shopping, writing

app_name = "posts"
_own_comment_urls = [
    path("", comments.edit_comment, name="comment_edit"),
    path("delete/", comments.withdraw_comment, name="comment_withdraw"),
    path("hide/", comments.hide_comment, name="comment_hide"),
    path("report/", comments.report_comment, name="comment_report"),
    path("block/", follows.block_writer, name="block_writer"),
]
_own_post_urls: list[URLPattern | URLResolver] = [
    path("", writing.write_post, name="write"),
    path("delete/", writing.withdraw_post, name="withdraw"),
    path("like/", likes.like_post, name="like"),
    path("report/", post.report_post, name="report"),
    path("comments/", comments.write_comment, name="comment"),
    path(
        "comments/<int:partition>/<uuid:thread_id>/<uuid:comment_id>/", include(_own_comment_urls)
    ),
]
_staff_comment_urls = [
    path("", staff_views.comment_detail, name="staff_comment"),
    path("decide/", staff_views.decide_comment, name="staff_comment_decide"),
]
_staff_post_urls = [
    path("", staff_views.post_detail, name="staff_post"),
    path("decide/", staff_views.decide_post, name="staff_post_decide"),
    path("remove-picture/", staff_views.remove_picture, name="staff_picture_remove"),
]
urlpatterns = [
    path("posts/", lists.newest_posts, name="newest"),
    path("posts/tags/<str:tag>/", lists.tagged_posts, name="tag"),
    path("posts/<uuid:post_id>/", post.post_detail, name="post"),
    path("posts/<uuid:post_id>/add-all/", shopping.add_all, name="add_all"),
    path("p/<slug:slug>/posts/", lists.product_posts, name="of_product"),
    path("posts/following/", follows.feed, name="feed"),
    path("people/<str:handle>/", people.person, name="person"),
    path("account/people/<str:handle>/follow/", follows.follow, name="follow"),
    path("account/people/<str:handle>/block/", follows.block, name="block"),
    path("account/people/", follows.people, name="people"),
    path("account/people/unblock/", follows.unblock, name="unblock"),
    path("account/profile/", people.edit_profile, name="profile"),
    path("account/posts/", writing.own_posts, name="own"),
    path("account/posts/new/", writing.start_post, name="new"),
    path("account/posts/products/", writing.product_choices, name="product_choices"),
    path("account/posts/<uuid:post_id>/", include(_own_post_urls)),
    path("staff/posts/comments/<uuid:user_id>/<uuid:comment_id>/", include(_staff_comment_urls)),
    path("staff/posts/<uuid:post_id>/", include(_staff_post_urls)),
]

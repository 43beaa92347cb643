"""The demo shop's posts, of which the tests' shops have only the newest: each is fit to be loaded."""

from typing import Any

from demo.catalogue_data import PHOTOGRAPHS
from demo.logins import LOGINS
from demo.posts import _DATA, _find_product
from posts.rules import LIKE_TYPES
from tests.rules import for_each

NAMES = {each["name"] for each in _DATA["person"]} | {login.name for login in LOGINS}


@for_each(_DATA["post"], lambda post: post["picture"], at_least=30)
def test_each_post_has_its_picture_and_shows_what_is_sold(post: dict[str, Any]) -> None:
    assert (PHOTOGRAPHS / f"scene-post-{post['picture']}.avif").is_file()
    assert all(_find_product(entry) for entry in post["products"])
    assert post["likes"].keys() <= set(LIKE_TYPES)
    assert {post["who"], *(name for name, *_ in post["comments"])} <= NAMES
    answered = [first for _, _, *answers in post["comments"] for first in answers]
    assert all(first < len(post["comments"]) for first in answered)

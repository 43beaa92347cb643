"""What a view declares: opening a submit's address leads to its page, and the view keeps its marks."""

from django.http import HttpRequest, HttpResponse
from django.test import RequestFactory
from django.urls import reverse

from web.decorators import owner_only, post_only


@post_only("orders:detail", "number")
@owner_only
def submit(request: HttpRequest, number: str) -> HttpResponse:
    return HttpResponse(f"submitted {number}")


def test_an_action_does_what_it_says_by_post_alone() -> None:
    ask = RequestFactory()
    assert submit(ask.post("/"), number="7KQF-3M9X").content == b"submitted 7KQF-3M9X"
    for request in (ask.get("/"), ask.head("/")):
        answer = submit(request, number="7KQF-3M9X")
        assert (answer.status_code, answer["Location"]) == (
            302,
            reverse("orders:detail", args=["7KQF-3M9X"]),
        )
    assert submit(ask.delete("/"), number="7KQF-3M9X").status_code == 405


def test_no_cache_keeps_what_an_action_answers_and_its_view_says_whom_it_is_for() -> None:
    ask = RequestFactory()
    for request in (ask.post("/"), ask.get("/")):
        assert "no-store" in submit(request, number="7KQF-3M9X")["Cache-Control"]
    assert vars(submit)["access"] == "own"

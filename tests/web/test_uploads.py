"""A shop that takes no files cannot have its disk filled."""

from django.core.files.base import ContentFile
from django.test import Client


def test_a_file_is_refused_wherever_it_is_sent() -> None:
    statuses = {}
    for address in ("/account/login/", "/cart/add/", "/account/register/", "/orders/"):
        for checks in (True, False):
            client = Client(enforce_csrf_checks=checks)
            client.get("/account/login/")  # for the cookie: without it the form is not looked at
            form = {"email": "a@example.com", "file": ContentFile(b"x" * 1000, "x")}
            statuses[address, checks] = client.post(address, form).status_code
    assert statuses == dict.fromkeys(statuses, 400)


def test_a_form_without_a_file_may_be_sent_in_parts() -> None:
    assert (
        Client().post("/account/login/", {"email": "a@example.com", "password": ""}).status_code
        == 422
    )

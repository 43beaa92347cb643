"""Nobody fills the disk of a shop that takes no files."""

import pytest
from django.core.files.base import ContentFile
from django.test import Client


@pytest.mark.parametrize("address", ["/account/login/", "/cart/add/", "/account/register/", "/orders/"])
@pytest.mark.parametrize("checks", [True, False])
def test_a_file_is_refused_wherever_it_is_sent(address: str, checks: bool) -> None:
    client = Client(enforce_csrf_checks=checks)
    client.get("/account/login/")  # for the cookie: without it nobody looks into the form
    assert client.post(address, {"email": "a@example.com", "file": ContentFile(b"x" * 1000, "x")}).status_code == 400


def test_a_form_without_a_file_may_be_sent_in_parts() -> None:
    assert Client().post("/account/login/", {"email": "a@example.com", "password": ""}).status_code == 422

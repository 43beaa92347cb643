"""The files of the books' pages."""

import csv
import io
from http import HTTPStatus

from django.test import Client
from django.urls import reverse

BOOKS = reverse("adminpanel:books")


def read_csv(client: Client, **query: str) -> list[dict[str, str]]:
    answer = client.get(BOOKS, query)
    assert answer.status_code == HTTPStatus.OK
    return list(csv.DictReader(io.StringIO(answer.content.decode("utf-8-sig"))))

"""A member's personal data as one file."""

import json
from collections.abc import Iterator
from typing import cast

from django.http import HttpResponse, StreamingHttpResponse
from django.utils import timezone
from django.utils.http import content_disposition_header
from django.utils.text import slugify

from accounts import operations
from accounts.models import User
from cassandra_db import current_time
from shop_settings.brand import get_brand
from web.personal_data import PersonalDataEncoder, export_personal_data


def answer_with_personal_data(user: User) -> HttpResponse:
    """Return the response that downloads the file."""
    answer = StreamingHttpResponse(
        _personal_data_file(user), content_type="application/json; charset=utf-8"
    )
    shop = slugify(get_brand().name, allow_unicode=True) or "shop"
    file_name = f"{shop}-data-{timezone.localdate():%Y-%m-%d}.json"
    answer["Content-Disposition"] = (
        content_disposition_header(as_attachment=True, filename=file_name) or ""
    )
    return cast(
        HttpResponse, answer
    )  # Django's two response classes share no type with this attribute


def _personal_data_file(user: User) -> Iterator[str]:
    """Yield the file's text app by app, so that the data of all apps need not fit into memory at once."""
    encoder = PersonalDataEncoder(indent=1, ensure_ascii=False)
    yield f'{{"shop": {json.dumps(get_brand().name, ensure_ascii=False)}'
    yield f',\n"made_at": {json.dumps(current_time().isoformat())}'
    for app, personal_data in export_personal_data(operations.person_from_user(user)):
        yield f",\n{json.dumps(app)}: "
        yield from encoder.iterencode(personal_data)
    yield "}\n"

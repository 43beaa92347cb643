"""The address to which the warehouses' sensors send their readings."""

from http import HTTPStatus

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from cassandra_db import current_time
from sensors.reading_input import ReadingsRefused, parse_readings
from sensors.readings import WRITER, find_sensor
from web.decorators import no_store, public
from web.rendering import without_header

_RETRY_SECONDS = "30"


@csrf_exempt
@require_POST
@without_header
@no_store
@public
def take_readings(request: HttpRequest, serial_number: str) -> HttpResponse:
    """Take the readings of a device that sends its token. Status 202 means that the readings are written within a second.

    The device may send readings twice. If too many readings wait, take none, and ask the device to send them later.
    """
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    if scheme != "Bearer" or find_sensor(serial_number, token) is None:
        refused = JsonResponse(
            {"errors": {"token": "unknown sensor or token"}}, status=HTTPStatus.UNAUTHORIZED
        )
        refused["WWW-Authenticate"] = "Bearer"
        return refused
    try:
        readings = parse_readings(request.body, serial_number, current_time())
    except ReadingsRefused as refused:
        return JsonResponse({"errors": refused.errors}, status=HTTPStatus.UNPROCESSABLE_ENTITY)
    if not (WRITER.has_room(len(readings)) and WRITER.put(*readings)):
        busy = JsonResponse(
            {"errors": {"readings": "too much waits"}}, status=HTTPStatus.SERVICE_UNAVAILABLE
        )
        busy["Retry-After"] = _RETRY_SECONDS
        return busy
    return JsonResponse({"accepted": len(readings)}, status=HTTPStatus.ACCEPTED)

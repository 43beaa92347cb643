"""The page about the workers: what they did last, and how far behind they are."""

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from accounts.access import staff_required
from accounts.roles import ORDER_STAFF
from adminpanel.system.workers import get_worker_status
from cassandra_db import current_time
from web.rendering import render_page


@staff_required(ORDER_STAFF)
@require_safe
def worker_status(request: HttpRequest) -> HttpResponse:
    """Show each job's last run, what it did, and what waits for it."""
    return render_page(
        request, "adminpanel/system/worker.html", {"workers": get_worker_status(current_time())}
    )

"""The page about nodes, tables and statements."""

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from accounts.access import staff_required
from accounts.roles import ADMIN
from adminpanel.system.pages import get_system_status
from cassandra_db import current_time
from web.rendering import render_page


@staff_required((ADMIN,))
@require_safe
def system_status(request: HttpRequest) -> HttpResponse:
    """Show the nodes, the largest partitions, the slowest questions, the jobs that need attention and the last consistency checks."""
    return render_page(
        request, "adminpanel/system/system.html", {"system": get_system_status(current_time())}
    )

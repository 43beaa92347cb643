"""The pages of the shop's menus: all of them, and the form of one."""

from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_safe

from accounts.access import staff_required
from accounts.roles import CATALOGUE_STAFF
from adminpanel.settings.editing import edit_setting, get_posted
from adminpanel.settings.menu_forms import MenuForm
from catalogue.menu_links import list_suggested_addresses, make_shown_menu
from shop_settings.menus import FOOTER, HEADER, MENUS
from shop_settings.queries import get_settings_at_quorum
from web.decorators import get_or_post
from web.rendering import render_page

# Each menu's name, and a sentence about it.
MENU_TITLES = {
    FOOTER: (
        gettext_lazy("Footer"),
        gettext_lazy("Columns of links below each page, four at most."),
    ),
    HEADER: (
        gettext_lazy("Header"),
        gettext_lazy("Shown after the main categories, also in the menu of small screens."),
    ),
}


@staff_required(CATALOGUE_STAFF)
@require_safe
def menu_list(request: HttpRequest) -> HttpResponse:
    """Show the shop's menus with their links."""
    menus = get_settings_at_quorum().get_values(MENUS)
    lines = [
        (key, title, rule, make_shown_menu(menus[key]).groups())
        for key, (title, rule) in MENU_TITLES.items()
    ]
    return render_page(request, "adminpanel/settings/menus.html", {"lines": lines})


@staff_required(CATALOGUE_STAFF, is_about_people=False)
@get_or_post
def menu_detail(request: HttpRequest, key: str) -> HttpResponse:
    """Show or change a menu. Each button saves all that is typed."""
    if key not in MENU_TITLES:
        raise Http404("no such menu")
    form = MenuForm(get_settings_at_quorum().get_values(MENUS)[key], key, get_posted(request))
    title, rule = MENU_TITLES[key]
    own_url, addresses = reverse("adminpanel:menu", args=(key,)), list_suggested_addresses()
    return edit_setting(request, form, key, own_url, title=title, rule=rule, addresses=addresses)

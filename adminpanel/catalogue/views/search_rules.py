"""Pages of rules for searches: list, add, change, delete, export and try them."""

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID, uuid4

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from accounts.access import note_changes, staff_required
from accounts.roles import CATALOGUE_STAFF
from adminpanel.catalogue.search_rule_forms import FORMS
from adminpanel.parameters import cut_page
from adminpanel.settings.editing import edit_setting, get_posted, show_setting
from cassandra_db import current_time
from catalogue import search
from catalogue.search_explanations import ExplainedResult, explain_search
from catalogue.search_index import SearchIndexMissing
from catalogue.search_relaxation import ShorterQuery, find_shorter_queries
from catalogue.search_rules import PARTITION, SEARCH_RULES, SearchRule, fold_query
from catalogue.words import split_words
from shop_settings.errors import SettingChanged
from shop_settings.operations import remove_setting
from shop_settings.queries import get_settings_at_quorum
from spreadsheets.files import CONTENT_TYPES, csv_line
from web.decorators import get_or_post, post_only
from web.rendering import render_page
from web.text import clean_text

PAGE_LENGTH = 50


def _get_rules() -> Mapping[str, SearchRule]:
    return get_settings_at_quorum(PARTITION).get_values(SEARCH_RULES)


@dataclass(frozen=True)
class TriedQuery:
    """What becomes of a query: its redirect, or its words with synonyms, its prices and pinned SKUs, and its results.

    `ignored` are words of a very long query that nobody looks for, `shorter` what a query without results leaves out.
    """

    redirect: str
    asked: search.ProductQuery
    total: int
    results: list[ExplainedResult]
    ignored: list[str]
    shorter: list[ShorterQuery]

    @property
    def phrases(self) -> list[tuple[str, str]]:
        """The words of the query in phrases, each with its synonyms."""
        found = self.asked.rules.find_synonyms(self.asked.words)
        return [(" ".join(each), ", ".join(map(" ".join, others))) for each, others in found]

    @property
    def is_blocked(self) -> bool:
        return self.asked.rules.is_blocked(self.asked.words)


def _try(query: str) -> TriedQuery | None:
    try:
        asked, total = search.read_query(query), search.search_products(query, 1).total
        return TriedQuery(
            asked.rules.redirects.get(fold_query(query), ""),
            asked,
            total,
            explain_search(query),
            split_words(asked.prices.words)[search.MAX_WORDS :],
            [] if total else find_shorter_queries(query),
        )
    except SearchIndexMissing:
        return None


@staff_required(CATALOGUE_STAFF)
@require_safe
def search_rule_list(request: HttpRequest) -> HttpResponse:
    """List the rules of one kind or of all kinds, and show what becomes of a query that is tried."""
    if (kind := request.GET.get("kind", "")) and kind not in FORMS:
        raise Http404("no such kind of rule")
    listed = [rule for rule in _get_rules().values() if kind in ("", rule.kind)]
    listed.sort(key=lambda rule: (fold_query(rule.words), rule.kind))
    shown, page, page_count = cut_page(listed, request.GET, PAGE_LENGTH)
    query = search.clean_query(request.GET.get("q", ""))
    context = {
        "lines": [(rule, FORMS[rule.kind].title) for rule in shown],
        "kinds": [(name, form.title) for name, form in FORMS.items()],
        "kind": kind,
        "page": page,
        "page_count": page_count,
        "query": query,
        "tried": _try(query) if query else None,
    }
    return render_page(request, "adminpanel/catalogue/search_rules.html", context)


@staff_required(CATALOGUE_STAFF)
@require_safe
def search_rule_file(request: HttpRequest) -> HttpResponse:
    """Send all rules as a CSV file."""
    lines = sorted((rule.kind, rule.words, rule.target) for rule in _get_rules().values())
    content = b"".join(map(csv_line, [("kind", "words", "target"), *lines]))
    response = HttpResponse(content, content_type=CONTENT_TYPES["csv"])
    response["Content-Disposition"] = 'attachment; filename="search-rules.csv"'
    return response


@staff_required(CATALOGUE_STAFF, is_about_people=False)
@get_or_post
def create_search_rule(request: HttpRequest, kind: str) -> HttpResponse:
    """Add a rule of a kind. The address may name the `words` with which the form begins."""
    if kind not in FORMS:
        raise Http404("no such kind of rule")
    form = FORMS[kind](None, get_posted(request))
    form.initial["words"] = clean_text(request.GET.get("words", ""))[: search.MAX_QUERY_LENGTH]
    key = str(form.cleaned_data["key"] or uuid4()) if form.is_valid() else ""
    return edit_setting(request, form, key, "adminpanel:search_rules")


@staff_required(CATALOGUE_STAFF, is_about_people=False)
@get_or_post
def search_rule_detail(request: HttpRequest, kind: str, key: UUID) -> HttpResponse:
    """Show or change a rule. If somebody else deleted it, saving is a conflict (409), and saving once more restores it."""
    rule = _get_rules().get(str(key))
    if kind != (rule.kind if rule else kind) or kind not in FORMS:
        raise Http404("no such rule")
    if rule is None and request.method != "POST":
        raise Http404("no such rule")
    form = FORMS[kind](rule, get_posted(request))
    return edit_setting(request, form, str(key), "adminpanel:search_rules")


@staff_required(CATALOGUE_STAFF, is_about_people=False)
@post_only("adminpanel:search_rule", "kind", "key")
def remove_search_rule(request: HttpRequest, kind: str, key: UUID) -> HttpResponse:
    """Delete a rule that nobody has changed since the page was shown."""
    if rule := _get_rules().get(str(key)):
        try:
            remove_setting(SEARCH_RULES, str(key), request.POST.get("version", ""), current_time())
        except SettingChanged as changed:
            messages.error(request, str(changed))
            return show_setting(request, FORMS[rule.kind](rule), str(key), status=409)
        note_changes(request, {"words": rule.words}, {"words": ""})
        messages.success(request, _("The rule is deleted."))
    return redirect("adminpanel:search_rules")

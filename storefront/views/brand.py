"""The files that are made of the brand: its colours as a stylesheet, and the manifest."""

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_safe

from catalogue.brand_files import make_manifest, make_stylesheet
from shop_settings.brand import get_brand
from storefront.media import CACHE_CONTROL
from web.decorators import public
from web.rendering import without_header


@require_safe
@without_header
@public
def stylesheet(request: HttpRequest, key: str, *, is_preview: bool = False) -> HttpResponse:
    """Serve the colours that the address names. The file never changes, unless another release of the shop has made the address."""
    made = make_stylesheet(key, is_preview=is_preview)
    if made is None:
        raise Http404("no colours")
    text, is_current = made
    answer = HttpResponse(text, content_type="text/css; charset=utf-8")
    if is_current:
        answer["Cache-Control"] = CACHE_CONTROL
    return answer


@require_safe
@without_header
@public
def manifest(request: HttpRequest) -> HttpResponse:
    """Serve the web app manifest with the brand's name, colours and icon."""
    return JsonResponse(make_manifest(get_brand()), content_type="application/manifest+json")

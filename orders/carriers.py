"""Each carrier's tracking page, and the form of its tracking numbers."""

import re
from urllib.parse import quote

from orders.lifecycle.entities import Order
from orders.lifecycle.parcels import PACKED, Parcel

# The addresses of the tracking pages, keyed by the carriers' names in pricing.delivery. The tracking number is appended.
_PAGES = {
    "An Post": "https://www.anpost.com/Post-Parcels/Track/History?item=",
    "bpost": "https://track.bpost.cloud/btr/web/#/search?itemCode=",
    "Česká pošta": "https://www.postaonline.cz/en/trackandtrace/-/zasilka/cislo?parcelNumbers=",
    "Chronopost": "https://www.chronopost.fr/tracking-no-cms/suivi-page?listeNumerosLT=",
    "Colissimo": "https://www.laposte.fr/outils/suivre-vos-envois?code=",
    "Correos": "https://www.correos.es/es/es/herramientas/localizador/envios/detalle?tracking-number=",
    "CTT": "https://www.ctt.pt/feapl_2/app/open/objectSearch/objectSearch.jspx?objects=",
    "DHL": "https://www.dhl.de/en/privatkunden/pakete-empfangen/verfolgen.html?piececode=",
    "DHL Express": "https://www.dhl.com/global-en/home/tracking.html?submit=1&tracking-id=",
    "DPD Ireland": "https://dpd.ie/tracking?consignmentNumber=",
    "Österreichische Post": "https://www.post.at/en/s/track-details?snr=",
    "Poczta Polska": "https://emonitoring.poczta-polska.pl/?numer=",
    "POST Luxembourg": "https://www.post.lu/en/particuliers/colis-courrier/track-and-trace#/search?code=",
    "Poste Italiane": "https://www.poste.it/cerca/index.html#/risultati-spedizioni/",
    "Posti": "https://www.posti.fi/en/tracking#/lahetys/",
    "PostNL": "https://jouw.postnl.nl/track-and-trace/",
    "PostNord": "https://portal.postnord.com/tracking/details/",
}

# The forms of tracking numbers that one carrier alone has. Posts number parcels by the UPU's S10: two letters, nine digits and
# the letters of the country. Each is a regular expression for Python and for JavaScript (static/js/orders.js).
_POSTS = {
    "AT": "Österreichische Post",
    "BE": "bpost",
    "CZ": "Česká pošta",
    "DE": "DHL",
    "ES": "Correos",
    "FI": "Posti",
    "FR": "Colissimo",
    "IE": "An Post",
    "IT": "Poste Italiane",
    "LU": "POST Luxembourg",
    "NL": "PostNL",
    "PL": "Poczta Polska",
    "PT": "CTT",
    "SE": "PostNord",
}
NUMBER_FORMS: dict[str, str] = {
    **{carrier: f"^[A-Z]{{2}}[0-9]{{9}}{country}$" for country, carrier in _POSTS.items()},
    "DHL": "^(JJD[0-9]{10,}|JVGL[0-9]{8,}|003404[0-9]{14}|[A-Z]{2}[0-9]{9}DE)$",
    "PostNL": "^(3S[A-Z0-9]{8,13}|[A-Z]{2}[0-9]{9}NL)$",
    "UPS": "^1Z[A-Z0-9]{16}$",
}
# All known carriers, with the forms of their numbers ('' if unknown).
CARRIERS = {name: NUMBER_FORMS.get(name, "") for name in sorted({*_PAGES, *NUMBER_FORMS})}


def tracking_url(carrier: str, tracking: str) -> str:
    """Return the URL of a carrier's tracking page for a parcel; '' without a number, or for an unknown carrier."""
    page = _PAGES.get(carrier, "")
    return page + quote(tracking, safe="") if page and tracking else ""


def propose_carrier(tracking: str) -> str:
    """Return the carrier whose tracking numbers have the form of this one; '' if none or several have it."""
    number = re.sub(r"[ .-]", "", tracking).upper()
    return next((name for name, form in NUMBER_FORMS.items() if re.search(form, number)), "")


def choose_carrier(order: Order, carrier: str, tracking: str) -> str:
    """Return the carrier to record: the typed one, else the one that the number's form proposes, else the delivery method's.

    '' if nothing was typed and packed parcels have their own.
    """
    if not carrier and not tracking and any(_has_own(each) for each in order.parcels()):
        return ""
    return carrier or propose_carrier(tracking) or order.method.carrier


def _has_own(parcel: Parcel) -> bool:
    return parcel.state == PACKED and bool(parcel.tracking)

"""Each carrier's tracking page."""

from urllib.parse import quote

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


def tracking_url(carrier: str, tracking: str) -> str:
    """Return the URL of a carrier's tracking page for a parcel; '' without a number, or for an unknown carrier."""
    page = _PAGES.get(carrier, "")
    return page + quote(tracking, safe="") if page and tracking else ""

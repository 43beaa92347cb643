"""Headers that a stranger may send to the real web server: no page that is kept for others depends on them."""

import http.client
import re
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from ipaddress import IPv4Network, ip_address
from typing import NamedTuple

import pytest
from django.core.handlers.wsgi import WSGIHandler
from django.http import HttpRequest
from django.test import RequestFactory
from django.urls import reverse

from catalogue.entities import Product
from tests.environment import ROOT
from tests.factories import make_category, make_product, make_stock
from tests.storefront.test_whole_pages import OF_ONE_ANSWER, OWN, category_of, page_of
from tests.web_server import serve_shop

Headers = tuple[tuple[str, str], ...]
# What differs between any two answers.
OF_EACH_ANSWER = {*OF_ONE_ANSWER, "Set-Cookie", "Date"}

# The shop ignores these: the answer is the one without them. `{path}` is the address that is asked for, without its last slash.
IGNORED: tuple[Headers, ...] = (
    (("SCRIPT_NAME", "/zzq"),),
    (("script_name", "/zzq"),),
    (("Script_Name", "{path}"),),
    (("SCRIPT_NAME", "{path}"), ("SCRIPT_NAME", "/zzq")),
    (("SCRIPT_NAME", ""),),
    (("SCRIPT_NAME", "/"),),
    (("SCRIPT-NAME", "/zzq"), ("Script-Name", "{path}")),
    (("PATH_INFO", "/help/"),),
    (("path_info", "/zzq"), ("Path-Info", "/zzq")),
    (("SCRIPT_NAME", "{path}"), ("PATH_INFO", "/")),
    (("SCRIPT_URL", "/zzq/"), ("REDIRECT_URL", "/zzq/"), ("Script-Url", "/zzq/")),
    (("X-Script-Name", "/zzq"), ("X-Forwarded-Prefix", "/zzq"), ("X-Forwarded-Path", "/zzq")),
    (("X-Original-URL", "/staff/"), ("X-Rewrite-URL", "/staff/"), ("Request-URI", "/staff/")),
    (("X-Forwarded-Host", "evil.example"), ("X-Forwarded-Host", "evil2.example")),
    (("X_Forwarded_Host", "evil.example"), ("X-Host", "evil.example")),
    (("X-Forwarded-Port", "444"), ("X-Forwarded-Server", "evil.example")),
    (("Forwarded", "for=192.0.2.1;host=evil.example;proto=https"),),
    (("X-Forwarded-Proto", "https"),),
    (("X-Forwarded-Ssl", "on"), ("Front-End-Https", "on")),
    (("x_forwarded_proto", "https"), ("X-Url-Scheme", "https"), ("HTTPS", "on")),
    (("X-Forwarded-For", "192.0.2.1"), ("X-Forwarded-For", "not an address")),
    (("wsgi.url_scheme", "https"), ("SERVER_NAME", "evil.example"), ("SERVER_PORT", "444")),
    (("HTTP_HOST", "evil.example"), ("REMOTE_ADDR", "192.0.2.1"), ("REMOTE_USER", "admin")),
    (("X-HTTP-Method-Override", "POST"), ("X-Method-Override", "DELETE")),
    (("Accept", "application/json"), ("Accept-Language", "de"), ("Accept-Charset", "utf-16")),
    (("User-Agent", "<script>"), ("Referer", "https://evil.example/"), ("Origin", "null")),
    (("Range", "bytes=0-9"), ("If-None-Match", "*"), ("If-Modified-Since", "now")),
    (("Authorization", "Basic eHg6eHg="), ("Proxy", "http://evil.example/")),
    (("Cookie", "language=de; messages=x"), ("Cookie", "sessionid=x")),
    (("Content-Type", "text/plain; charset=utf-16"),),
    (("Content-Type", "text/plain; charset=hex"),),
    (("X-Refreshes-Itself", "true"), ("X-CSRFToken", "x"), ("Save-Data", "on")),
)
# These change the answer on purpose, or may be refused. Nobody else's answer changes.
MEANINGFUL: tuple[Headers, ...] = (
    (("Host", "evil.example"),),
    (("Host", "{host}"), ("Host", "evil.example")),
    (("HX-Request", "true"),),
    (("HX-Request", "true"), ("HX-Boosted", "true"), ("HX-History-Restore-Request", "true")),
    (("HX-Request", "%74rue"), ("HX-Request-URI-AutoEncoded", "true"), ("HX-Target", "zzq")),
    (("HX-Request", "true"), ("HX-Current-URL", "https://evil.example/zzq")),
    (("Accept-Encoding", "gzip, zzq"), ("TE", "zzq")),
    (("Cookie", "stoa_country=FR; stoa_csrf=zzq; stoa_viewed=zzq"),),
    (("Cookie", "stoa_session=zzq; stoa_cart=zzq; stoa_messages=zzq"),),
)


@dataclass(frozen=True)
class Answer:
    """An answer without what is each visitor's own."""

    status: int
    headers: dict[str, str]
    text: str
    is_from_memory: bool = field(compare=False)


class Shop(NamedTuple):
    """A web server that can be asked under any host name and with any headers."""

    port: int

    def ask(self, host: str, address: str, headers: Headers = (), method: str = "GET") -> Answer:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        connection.putrequest(method, address, skip_host=True, skip_accept_encoding=True)
        path = address.partition("?")[0].rstrip("/") or "/"
        if not any(name == "Host" for name, _ in headers):
            connection.putheader("Host", host)
        for name, value in headers:
            connection.putheader(name, value.format(host=host, path=path))
        connection.putheader("Connection", "close")
        connection.endheaders()
        response = connection.getresponse()
        sent = {name: value for name, value in response.getheaders() if name not in OF_EACH_ANSWER}
        text = response.read().decode(errors="replace")
        connection.close()
        cost = response.getheader("X-Cassandra", "")
        return Answer(response.status, sent, OWN.sub("", text), "statements=0," in cost)


@pytest.fixture(scope="module")
def products() -> list[Product]:
    """A product for each set of headers: nothing of its page has been drawn before. The first one has a category of its own."""
    made = [make_product("Odd 0", category=make_category("Odd headers"), listed=True)]
    made += [
        make_product(f"Odd {number}", listed=True)
        for number in range(1, len(IGNORED) + len(MEANINGFUL))
    ]
    for product in made:
        make_stock(50, product_id=product.product_id, variant_id=product.variants[0].variant_id)
    return made


@pytest.fixture(scope="module")
def shops(
    products: list[Product], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Shop, Shop]]:
    """Two servers of the same shop: one is sent odd headers, the other one never is."""
    with ExitStack() as stack:
        urls = [
            stack.enter_context(
                serve_shop(
                    tmp_path_factory.mktemp(name),
                    ALLOWED_HOSTS="127.0.0.1,.shop.test",
                    PUBLIC_URL="http://shop.test",
                    # As in production. Without it, X-Forwarded-For would leave a note for `manage.py doctor`.
                    BEHIND_PROXY="true",
                    WHOLE_PAGE_SECONDS="5",
                    # The order of the CSP header's directives is that of a set.
                    PYTHONHASHSEED="0",
                )
            )
            for name in ("attacked", "untouched")
        ]
        attacked, untouched = (Shop(int(url.rpartition(":")[2])) for url in urls)
        yield attacked, untouched


def test_s100_a_header_changes_no_page_of_others(
    products: list[Product], shops: tuple[Shop, Shop]
) -> None:
    """Each set of headers meets pages under a name of its own, so that no page is kept yet, and a new product's parts."""
    attacked, untouched = shops
    odd = [(headers, headers in IGNORED) for headers in IGNORED + MEANINGFUL]
    wrong, kept_count = [], 0
    for number, ((headers, is_ignored), product) in enumerate(zip(odd, products, strict=True)):
        host = f"h{number}.shop.test"
        own = page_of(product), category_of(products[0]), f"/search?q=Odd+{number}"
        for address in ("/", "/help/", *own):
            cold = attacked.ask(host, address, headers)
            after = attacked.ask(host, address)
            warm = attacked.ask(host, address, headers)
            expected = untouched.ask(host, address)
            assert expected.status == 200, address
            kept_count += after.is_from_memory
            if after != expected:
                wrong.append(f"{address}: others get another page after {headers}")
            if is_ignored and not cold == warm == expected:
                wrong.append(f"{address}: {headers} is not ignored: {cold.status}, {warm.status}")
            if max(cold.status, warm.status) >= 500:
                wrong.append(f"{address}: {headers} is an error: {cold.status}, {warm.status}")
    assert wrong == []
    assert kept_count > 0.9 * 5 * len(IGNORED), "or nothing was compared but new pages"


def test_s100_neither_does_another_form_of_the_address(shops: tuple[Shop, Shop]) -> None:
    attacked, untouched = shops
    host, expected = "form.shop.test", {}
    for address in ("/", "/help/", "/deals/", "/new/"):
        expected[address] = untouched.ask(host, address)
        attacked.ask(host, address, method="HEAD")
        attacked.ask(host, f"http://evil.example{address}")
        attacked.ask(host, f"/{address}")
        attacked.ask(host, f"{address}?q=zzq;/zzq")
        attacked.ask(host, f"{address}%2e%2e/zzq/")
    assert {each: attacked.ask(host, each) for each in expected} == expected


def test_s100_django_knows_no_prefix_either(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second wall, for a server that believes in one: no link begins with it, and no path passes the checkout's queue by it."""
    queued = []

    def note(request: HttpRequest, now: float) -> None:
        queued.append(request.path)

    monkeypatch.setattr("web.middleware.get_queue_ticket", note)

    def get(path: str) -> str:
        environ = RequestFactory().get(path, SCRIPT_NAME="/zzq").environ
        return b"".join(WSGIHandler()(environ, lambda *_: lambda _: None)).decode()

    help_page = get(reverse("help"))
    assert 'href="/cart' in help_page
    assert "/zzq" not in help_page
    get("/checkout/")
    assert queued == ["/checkout/"]


def test_s100_the_proxy_drops_such_headers_and_is_the_only_one_believed() -> None:
    proxy = (ROOT / "deploy" / "Caddyfile").read_text()
    (to_the_shop,) = re.findall(r"reverse_proxy \S+ \{(.*?)\n\t\}", proxy, re.DOTALL)
    assert "\t\theader_up -*_*\n" in to_the_shop
    compose = (ROOT / "deploy" / "compose.yaml").read_text()
    (believed,) = re.findall(r"FORWARDED_ALLOW_IPS: (\S+)", compose)
    assert re.findall(r"ipv4_address: ([\d.]+)", compose) == [believed]
    ((subnet, given_out),) = re.findall(r"\{subnet: ([\d./]+), ip_range: ([\d./]+)\}", compose)
    assert ip_address(believed) in IPv4Network(subnet)
    assert IPv4Network(given_out).subnet_of(IPv4Network(subnet))
    assert ip_address(believed) not in IPv4Network(given_out)

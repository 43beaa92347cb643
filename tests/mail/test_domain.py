"""The DNS records of the shop's mails, asked of a DNS server on loopback."""

import socketserver
import threading
from base64 import b64encode
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from io import StringIO

import pytest
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from django.core.management import call_command
from django.test import override_settings
from dns.flags import AA
from dns.message import from_wire, make_response
from dns.rcode import NXDOMAIN, SERVFAIL
from dns.rrset import from_text

# An RSA key of 768 bits, which no library makes any more.
SHORT_KEY = (
    "MHwwDQYJKoZIhvcNAQEBBQADawAwaAJhANMDSsTOpK3PsnnpeJVfcLsYDQyphW3N3kbb4fN1RBxomW8UoG0Z0CLDJDp9oNdpJj9nycWI3Zdu"
    "8oue17pjX8PU2iexTq7l47/E80GEvtd11HdhrszgBoVZsH/vq+XYsQIDAQAB"
)


@contextmanager
def serve_dns(zone: Mapping[str, str | list[str]]) -> Iterator[str]:
    """Serve the TXT records of these names within the block; yield the server's address. A name with "fail" gets no answer."""

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            data, connection = self.request
            answer = make_response(asked := from_wire(data))
            answer.flags |= AA
            name = str(asked.question[0].name).rstrip(".")
            texts = zone.get(name, [])
            if texts == "fail":
                answer.set_rcode(SERVFAIL)
            elif not texts:
                answer.set_rcode(NXDOMAIN)
            else:
                # A record longer than 255 bytes is sent in several strings.
                parts = [
                    " ".join(f'"{text[at : at + 250]}"' for at in range(0, len(text), 250))
                    for text in ([texts] if isinstance(texts, str) else texts)
                ]
                answer.answer.append(from_text(f"{name}.", 60, "IN", "TXT", *parts))
            connection.sendto(answer.to_wire(), self.client_address)

    with socketserver.UDPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        try:
            yield f"127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()


def make_zone() -> dict[str, str | list[str]]:
    public = generate_private_key(65537, 2048).public_key()
    key = public.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    return {
        "news.shop.example": [
            "unrelated=1",
            "v=spf1 include:_spf.host.example ip4:192.0.2.0/24 -all",
        ],
        "_spf.host.example": "v=spf1 a:mail.host.example mx ~all",
        "s1._domainkey.news.shop.example": f"v=DKIM1; k=rsa; p={b64encode(key).decode()}",
        "_dmarc.shop.example": "v=DMARC1; p=reject; sp=quarantine; rua=mailto:dmarc@shop.example",
    }


def check(zone: Mapping[str, str | list[str]], bounce: str = "") -> tuple[int, str]:
    """Return the command's exit status and what it prints."""
    said = StringIO()
    addresses = {"DEFAULT_FROM_EMAIL": "Stoa <hello@news.shop.example>"}
    with serve_dns(zone) as server, override_settings(MAIL_BOUNCE_ADDRESS=bounce, **addresses):
        command = ["check_mail_domain", "--selector", "s1", "--nameserver", server]
        with pytest.raises(SystemExit) as ended:
            call_command(*command, stdout=said, stderr=said)
    assert isinstance(ended.value.code, int)
    return ended.value.code, said.getvalue()


def test_x570_a_domain_whose_records_are_right_is_named_so() -> None:
    zone = make_zone()
    status, said = check(zone)
    assert status == 0, said
    assert [line.partition(":")[0] for line in said.splitlines()] == ["good"] * 3
    assert "RSA key of 2048 bits" in said
    assert "_dmarc.shop.example says v=DMARC1; p=reject" in said
    zone["s1._domainkey.news.shop.example"] = (
        "k=ed25519; p=11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo="
    )
    zone["bounces.example"] = "v=spf1 redirect=_spf.host.example"
    status, said = check(zone, "bounce@bounces.example")
    assert status == 0, said
    assert "Ed25519" in said
    assert "advice: DMARC: mails come from news.shop.example and bounce to bounces.example" in said


LOOPS = {"_spf.host.example": "v=spf1 include:news.shop.example ~all"}
SPF, DKIM, DMARC = "news.shop.example", "s1._domainkey.news.shop.example", "_dmarc.shop.example"
# What a zone has instead, and what the command says of it.
FAULTS: list[tuple[dict[str, str | list[str]], str]] = [
    ({SPF: []}, "has 0 SPF records"),
    ({SPF: ["v=spf1 -all", "v=spf1 ~all"]}, "has 2 SPF records"),
    ({SPF: "v=spf1 mx +all"}, "everybody may send"),
    ({SPF: "v=spf1 mx ?all"}, "refuses nobody"),
    ({SPF: "v=spf1 mx"}, "refuses nobody"),
    ({"_spf.host.example": []}, "includes _spf.host.example, which has 0 SPF records"),
    ({**LOOPS}, "more than 10 lookups"),
    ({DKIM: []}, "has 0 keys"),
    ({DKIM: "v=DKIM1; p="}, "is revoked"),
    ({DKIM: f"v=DKIM1; p={SHORT_KEY}"}, "needs an RSA key of 1024 bits"),
    ({DKIM: "v=DKIM1; p=no-key"}, "cannot be read"),
    ({DMARC: []}, "has 0 DMARC records"),
    ({DMARC: ["v=DMARC1; p=reject", "v=DMARC1; p=none"]}, "has 2 DMARC records"),
    ({DMARC: "v=DMARC1; p=reject; sp=all"}, "no valid policy"),
]


def test_x570_each_fault_of_the_records_is_named(subtests: pytest.Subtests) -> None:
    for change, words in FAULTS:
        with subtests.test(words):
            status, said = check(make_zone() | change)
            assert status == 1
            (line,) = [each for each in said.splitlines() if each.startswith("wrong: ")]
            assert words in line
    status, said = check(make_zone() | {DMARC: "v=DMARC1; p=none"})
    assert status == 0
    assert "advice: DMARC: _dmarc.shop.example refuses no forged mail" in said


def test_x570_a_dns_server_that_fails_is_no_missing_record() -> None:
    status, said = check(make_zone() | {SPF: "fail"})
    assert status == 2
    assert "No DNS server answered: news.shop.example" in said

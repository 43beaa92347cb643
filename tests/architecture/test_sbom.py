"""The list of what the shop is made of (`make sbom`)."""

from importlib import metadata
from xml.etree import ElementTree

from tests.sbom import VERSION, find_fault, make_sbom

NAMESPACE = f"{{http://cyclonedx.org/schema/bom/{VERSION.to_version()}}}"


def test_s69_the_sbom_names_each_package_with_its_version_and_hashes() -> None:
    sbom = make_sbom()
    assert not find_fault(sbom)
    components = ElementTree.fromstring(sbom).findall(f"{NAMESPACE}components/{NAMESPACE}component")  # noqa: S314 -- our own
    versions = {
        each.findtext(f"{NAMESPACE}name"): each.findtext(f"{NAMESPACE}version")
        for each in components
    }
    assert len(versions) > 30
    for name in ("django", "gunicorn", "scylla-driver", "cryptography"):
        assert versions[name] == metadata.version(name)
    assert all(each.findall(f".//{NAMESPACE}hash[@alg='SHA-256']") for each in components)


def test_s69_what_the_schema_does_not_know_is_found() -> None:
    assert "colour" in find_fault(make_sbom().replace("<version>", "<colour>red</colour><version>"))

"""What the shop is made of, as a CycloneDX document: each package of requirements.txt, with its version and its files' hashes.

python -m tests.sbom            # writes .run/sbom.xml; 1 if CycloneDX's own schema refuses it
"""

import sys
import tomllib
from pathlib import Path

from cyclonedx.contrib.hash.factories import HashTypeFactory
from cyclonedx.model import ExternalReference, ExternalReferenceType, XsUri
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output import make_outputter
from cyclonedx.schema import OutputFormat, SchemaVersion
from cyclonedx.validation import make_schemabased_validator
from packageurl import PackageURL
from pip_requirements_parser import RequirementsFile

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / ".run" / "sbom.xml"
VERSION = SchemaVersion.V1_6


def make_sbom(locked: Path = ROOT / "requirements.txt") -> str:
    """Return the document as XML."""
    bom = Bom()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    shop = Component(
        name=project["name"], version=project["version"], type=ComponentType.APPLICATION
    )
    bom.metadata.component = shop
    for each in RequirementsFile.from_file(str(locked)).requirements:
        files = ExternalReference(
            type=ExternalReferenceType.DISTRIBUTION,
            url=XsUri(f"https://pypi.org/simple/{each.name}/"),
            hashes=map(HashTypeFactory().from_composite_str, each.hash_options),
        )
        purl = PackageURL("pypi", name=each.name, version=each.get_pinned_version)
        bom.components.add(
            Component(
                name=each.name,
                version=each.get_pinned_version,
                bom_ref=str(purl),
                purl=purl,
                external_references=[files],
            )
        )
    bom.register_dependency(shop, bom.components)
    return make_outputter(bom, OutputFormat.XML, VERSION).output_as_string(indent=2)


def find_fault(sbom: str) -> str:
    """Return what CycloneDX's schema finds wrong with the document, if anything."""
    found = make_schemabased_validator(OutputFormat.XML, VERSION).validate_str(sbom)
    return str(found) if found else ""


def main() -> int:
    """Write the document. Returns the status."""
    sbom = make_sbom()
    if fault := find_fault(sbom):
        sys.stderr.write(f"{fault}\n")
        return 1
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(sbom, encoding="utf-8")
    sys.stdout.write(f"{PAGE.relative_to(ROOT)}: {sbom.count('<component ') - 1} packages\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

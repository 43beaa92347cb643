"""The shop's version is one value, and whoever runs a shop sees which one it has."""

import re
import subprocess

from django.conf import settings
from django.test import Client, override_settings
from django.urls import reverse

from devtools.doctor import GOOD, run_checks
from tests.environment import ROOT

TOKEN = "t" * 32
RELEASES = re.findall(
    r"^## \[(\d+\.\d+\.\d+)\] - \d{4}-\d\d-\d\d\n\nCommit ([0-9a-f]{40})\.",
    (ROOT / "CHANGELOG.md").read_text(),
    re.MULTILINE,
)


def test_x561_the_version_is_in_the_doctor_the_staffs_page_and_the_metrics(
    admin_client: Client,
) -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+(\.dev\d+)?", settings.VERSION)
    first = next(run_checks())
    assert (first.level, first.text) == (GOOD, f"The shop has version {settings.VERSION}")
    page = admin_client.get(reverse("adminpanel:system")).content.decode()
    assert f"Version {settings.VERSION}" in page
    with override_settings(METRICS_TOKEN=TOKEN):
        metrics = Client().get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
    assert f'stoa_build_info{{version="{settings.VERSION}"}} 1.0' in metrics.content.decode()


def test_x561_the_changelog_names_each_releases_commit_which_has_its_version() -> None:
    assert "0.1.0" in dict(RELEASES)
    for version, commit in RELEASES:
        project = subprocess.run(
            ["git", "show", f"{commit}:pyproject.toml"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        assert f'version = "{version}"' in project

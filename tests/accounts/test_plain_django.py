"""A stranger's tests run here: pytest-django's fixtures, on a keyspace that is the run's own, with nothing truncated."""

import os
import re
import subprocess
import sys
from typing import Any
from uuid import uuid4

import pytest
from django.core.management import call_command

from accounts import queries
from tests.architecture.apps import ROOT
from tests.factories import PASSWORD, make_user


@pytest.mark.django_db
def test_what_objects_has_made_goes_after_a_test_and_what_other_tests_have_made_stays(
    django_user_model: Any,
) -> None:
    ours = make_user()
    theirs = django_user_model.objects.create_user(
        email=f"ada-{uuid4().hex}@example.com", password=PASSWORD
    )
    # as Django does after each test that is marked so
    call_command("flush", interactive=False, verbosity=0)
    assert queries.find_user_by_email(ours.email) == ours
    assert queries.find_user_by_email(theirs.email) is None
    assert queries.get_user(theirs.pk) is None


def test_a_file_that_knows_only_django_and_pytest_django_passes_in_a_process_and_a_keyspace_of_its_own() -> (
    None
):
    ours = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    command = [sys.executable, "-m", "pytest", "-q", "tests/accounts/plain_django.py"]
    ran = subprocess.run(command, cwd=ROOT, env=ours, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    passed = re.search(r"^(\d+) passed in", ran.stdout, re.MULTILINE)
    assert passed, "some were left out:\n" + ran.stdout
    assert int(passed[1]) >= 19

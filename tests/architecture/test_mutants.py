"""The faults of `python -m tests.mutants`: each can be put back as it is written, or its code has moved without it."""

import ast
from collections import Counter

from tests.architecture.apps import SHOP_APPS
from tests.faults import FAULTS
from tests.mutants import ROOT, list_stale_faults


def test_each_fault_can_be_put_back() -> None:
    assert len(FAULTS) >= 40
    gone = list_stale_faults(FAULTS)
    assert not gone, "\n".join(gone)


def test_each_fault_has_a_name_of_its_own() -> None:
    twice = [name for name, count in Counter(fault.name for fault in FAULTS).items() if count > 1]
    assert not twice, "\n".join(twice)


def test_each_fault_is_a_program() -> None:
    """One that does not even parse fails every test, and proves nothing."""
    broken = []
    for fault in FAULTS:
        if fault.file.endswith(".py"):
            try:
                ast.parse((ROOT / fault.file).read_text().replace(fault.old, fault.new))
            except SyntaxError as error:
                broken.append(f"{fault.name}: {error}")
    assert not broken, "\n".join(broken)


def test_no_app_is_without_a_fault() -> None:
    faults_by_app = Counter(fault.file.split("/")[0] for fault in FAULTS)
    assert not [app for app in SHOP_APPS if not faults_by_app[app]]

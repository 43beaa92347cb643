"""`manage.py doctor`: print the faults of this machine and configuration, each with the command that fixes it."""

import logging
import sys
from typing import Any

from django.core.management.base import BaseCommand

from devtools.doctor import ADVICE, GOOD, WRONG, Finding, run_checks


class Command(BaseCommand):
    help = "Name what is missing or wrong on this machine and in this configuration. Exits 1 if something needed is."
    requires_system_checks = []

    def handle(self, *args: Any, **options: Any) -> None:
        signs = {
            GOOD: self.style.SUCCESS("ok"),
            ADVICE: self.style.WARNING("--"),
            WRONG: self.style.ERROR("!!"),
        }
        counts = dict.fromkeys(signs, 0)
        # Each error is printed as a finding. A traceback in the log would only hide the finding.
        logging.disable(logging.CRITICAL)
        try:
            for finding in run_checks():
                counts[finding.level] += 1
                self.print_finding(signs[finding.level], finding)
        finally:
            logging.disable(logging.NOTSET)
        self.stdout.write(
            f"\n{counts[WRONG]} wrong, {counts[ADVICE]} worth a look, {counts[GOOD]} in order."
        )
        sys.exit(1 if counts[WRONG] else 0)

    def print_finding(self, sign: str, finding: Finding) -> None:
        self.stdout.write(f"{sign}  {finding.text}")
        if finding.fix:
            self.stdout.write(f"      {finding.fix}")
        self.stdout.flush()

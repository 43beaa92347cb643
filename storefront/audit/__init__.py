"""The audit: looks through the whole shop for what must never be (I1 to I4, I6 to I9), and mends what can be rebuilt."""

from storefront.audit.findings import Only, Report, Violation
from storefront.audit.running import CHECKS, audited

__all__ = ["CHECKS", "Only", "Report", "Violation", "audited"]

"""`manage.py partitions`: prints the largest partition of each table and its bound."""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from cassandra_db.errors import CassandraUnavailable
from cassandra_db.nodes import PendingFigures, TableFigures
from cassandra_db.partitions import MB, PartitionSize, compare_with_bounds

SMALL, LARGE, NOT_KNOWN = 0, 1, 2


class Command(BaseCommand):
    help = (
        "Print the largest partition of each table on any node's disk, beside its bound. Status 0: each is below half of its bound,"
        " 1: one is not, 2: a node did not answer."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--all", action="store_true", help="also the tables whose partitions are below 1 MiB"
        )

    def handle(self, *, all: bool, **options: Any) -> None:
        figures = self.read_figures()
        sizes = compare_with_bounds(figures.mebibytes)
        listed = [size for size in sizes if all or size.mebibytes > 1 or size.is_above_half]
        for size in listed:
            self.stdout.write(_in_a_line(size))
        large = [size for size in sizes if size.is_above_half]
        self.stdout.write(
            f"{len(sizes)} tables, {len(sizes) - len(listed)} of them not shown: no partition above 1 MiB;"
            f" {len(large)} at half of their bound or above."
        )
        if figures.nodes_without_figures:
            self.stderr.write(f"Not answered: {', '.join(figures.nodes_without_figures)}.")
        if large:
            raise SystemExit(LARGE)
        if figures.nodes_without_figures:
            raise SystemExit(NOT_KNOWN)

    def read_figures(self) -> TableFigures:
        """Return the figures that the nodes report. Raises SystemExit if no node answers."""
        try:
            return PendingFigures().get()
        except CassandraUnavailable as error:
            self.stderr.write(f"Cassandra is away: {error}")
            raise SystemExit(NOT_KNOWN) from error


def _in_a_line(size: PartitionSize) -> str:
    warning = (
        "  ABOVE ITS BOUND" if size.is_above_bound else "  above half" if size.is_above_half else ""
    )
    return f"{size.table:32} {size.mebibytes:>6} MiB of {size.bound / MB:>9,.3f} MB{warning}"

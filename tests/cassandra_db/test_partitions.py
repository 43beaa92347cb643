"""How large partitions are: what the nodes say of each table, beside the bound of its model."""

from io import StringIO

import pytest
from django.core.management import call_command

from cassandra_db import nodes
from cassandra_db.management.commands import partitions
from cassandra_db.nodes import PendingFigures, TableFigures, list_nodes
from cassandra_db.partitions import MEBIBYTE, PartitionSize, compare_with_bounds, list_models


def run() -> tuple[int, str, str]:
    """Return the command's status, and what it has said and complained of."""
    said, complained = StringIO(), StringIO()
    try:
        call_command("partitions", stdout=said, stderr=complained)
    except SystemExit as ended:
        return int(ended.code or 0), said.getvalue(), complained.getvalue()
    return 0, said.getvalue(), complained.getvalue()


def test_x210_a_partition_counts_as_above_half_when_it_certainly_is() -> None:
    def size(mebibytes: int) -> PartitionSize:
        return PartitionSize("things", mebibytes, 8 * MEBIBYTE)

    # The node rounds up: 5 is anything above 4.
    assert [size(n).is_above_half for n in (0, 1, 4, 5, 9)] == [False, False, False, True, True]
    assert [size(n).is_above_bound for n in (8, 9)] == [False, True]
    assert not PartitionSize("things", 1, 1000).is_above_half
    assert PartitionSize("things", 2, 1000).is_above_bound


def test_x210_each_node_says_what_its_tables_are_like() -> None:
    figures = PendingFigures().get()
    tables = {model.__table_name__ for model in list_models()}
    assert tables <= set(figures.mebibytes)
    assert tables <= set(figures.tombstones)
    assert figures.nodes_without_figures == []
    assert {size.table for size in compare_with_bounds(figures.mebibytes)} == tables
    assert [node.is_up for node in list_nodes()] == [True]


def test_x210_a_node_that_cannot_say_it_is_named_and_the_page_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(nodes, "QUESTIONS", ("SELECT figure FROM system_views.no_such_table",) * 2)
    figures = PendingFigures().get()
    assert figures.nodes_without_figures == [node.address for node in list_nodes()]
    assert figures.mebibytes == {}


@pytest.mark.parametrize(
    ("mebibytes", "silent", "status", "text"),
    [
        ({"leases": 1, "events": 4}, [], 0, "0 at half of their bound"),
        ({"leases": 1, "events": 7}, [], 1, "events                                7 MiB"),
        ({"leases": 2}, ["192.0.2.1"], 1, "ABOVE ITS BOUND"),
        ({"leases": 1}, ["192.0.2.1"], 2, "1 of them not shown"),
    ],
)
def test_x210_the_command_ends_with_a_status_for_scripts(
    monkeypatch: pytest.MonkeyPatch,
    mebibytes: dict[str, int],
    silent: list[str],
    status: int,
    text: str,
) -> None:
    figures = TableFigures(mebibytes, nodes_without_figures=silent)
    monkeypatch.setattr(partitions.Command, "read_figures", lambda _: figures)
    ended, said, complained = run()
    assert ended == status
    assert text in said
    assert complained == "".join(f"Not answered: {address}.\n" for address in silent)

"""The steps by which tables of earlier versions become those of this one (jobs.schema)."""

from catalogue.operations import move_list_places
from jobs.schema import Backfill

BACKFILLS = [Backfill("list-places", "where each product's cards are in lists", move_list_places)]
DROPS = ["product_changes", "bulk_changes.undoes", "related_products"]

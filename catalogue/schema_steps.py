"""The steps by which tables of earlier versions become those of this one (jobs.schema)."""

DROPS = ["product_changes", "bulk_changes.undoes", "related_products"]

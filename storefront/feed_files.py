"""Files for search engines and other programs, on each host beside its search index: written line by line, and replaced when complete."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TextIO
from uuid import uuid4

from django.conf import settings

from cassandra_db.session import keyspace_name


def find_folder(name: str) -> Path:
    """Return a folder of this shop's files, such as "sitemap"."""
    return Path(settings.SEARCH_INDEX_DIR) / keyspace_name() / name


@contextmanager
def replaced_file(file: Path, now: datetime) -> Iterator[TextIO]:
    """Open a file for writing, which gets the time `now`. Readers see the former one until it is complete, or after an error."""
    file.parent.mkdir(parents=True, exist_ok=True)
    for left in file.parent.glob(f"{file.name}.*"):
        if left.stat().st_mtime < now.timestamp() - 3600:  # of a worker that was killed
            left.unlink()
    beside = file.with_name(f"{file.name}.{uuid4().hex}")
    try:
        with beside.open("w", encoding="utf-8", newline="") as opened:
            yield opened
        os.utime(beside, (now.timestamp(), now.timestamp()))
        beside.replace(file)
    finally:
        beside.unlink(missing_ok=True)

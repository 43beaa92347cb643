"""Backups in an S3-compatible storage: a server process that speaks its protocol."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import boto3
import environ
import pytest
from django.core.files.storage import default_storage

from backups.errors import BackupError
from backups.store import BackupStore
from cassandra_db import current_time
from storefront.media import backup_storage
from tests.backups.small_shop import CONTENT, PICTURE, open_small_shop, read_rows
from tests.waiting import wait_until
from tests.web_server import fetch_page, find_free_port
from web.erasure_log import hash_user_id, list_logged_erasures, log_erasure

BUCKET = "backups"


@pytest.fixture
def endpoint() -> Iterator[str]:
    """The address of the storage, with an empty bucket."""
    port = find_free_port()
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    address = f"http://127.0.0.1:{port}"
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            wait_until(lambda: fetch_page(f"{address}/moto-api/")[0] == 200, "S3 does not answer")
            yield address
        finally:
            server.kill()


def test_x553_backups_are_kept_in_a_bucket(
    endpoint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    access = {"ENDPOINT": endpoint, "REGION": "eu-west-1", "ACCESS_KEY": "a", "SECRET_KEY": "b"}
    for name, value in ({"BUCKET": BUCKET} | access).items():
        monkeypatch.setenv(f"BACKUP_S3_{name}", value)
    client = boto3.client(
        "s3",
        endpoint_url=endpoint,
        region_name="eu-west-1",
        aws_access_key_id="a",
        aws_secret_access_key="b",
    )
    with open_small_shop(tmp_path, **backup_storage(environ.Env())) as shop:
        with pytest.raises(BackupError, match="cannot list"):
            shop.back_up()
        client.create_bucket(
            Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": "eu-west-1"}
        )
        rows = read_rows(shop.keyspace)
        first, second = shop.back_up(), shop.back_up(keep=1)
        keys = {each["Key"] for each in client.list_objects_v2(Bucket=BUCKET)["Contents"]}
        assert keys == {
            f"manifests/{second.name}",
            *(f"chunks/{name}" for name in second.list_chunks()),
        }
        assert first.list_chunks() & second.list_chunks()
        default_storage.delete(PICTURE)
        assert read_rows(shop.restore()) == rows
        with default_storage.open(PICTURE) as file:
            assert file.read() == CONTENT
        client.delete_object(Bucket=BUCKET, Key=f"chunks/{second.media[0]['chunks'][0]}")
        default_storage.delete("incoming/raw")
        with pytest.raises(BackupError, match="lacks chunks/"):
            shop.restore(suffix="again")
        assert BackupStore().list_backups() == [second.name]
        erased = uuid4()
        assert list_logged_erasures() == set()
        log_erasure(erased, current_time())
        assert list_logged_erasures() == {hash_user_id(erased)}

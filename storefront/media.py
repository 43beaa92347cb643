"""The storages of uploaded pictures and of backups: a folder, or S3-compatible storage if the environment names a bucket."""

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import environ
from django.core.exceptions import ImproperlyConfigured
from django.core.files import File
from django.core.files.storage import FileSystemStorage

# The files are named by a hash, and never change.
CACHE_CONTROL = "public, max-age=31536000, immutable"
# An upload waits for the storage, and staff wait for the upload.
_CONNECT_SECONDS, _READ_SECONDS, MAX_ATTEMPTS = 3, 10, 2
_FOLDER, _S3 = "storefront.media.WholeFileStorage", "storages.backends.s3.S3Storage"


class WholeFileStorage(FileSystemStorage):
    """A folder in which a file appears when it is complete. A job deletes incomplete files together with the raw uploads."""

    def _save(self, name: str, content: "File[bytes]") -> str:
        from catalogue.operations.picture_uploads import INCOMING  # the settings import this module

        part = super()._save(f"{INCOMING}/{uuid4().hex}", content)  # type: ignore[misc]
        target = Path(self.path(name))
        target.parent.mkdir(parents=True, exist_ok=True)
        Path(self.path(part)).replace(target)
        return name


def media_storage(env: environ.Env, folder: Path, url: str) -> tuple[dict[str, Any], str]:
    """Return the storage for Django's settings, and the host from which browsers load its files ("": the shop itself).

    Raises ImproperlyConfigured.
    """
    bucket = env.str("S3_BUCKET", default="")
    if not bucket:
        options = {"location": folder, "base_url": url, "allow_overwrite": True}
        return {"BACKEND": _FOLDER, "OPTIONS": options}, ""
    options = _bucket_options(env, "S3")
    region, endpoint = env.str("S3_REGION", default=""), env.str("S3_ENDPOINT", default="")
    amazon = f"https://s3.{region}.amazonaws.com" if region else "https://s3.amazonaws.com"
    public_url = env.str("S3_PUBLIC_URL", default=f"{(endpoint or amazon).rstrip('/')}/{bucket}")
    public = urlsplit(public_url.rstrip("/"))
    if public.scheme not in ("http", "https"):
        raise ImproperlyConfigured("S3_PUBLIC_URL and S3_ENDPOINT begin with https:// or http://")
    options |= {
        "custom_domain": f"{public.netloc}{public.path}",
        "url_protocol": f"{public.scheme}:",
        "querystring_auth": False,
        "object_parameters": {"CacheControl": CACHE_CONTROL},
    }
    host = f"{public.scheme}://{public.netloc}"
    return {"BACKEND": _S3, "OPTIONS": options}, host


def backup_storage(env: environ.Env) -> dict[str, dict[str, Any]]:
    """Return Django's entry for the storage of backups: a folder or a bucket. It is empty if the environment names neither."""
    if env.str("BACKUP_S3_BUCKET", default=""):
        return {"backups": {"BACKEND": _S3, "OPTIONS": _bucket_options(env, "BACKUP_S3")}}
    if folder := env.str("BACKUP_FOLDER", default=""):
        options = {"location": Path(folder), "allow_overwrite": True}
        return {"backups": {"BACKEND": _FOLDER, "OPTIONS": options}}
    return {}


def _bucket_options(env: environ.Env, prefix: str) -> dict[str, Any]:
    """Return the options of the bucket that the variables with this prefix name."""
    # This package is only needed with a bucket.
    from botocore.config import Config

    return {
        "bucket_name": env.str(f"{prefix}_BUCKET"),
        "endpoint_url": env.str(f"{prefix}_ENDPOINT", default="") or None,
        "region_name": env.str(f"{prefix}_REGION", default="") or None,
        # Without keys, the machine's own role applies.
        "access_key": env.str(f"{prefix}_ACCESS_KEY", default="") or None,
        "secret_key": env.str(f"{prefix}_SECRET_KEY", default="") or None,
        "client_config": Config(
            connect_timeout=_CONNECT_SECONDS,
            read_timeout=_READ_SECONDS,
            retries={"total_max_attempts": MAX_ATTEMPTS},
        ),
        "file_overwrite": True,
    }

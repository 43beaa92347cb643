"""Uploaded pictures: their names and files, and the code that puts them into the storage.

A text names a picture. A photo's text is `photo/<hash>-<width>x<height>`, with the size of its largest file, so the names of its
files are known without a read of the storage. The hash is made of the uploaded bytes. So a file never changes, equal pictures are
stored once, and an interrupted write can be repeated.
"""

import json
import re
import signal
import subprocess
import sys
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

import PIL
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.utils.translation import gettext as _

from catalogue import decoding
from catalogue.decoding import MAX_PIXELS, MAX_RATIO, MIN_SIDE, OPTIONS, list_widths
from catalogue.errors import DecoderFailed, PhotoRefused

MAX_PHOTO_BYTES = 15 * 1024 * 1024
FOLDER = "pictures"
CONTENT_TYPES = {"avif": "image/avif", "webp": "image/webp", "jpg": "image/jpeg"}
# Change the number when other files are made of a picture. The files then get new names, as they do with a new version of Pillow.
_RECIPE = f"2 {PIL.__version__} ".encode()
# The decoder itself bounds its processor time; on a busy machine that takes more seconds.
_DECODING_SECONDS = 60
# The last bytes of a failed decoder's output, which say why it failed.
_SAID_CHARACTERS = 2000
_PHOTO = re.compile(r"photo/([0-9a-f]{32})-([1-9][0-9]{0,4})x([1-9][0-9]{0,4})")
_DIGEST = re.compile(r"[0-9a-f]{32}")
_FILE = re.compile(r"[0-9]{1,4}\.([a-z]{3,4})")
assert CONTENT_TYPES.keys() == OPTIONS.keys()


@dataclass(frozen=True, slots=True)
class Photo:
    """An uploaded picture: the hash of its files, and the size of the largest file in pixels."""

    digest: str
    width: int
    height: int

    def __str__(self) -> str:
        return f"photo/{self.digest}-{self.width}x{self.height}"

    @property
    def widths(self) -> list[int]:
        """The widths in which the photo is stored, smallest first."""
        return list_widths(self.width)

    def file_name(self, width: int, ending: str) -> str:
        """Return the name of one of the photo's files in the storage."""
        return f"{FOLDER}/{self.digest}/{width}.{ending}"

    def list_file_names(self) -> list[str]:
        """Return the names of all files of the photo in the storage."""
        return [self.file_name(width, ending) for width in self.widths for ending in OPTIONS]


def parse_photo(text: str) -> Photo | None:
    """Return the photo that a picture's text names; None for a drawing or an empty text."""
    found = _PHOTO.fullmatch(text)
    return Photo(found[1], int(found[2]), int(found[3])) if found else None


def find_content_type(digest: str, name: str) -> str:
    """Return the content type of a file of a photo. `name` is the file's name below the hash. Return "" if there is no such file."""
    found = _FILE.fullmatch(name) if _DIGEST.fullmatch(digest) else None
    return CONTENT_TYPES.get(found[1], "") if found else ""


def photo_url(photo: Photo, width: int, ending: str) -> str:
    """Return the web address of one of a photo's files."""
    url: str = default_storage.url(photo.file_name(width, ending))
    return url


def take_in_photo(raw: bytes, file_name: str, salt: str = "", *, is_clear: bool = False) -> Photo:
    """Decode an uploaded file, write its pictures into the storage, and return the photo. The call may be repeated.

    With a salt, an equal picture of another person gets files of its own, so this upload's files can be deleted. `is_clear` keeps the
    transparency, for a salt that is used for nothing else. Raises PhotoRefused, DecoderFailed, OSError and other errors of the storage.
    """
    digest = sha256(_RECIPE + salt.encode() + raw).hexdigest()[:32]
    with TemporaryDirectory() as folder:
        source, made = Path(folder, "source"), Path(folder, "made")
        source.write_bytes(raw)
        made.mkdir()
        mode = ["clear"] if is_clear else []
        photo = Photo(digest, *_decode(source, Path(file_name).suffix, made, *mode))
        for name in photo.list_file_names():
            store_file(name, (made / Path(name).name).read_bytes())
    return photo


def copy_picture(source: Path, suffix: str, folder: Path) -> Path:
    """Write a picture anew into a folder, in its own format and without metadata; return the file. Raises PhotoRefused and DecoderFailed."""
    _decode(source, suffix, folder, "copy")
    return folder / f"copy{suffix}"


def _decode(source: Path, suffix: str, folder: Path, *mode: str) -> tuple[int, int]:
    """Decode a file in a separate process, so that a crash does not end this one. Raises PhotoRefused and DecoderFailed."""
    command = [sys.executable, "-I", decoding.__file__, str(source), suffix, str(folder), *mode]
    try:
        answer = subprocess.run(  # noqa: S603 -- our own program, and no shell
            command,
            env={},
            capture_output=True,
            timeout=_DECODING_SECONDS,
            check=False,
            # Ctrl-C goes to the worker, which ends its decoder itself.
            start_new_session=True,
        )
    except subprocess.TimeoutExpired as error:
        raise PhotoRefused(explain_refusal("slow")) from error
    if answer.returncode == -signal.SIGXCPU:
        raise PhotoRefused(explain_refusal("slow"))
    if answer.returncode:
        complaint = answer.stderr.decode(errors="replace")[-_SAID_CHARACTERS:]
        raise DecoderFailed(f"the decoder ended with {answer.returncode}: {complaint}")
    said = json.loads(answer.stdout)
    if reason := said.get("refused"):
        raise PhotoRefused(explain_refusal(reason, said["most"]))
    return said["width"], said["height"]


def store_file(name: str, content: bytes) -> None:
    """Write a picture's file into the storage; its name is made of its content. Raises errors of the storage."""
    # A complete file stays, because it may be in use. A file that a crash cut off is shorter, and is replaced.
    if not (default_storage.exists(name) and default_storage.size(name) == len(content)):
        file = ContentFile(content)
        # Some operating systems do not know the content types of all these suffixes.
        file.content_type = CONTENT_TYPES[name.rpartition(".")[2]]  # type: ignore[attr-defined]
        default_storage.save(name, file)


def delete_photo(photo: Photo) -> None:
    """Delete all files of a photo that has a salt. The call may be repeated. Raises errors of the storage."""
    for name in photo.list_file_names():
        default_storage.delete(name)


def explain_refusal(reason: str, most: int = 0) -> str:
    """Return a sentence for a reason of decoding.REASONS or "slow". `most` is how many pixels a picture of its format may have."""
    words = {"most": most // 1_000_000, "jpeg": MAX_PIXELS["JPEG"] // 1_000_000}
    return {
        "slow": _("This picture takes too long to read. Export it again."),
        "broken": _(
            "This file is damaged, incomplete or too complex. Export the picture as a JPEG."
        ),
        "format": _("This isn’t a JPEG, PNG, WebP or AVIF picture."),
        "name": _("The file’s content doesn’t match its name. Export the picture again."),
        "moving": _("Animated pictures aren’t accepted. Choose another one."),
        "more": _("This file contains more than a picture. Export the picture again."),
        "pixels": (
            _("This picture has more than %(jpeg)d megapixels. Make it smaller.")
            if most >= MAX_PIXELS["JPEG"]
            else _(
                "This picture has more than %(most)d megapixels. Save it as a JPEG, which may have %(jpeg)d, or make it smaller."
            )
        )
        % words,
        "progressive": _(
            "This picture is too large for a progressive JPEG. Save it without “progressive”, or make it smaller."
        ),
        "sides": _(
            "A picture is at least %(least)d pixels wide and high, and at most %(ratio)d times as long as wide."
        )
        % {"least": MIN_SIDE, "ratio": MAX_RATIO},
    }[reason]

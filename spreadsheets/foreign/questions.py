"""What staff are asked about a foreign file: what becomes of its columns, and which categories its unknown ones are."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from hashlib import sha256

from spreadsheets.files import normalize_name
from web.text import clean_text

# A file's first lines, from which samples are taken. Columns without a value in them, and without a target, are not shown.
SAMPLE_LINES = 100
_SAMPLES, _SAMPLE_LENGTH = 3, 50


@dataclass(frozen=True)
class Question:
    """A question, and the answers so far. `unknown` are categories of the file to which no answer in `categories` belongs yet."""

    preset: str
    samples: Mapping[str, Sequence[str]]
    targets: Mapping[str, str]
    categories: Mapping[str, str] = field(default_factory=dict)
    unknown: Sequence[str] = ()

    def pack(self) -> str:
        """Return the question as text, which `unpack_question` reads."""
        return json.dumps(asdict(self), ensure_ascii=False)


def unpack_question(text: str) -> Question:
    """Return the question that `Question.pack` wrote."""
    return Question(**json.loads(text))


def take_samples(head: Sequence[str], records: Iterable[Sequence[str]]) -> dict[str, list[str]]:
    """Return the first different values of each column."""
    samples: dict[str, list[str]] = {name: [] for name in head}
    for record in records:
        for name, text in zip(head, record, strict=False):
            sample = " ".join(clean_text(text[:500]).split())[:_SAMPLE_LENGTH]
            if sample and sample not in samples[name] and len(samples[name]) < _SAMPLES:
                samples[name].append(sample)
    return samples


def name_columns(head: Sequence[str]) -> list[str]:
    """Return the names of a file's columns, each one once: a repeated name gets a number."""
    names: dict[str, None] = {}
    for number, text in enumerate(head, start=1):
        name = " ".join(clean_text(text.strip("\ufeff")).split())[:100] or f"column {number}"
        while name in names:
            name = f"{name} ({number})"
        names[name] = None
    return list(names)


def hash_head(layout: str, head: Iterable[str]) -> str:
    """Return the key under which the answers for files with these columns are remembered."""
    return sha256("\n".join([layout, *map(normalize_name, head)]).encode()).hexdigest()

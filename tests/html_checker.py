"""The Nu Html Checker, which the W3C's validator runs, too: it says what in a page is not HTML.

    python -m tests.html_checker        # writes the lock file of the version below anew

Its jars are pinned as Cassandra's are. It is a Java program that takes seconds to start, so it gets all pages at once.
"""

import json
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from devtools.node import jars, java

LOCK = Path(__file__).with_name("html-checker.lock")
CHECKER = "nu.validator:validator:26.5.2"
# htmx reads attributes of its own, and HTML lets nobody have any but data-…: theirs have been hx-… since before there was a choice.
_NO_ERRORS = "|".join(
    (
        r"Attribute “hx-[a-z-]+” not allowed on element .*",
        # A link that waits for a part of the page (rel=expect) is in HTML since 2024, and not in this version.
        r"A “link” element with a “blocking” attribute must have a “rel” attribute whose value is “stylesheet”\.",
    )
)


def list_html_errors(pages: Mapping[str, str]) -> list[str]:
    """Return what in these pages is not HTML, each with the page's name. Raises NodeError if there is no Java, or the jars cannot be had."""
    class_path = jars.fetch_jars(jars.read_lock_file(LOCK), jars.default_store())
    with tempfile.TemporaryDirectory() as folder:
        names = {}
        for number, (name, text) in enumerate(pages.items()):
            file = Path(folder, f"{number}.html")
            file.write_text(text)
            names[file.as_uri()] = name
        command = [
            str(java.find_java().path),
            # It runs once, for seconds: the second compiler would never pay.
            *("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xss8m"),
            *("-cp", ":".join(map(str, class_path))),
            "nu.validator.client.SimpleCommandLineValidator",
            *("--format", "json", "--stdout", "--exit-zero-always", "--errors-only"),
            *("--filterpattern", _NO_ERRORS, folder),
        ]
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, f"the checker ended with status {ran.returncode}:\n{ran.stderr}"
    return [
        f"{names[each['url'].replace('file:/', 'file:///', 1)]}, line {each.get('lastLine')}: {each['message']}\n"
        f"    {each.get('extract', '').strip()}"
        for each in json.loads(ran.stdout)["messages"]
    ]


if __name__ == "__main__":
    count = jars.write_lock_file(CHECKER, LOCK, "python -m tests.html_checker")
    print(f"{count} jars locked in {LOCK.name}")

"""Prints Lighthouse's scores of five pages, on a phone with a slow connection. Needs Node, npm and a Chromium.

    make run            # in one terminal, on an otherwise quiet machine
    make lighthouse     # in another; ARGS="--runs 3" takes the median of three, --url measures another shop

Ends with status 1 if a page is below a bound. The rules for search engines are applied only to pages that they may index. Lighthouse
and its dependencies are pinned by package-lock.json beside this file, and installed into .run/ at first use.
"""

import argparse
import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from hashlib import sha256
from html import unescape
from pathlib import Path
from statistics import median
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

from benchmarks.buyers import HOST, Browser
from benchmarks.setup import report_missed
from devtools.chromium import find_chromium

HERE, ROOT = Path(__file__).parent, Path(__file__).resolve().parents[2]
BOUNDS = {"performance": 95, "accessibility": 100, "best-practices": 100, "seo": 100}
FOR_SEARCH_ENGINES = "seo"
_NOT_INDEXED = re.compile(r'<meta name="robots" content="[^"]*noindex')


def main() -> int:
    """Measure, print a table, and return the exit status."""
    args = _arguments()
    chromium = find_chromium()
    if chromium is None:
        raise SystemExit("There is no Chromium: install one, or set CHROMIUM=/path/to/it")
    lighthouse = _install()
    pages, cookie = asyncio.run(_find_pages(args.url))
    print(f"{'':10}" + "".join(f"{each:>16}" for each in BOUNDS))
    missed = []
    for name, (path, is_indexed) in pages.items():
        reports = [
            _report(lighthouse, chromium, f"{args.url}{path}", cookie if name == "cart" else "")
            for _ in range(args.runs)
        ]
        scores = {each: int(median(_score(one, each) for one in reports)) for each in BOUNDS}
        if not is_indexed:
            del scores[FOR_SEARCH_ENGINES]
        print(f"{name:10}" + "".join(f"{scores.get(each, '–'):>16}" for each in BOUNDS), flush=True)
        for each, score in scores.items():
            if score < BOUNDS[each]:
                faults = "".join(f"\n    {fault}" for fault in _faults(reports[-1], each))
                missed.append(f"{name}: {each} is {score}, not {BOUNDS[each]}{faults}")
    print()
    return report_missed(missed)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="make lighthouse", description="What Lighthouse says of five pages."
    )
    parser.add_argument("--url", default=f"http://{HOST}:8000", help="where the shop is served")
    parser.add_argument("--runs", type=int, default=1, help="how often each page is looked at")
    args = parser.parse_args()
    args.url = args.url.rstrip("/")
    return args


def _install() -> Path:
    """Return the path of Lighthouse, after installing it if this version is missing. Raises SystemExit with the fix."""
    files = [HERE / "package.json", HERE / "package-lock.json"]
    digest = sha256(b"".join(each.read_bytes() for each in files)).hexdigest()[:12]
    home = ROOT / ".run" / f"lighthouse-{digest}"
    program = home / "node_modules" / ".bin" / "lighthouse"
    if program.exists():
        return program
    npm = shutil.which("npm")
    if npm is None:
        raise SystemExit("There is no npm on the PATH: install Node 18.16 or newer")
    print(f"Installing Lighthouse (about 190 MB), kept in {home}", flush=True)
    home.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=home.parent) as folder:
        made = Path(folder, "made")
        made.mkdir()
        for each in files:
            shutil.copy(each, made)
        # No script of a package has to run during the installation.
        installed = subprocess.run(
            [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=made, check=False
        )
        if installed.returncode:
            raise SystemExit(
                "npm could not install Lighthouse; it needs a registry of npm packages"
            )
        made.rename(home)
    return program


async def _find_pages(url: str) -> tuple[dict[str, tuple[str, bool]], str]:
    """Return each page's path and whether it may be indexed; and the cookies of a guest with a product in the cart."""
    port = urlsplit(url).port
    if port is None or urlsplit(url).hostname != HOST:
        raise SystemExit(f"--url names a shop on this machine: http://{HOST}:8000")
    browser = Browser(port, {}, 30)

    async def read(path: str) -> str:
        answer = await browser.request("GET", path)
        if answer.status != 200:
            raise SystemExit(
                f"{url}{path} answered {answer.status or 'nothing'}; `make run` serves a shop"
            )
        return answer.text

    texts = {"/": await read("/")}
    category = _first(r'href="(/c/[^"]+)"', texts["/"])
    texts[category] = await read(category)
    product = _first(r'href="(/p/[^"?]+)"', texts[category])
    texts[product] = await read(product)
    texts["/help/"] = await read("/help/")
    form = {
        name: unescape(_first(rf'name="{name}" value="([^"]+)"', texts[product]))
        for name in ("variant", "product")
    }
    added = await browser.request(
        "POST", "/cart/add/", form | {"quantity": "2", "operation": str(uuid4())}
    )
    if added.status != 303:
        raise SystemExit(f"putting {product} into a cart answered {added.status}")
    texts["/cart/"] = await read("/cart/")
    browser.close()
    names = dict(zip(texts, ("front", "category", "product", "help", "cart"), strict=True))
    pages = {names[path]: (path, not _NOT_INDEXED.search(text)) for path, text in texts.items()}
    return pages, "; ".join(f"{name}={value}" for name, value in browser.cookies.items())


def _first(pattern: str, text: str) -> str:
    found = re.search(pattern, text)
    if found is None:
        raise SystemExit(f"the shop has no page with {pattern}: is it empty?")
    return found[1]


def _report(lighthouse: Path, chromium: str, url: str, cookie: str) -> dict[str, Any]:
    command = [
        *(str(lighthouse), url, "--quiet", "--output=json", "--output-path=stdout"),
        f"--only-categories={','.join(BOUNDS)}",
        "--chrome-flags=--headless --no-sandbox --disable-gpu",
    ]
    if cookie:
        command.append(f"--extra-headers={json.dumps({'Cookie': cookie})}")
    ran = subprocess.run(
        command,
        env=os.environ | {"CHROME_PATH": chromium},
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if ran.returncode:
        raise SystemExit(f"Lighthouse failed at {url}, with status {ran.returncode}")
    report: dict[str, Any] = json.loads(ran.stdout)
    return report


def _score(report: dict[str, Any], category: str) -> int:
    return round(100 * (report["categories"][category]["score"] or 0))


def _faults(report: dict[str, Any], category: str) -> list[str]:
    """Return the titles of the audits in which a page has lost points."""
    parts = report["categories"][category]["auditRefs"]
    audits = [report["audits"][each["id"]] for each in parts if each["weight"]]
    return [
        f"{each['title']}{': ' if each.get('displayValue') else ''}{each.get('displayValue', '')}"
        for each in audits
        if each["score"] is not None and each["score"] < 0.9
    ]


if __name__ == "__main__":
    sys.exit(main())

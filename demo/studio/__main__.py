"""The studio’s command: `python -m demo.studio NAME [--colour C] [--shot main] [--size 400]`."""

import argparse
import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby
from pathlib import Path

import numpy as np

from . import light_passes, shots
from .shots import Picture

QUALITY = 66


def read_arguments() -> argparse.Namespace:
    """Return what the command line asks for."""
    parser = argparse.ArgumentParser(prog="demo.studio", description=__doc__)
    parser.add_argument("name", nargs="?", help="a product's key or a scene; without it, all")
    parser.add_argument("--colour", help="a colour's code, such as rus")
    parser.add_argument("--shot", help="main, second or detail; without it, all of them")
    parser.add_argument("--ending", help="an option with a shape of its own, as -60")
    parser.add_argument("--size", type=int, default=1600)
    parser.add_argument("--samples", type=int, default=10)
    parser.add_argument("--out", type=Path, default=shots.DATA / "photographs")
    parser.add_argument("--suffix", default=".avif", help="the kind of file, such as .png")
    parser.add_argument("--again", action="store_true", help="render what is there, too")
    parser.add_argument(
        "--check", action="store_true", help="render in full, too, and print the difference"
    )
    return parser.parse_args()


def groups(asked: argparse.Namespace) -> Iterator[list[Picture]]:
    """Return the pictures to render, those that share their light passes together."""
    names = [asked.name] if asked.name else [*sorted(shots.PRODUCTS), *sorted(shots.SCENES)]
    for name in names:
        for (shot, ending), same in groupby(shots.pictures(name), lambda p: (p.shot, p.ending)):
            if asked.shot in {None, shot} and asked.ending in {None, ending}:
                group = list(same)
                yield [replace(group[0], code=asked.colour)] if asked.colour else group


def check(group: list[Picture], light: light_passes.Light, size: int, samples: int) -> None:
    """Render the last picture of a group in full, and print how far the passes are from it."""
    full = next(shots.render(group[-1:], size, samples))
    pairs = (np.asarray(light_passes.develop(each), dtype=float) for each in (light, full))
    difference = np.abs(np.subtract(*pairs))
    print(
        f"{group[-1].name}: mean difference {difference.mean():.2f} of 255,"
        f" largest hundredth {np.percentile(difference, 99):.1f}"
    )


def main() -> None:
    """Render what is asked for and missing, and say how long each set of pictures took."""
    asked = read_arguments()
    shots.load()
    asked.out.mkdir(parents=True, exist_ok=True)
    every = list(groups(asked))
    for number, group in enumerate(every, 1):
        paths = [asked.out / f"{each.name}{asked.suffix}" for each in group]
        asked_for = asked.again or asked.name or asked.check
        if not asked_for and all(path.exists() for path in paths):
            continue
        start = time.process_time()
        for path, light in zip(paths, shots.render(group, asked.size, asked.samples), strict=True):
            light_passes.develop(light).save(path, quality=QUALITY)
        took = time.process_time() - start
        print(f"{number}/{len(every)} {', '.join(p.name for p in paths)}: {took:.0f} s", flush=True)
        if asked.check and len(group) > 1:
            check(group, light, asked.size, asked.samples)


if __name__ == "__main__":
    main()

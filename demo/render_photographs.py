"""Renders the demo shop's photographs, which are kept in the repository: `python -m demo.render_photographs`.

Headless Chromium renders each photograph from a drawing by this project, with light, shade and grain. The shop stores the
photographs like pictures that staff upload.
"""

import os
import shutil
import subprocess
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image

from catalogue.pictures import draw_picture, parse_picture
from demo.catalogue_data import PHOTOGRAPHS as FOLDER

# The drawing and the size of each photograph, keyed by file name.
PHOTOGRAPHS = {
    "basket-1": ("basket-3/c2a56b", (1400, 1120)),
    "basket-2": ("basket-2/c2a56b", (1200, 1200)),
    "pan-1": ("pan-3/43474c-b98a58", (1400, 1120)),
    "pan-2": ("pan-2/43474c-b98a58", (1200, 1200)),
    "spoons-1": ("spoons-3/dfb98a", (1120, 1400)),
    "spoons-2": ("spoons-2/dfb98a", (1200, 1200)),
}
_PAGE = """<!doctype html><style>
html, body {{ margin: 0; width: {width}px; height: {height}px; overflow: hidden; background: #222; }}
svg.drawing {{ position: absolute; inset: 0; width: 100%; height: 100%; filter: saturate(.92) contrast(1.06); }}
.lamp, .shade, .grain {{ position: absolute; inset: 0; width: 100%; height: 100%; }}
.lamp {{ background: radial-gradient(90% 80% at 28% 18%, #fff6e0b0, #fff0 60%); mix-blend-mode: soft-light; }}
.shade {{ background: radial-gradient(95% 95% at 45% 42%, #0000 55%, #1c1206b0 130%); mix-blend-mode: multiply; }}
.grain {{ opacity: .16; mix-blend-mode: overlay; }}
</style>{drawing}<div class="lamp"></div><div class="shade"></div>
<svg class="grain"><filter id="grain"><feTurbulence type="fractalNoise" baseFrequency=".8" numOctaves="2" seed="7"/></filter>
<rect width="100%" height="100%" filter="url(#grain)"/></svg>"""


def render_photograph(name: str) -> None:
    """Render the photograph with this file name into the folder of photographs."""
    drawing, (width, height) = PHOTOGRAPHS[name]
    svg = draw_picture(*parse_picture(drawing)).replace(
        "<svg ", '<svg class="drawing" preserveAspectRatio="xMidYMid slice" ', 1
    )
    browser = os.environ.get("CHROMIUM") or shutil.which("chromium-headless-shell") or "chromium"
    with TemporaryDirectory() as folder:
        page, target = Path(folder, "page.html"), Path(folder, "photograph.png")
        page.write_text(_PAGE.format(width=width, height=height, drawing=svg[svg.index("<svg ") :]))
        subprocess.run(  # noqa: S603 -- our own page in our own browser
            [
                *(browser, "--headless", "--no-sandbox", "--hide-scrollbars"),
                *(f"--window-size={width},{height}", f"--screenshot={target}", page.as_uri()),
            ],
            check=True,
            capture_output=True,
        )
        picture = Image.open(BytesIO(target.read_bytes())).convert("RGB")
        picture.save(FOLDER / f"{name}.jpg", quality=80, optimize=True, progressive=True)


def main() -> None:
    """Render all photographs."""
    for name in PHOTOGRAPHS:
        render_photograph(name)


if __name__ == "__main__":
    main()

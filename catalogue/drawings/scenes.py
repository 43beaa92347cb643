"""Several things together, for the tiles that lead to a whole department. The first colour tells the ground."""

from catalogue.drawings import clothes, desk, light_and_plants, tableware, textiles
from catalogue.drawings.sheet import Sheet
from catalogue.drawings.tone import BRASS, LEATHER, PAPER, WOOD, Tone


def home(sheet: Sheet, lamp: Tone, cushion: Tone | None = None, vase: Tone | None = None) -> None:
    """Draw a lamp, a vase and a cushion on the floor in front of them."""
    with sheet.group(transform="translate(-44 -22) scale(.86)"):
        light_and_plants.lamp(sheet, lamp, PAPER)
    with sheet.group(transform="translate(262 126) scale(.66)"):
        light_and_plants.vase(sheet, vase or lamp.down(0.1))
    with sheet.group(transform="translate(196 262) scale(.56)"):
        textiles.cushion(sheet, cushion or lamp.up(0.1))


def kitchen(sheet: Sheet, pot: Tone, mug: Tone | None = None, bowl: Tone | None = None) -> None:
    """Draw a casserole with a mug and a bowl."""
    with sheet.group(transform="translate(36 -24) scale(.88)"):
        tableware.casserole(sheet, pot)
    with sheet.group(transform="translate(296 214) scale(.5)"):
        tableware.mug(sheet, mug or PAPER, PAPER)
    with sheet.group(transform="translate(20 236) scale(.52)"):
        tableware.bowl(sheet, bowl or pot.up(0.1), PAPER)


def clothing(sheet: Sheet, jumper: Tone, beanie: Tone | None = None, socks: Tone | None = None) -> None:
    """Draw a jumper laid out with a beanie and socks."""
    sheet.leave_floor_out()
    with sheet.group(transform="rotate(-7 300 300) translate(16 -44) scale(.92)"):
        clothes.jumper(sheet, jumper)
    with sheet.group(transform="rotate(9 300 300) translate(22 318) scale(.46)"):
        clothes.beanie(sheet, beanie or jumper.down(0.1))
    with sheet.group(transform="translate(306 284) scale(.5)"):
        clothes.socks(sheet, socks or PAPER, LEATHER)


def workspace(sheet: Sheet, cover: Tone, pencils: Tone | None = None, clock: Tone | None = None) -> None:
    """Draw a notebook with pencils and a pen."""
    with sheet.group(transform="translate(-30 20) scale(.9)"):
        desk.notebook(sheet, cover, pencils)
    with sheet.group(transform="translate(330 40) scale(.42)"):
        desk.envelopes(sheet, PAPER, clock or WOOD)
    with sheet.group(transform="translate(222 190) scale(.7)"):
        desk.pen(sheet, BRASS)

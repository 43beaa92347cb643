"""Soft things for the sofa, the bed and the bath."""

import math

from catalogue.drawings.sheet import ACROSS, ASLANT, Sheet, box, hoop, vessel
from catalogue.drawings.tone import PAPER, WOOD, Tone


def _stacked(sheet: Sheet, x: float, y: float, width: float, height: float, tone: Tone) -> None:
    """Draw one folded cloth seen from the front: the fold is the round left end."""
    outline = box(x, y, width, height, min(height / 2, 28))
    sheet.fill(outline, sheet.linear((0, tone.up(0.06)), (0.45, tone), (1, tone.down(0.11))))


def cushion(sheet: Sheet, cloth: Tone) -> None:
    _cushion(sheet, cloth, 172, 172)


def long_cushion(sheet: Sheet, cloth: Tone) -> None:
    _cushion(sheet, cloth, 226, 146)


def _pillow(w: float, h: float, x: float = 300, y: float = 300) -> str:
    """Return the outline of a stuffed square: pulled in along the sides, pointed corners."""
    dx, dy = w * 0.9, h * 0.9
    return (
        f"M{x - w} {y - h}Q{x - w * 0.5} {y - dy} {x} {y - dy}Q{x + w * 0.5} {y - dy} {x + w} {y - h}"
        f"Q{x + dx} {y - h * 0.5} {x + dx} {y}Q{x + dx} {y + h * 0.5} {x + w} {y + h}"
        f"Q{x + w * 0.5} {y + dy} {x} {y + dy}Q{x - w * 0.5} {y + dy} {x - w} {y + h}"
        f"Q{x - dx} {y + h * 0.5} {x - dx} {y}Q{x - dx} {y - h * 0.5} {x - w} {y - h}Z"
    )


def _stuffing(sheet: Sheet, outline: str, cloth: Tone) -> None:
    plump = sheet.radial(
        (0, cloth.up(0.075)),
        (0.45, cloth.up(0.02)),
        (0.8, cloth.down(0.05)),
        (1, cloth.down(0.12)),
        at=(0.42, 0.38, 0.72),
    )
    sheet.line(outline, cloth.down(0.12), 9)
    sheet.fill(outline, plump)


def _cushion(sheet: Sheet, cloth: Tone, w: float, h: float) -> None:
    bottom = 300 + h
    sheet.shadow(312, bottom + 2, w * 1.22, 30)
    outline = _pillow(w, h)
    _stuffing(sheet, outline, cloth)
    creases = "".join(
        f"M{300 + sx * w * 0.9:.0f} {300 + sy * h * 0.9:.0f}q{-sx * w * 0.16:.0f} {-sy * h * 0.07:.0f} {-sx * w * 0.3:.0f} {-sy * h * 0.28:.0f}"
        f"M{300 + sx * w * 0.93:.0f} {300 + sy * h * 0.86:.0f}q{-sx * w * 0.06:.0f} {-sy * h * 0.16:.0f} {-sx * w * 0.1:.0f} {-sy * h * 0.32:.0f}"
        for sx in (-1, 1)
        for sy in (-1, 1)
    )
    sheet.line(creases, cloth.down(0.13), 5, opacity=0.5)
    sheet.line(creases, cloth.up(0.1), 4, opacity=0.4, transform="translate(5 3)")
    with sheet.within(outline):
        sheet.threads(f"M300 {300 - h}v{2 * h}", 2 * w, cloth.down(0.1), thick=1.5, apart=9, opacity=0.2)
    sheet.line(_pillow(w - 7, h - 7), cloth.down(0.14), 2, opacity=0.55)


def corduroy_cushion(sheet: Sheet, cloth: Tone) -> None:
    sheet.shadow(312, 478, 214, 30)
    outline = _pillow(176, 176)
    _stuffing(sheet, outline, cloth)
    ribs = "".join(f"M{300 + k * 21:.0f} 118Q{300 + k * 18.6:.0f} 300 {300 + k * 21:.0f} 482" for k in range(-9, 10))
    with sheet.within(outline):
        sheet.line(ribs, cloth.down(0.13), 5, opacity=0.75)
        sheet.line(ribs, cloth.up(0.09), 5, opacity=0.45, transform="translate(-7 0)")
        shade = sheet.linear((0, cloth.up(0.1), 0.25), (0.5, cloth, 0), (1, cloth.down(0.25), 0.5), along=ASLANT)
        sheet.fill(box(110, 110, 380, 380), shade)


def _fringe(xs: range, y: float, length: float) -> str:
    return "".join(
        f"M{x} {y:.0f}q{3 if x % 4 else -3} {length * 0.5:.0f} {-2 if x % 3 else 2} {length:.0f}" for x in xs
    )


def blanket(sheet: Sheet, wool: Tone, stripe: Tone | None = None) -> None:
    """Draw a throw hung over a wooden rail, the fringe below."""
    second = stripe or wool.against(0.16)
    sheet.shadow(312, 548, 170, 18, 0.25)
    sheet.line("M70 112H530", WOOD.down(0.12), 20)
    sheet.line("M70 109H530", WOOD.up(0.03), 12)
    back = "M166 112Q162 94 190 92H430Q454 94 456 112L464 420H158Z"
    sheet.fill(back, wool.down(0.16))
    sheet.line(_fringe(range(166, 464, 10), 418, 34), wool.down(0.2), 5)
    front = "M142 116Q142 88 172 86H424Q448 88 450 116C448 240 440 340 446 470H130C140 340 144 240 142 116Z"
    sheet.line(_fringe(range(136, 446, 10), 466, 46), wool.down(0.09), 6)
    sheet.line(_fringe(range(136, 446, 10), 466, 42), wool.up(0.03), 3)
    folds = sheet.linear(
        (0, wool.down(0.02)),
        (0.14, wool.up(0.05)),
        (0.3, wool.down(0.04)),
        (0.46, wool.up(0.045)),
        (0.64, wool.down(0.05)),
        (0.8, wool.up(0.02)),
        (1, wool.down(0.11)),
        along=ACROSS,
    )
    sheet.fill(front, folds)
    with sheet.within(front):
        for y, width in ((386, 26), (422, 10), (440, 5), (350, 5)):
            sheet.line(f"M120 {y + 4}Q300 {y - 4} 460 {y}", second, width, opacity=0.85)
        sheet.threads("M300 96V476", 330, wool.down(0.14), thick=1.5, apart=9, opacity=0.28)
        for x, side in ((222, 1), (338, -1)):
            sheet.line(f"M{x} 110C{x + 8 * side} 240 {x - 10 * side} 350 {x} 476", wool.down(0.16), 9, opacity=0.16)
    top = sheet.linear((0, wool.up(0.1), 0.9), (1, wool.up(0.06), 0))
    sheet.fill("M142 116Q142 88 172 86H424Q448 88 450 116L450 136Q300 122 142 136Z", top)


def folded_blanket(sheet: Sheet, cotton: Tone) -> None:
    """Draw a thick waffle blanket, folded and tied with a ribbon."""
    sheet.shadow(318, 472, 250, 40)
    for i, y in enumerate((398, 336, 274)):
        _stacked(sheet, 92 + i * 3, y, 416 - i * 5, 66, cotton.down(0.02 * (2 - i)))
        sheet.line(f"M140 {y + 33}H{486 - i * 4}", cotton.down(0.13), 3, opacity=0.45)
    top = "M122 278L170 186Q176 176 190 176H420Q434 176 440 188L482 278Q300 286 122 278Z"
    sheet.fill(top, sheet.linear((0, cotton.up(0.02)), (1, cotton.up(0.08))))
    with sheet.within(top):
        down = "".join(f"M{300 + k * 17.5:.0f} 172L{300 + k * 23:.0f} 290" for k in range(-8, 9))
        across = "".join(f"M100 {y}H500" for y in (186, 200, 215, 231, 248, 266))
        sheet.line(down + across, cotton.down(0.1), 4, opacity=0.55)
        sheet.line(down + across, cotton.up(0.12), 2.5, opacity=0.6, transform="translate(-3 -2)")
    ribbon = WOOD.mix(PAPER, 0.35)
    face = "M282 176H326L338 282V464H282L278 282Z"
    sheet.fill(face, sheet.linear((0, ribbon.up(0.06)), (0.3, ribbon), (1, ribbon.down(0.12))))
    sheet.fill(
        "M308 268C276 236 236 238 240 262C242 284 284 284 308 274C334 284 372 284 374 260C376 238 338 238 308 268Z",
        ribbon.down(0.02),
    )
    sheet.line("M308 270C286 262 264 258 252 262M308 270C330 262 350 258 362 260", ribbon.down(0.14), 3, opacity=0.7)
    sheet.fill(
        "M302 272L270 322L290 318L298 332L316 276ZM310 272L346 324L328 320L322 334L300 276Z",
        ribbon.down(0.05),
    )
    sheet.oval(308, 270, 13, 12, ribbon.up(0.05))


def towel(sheet: Sheet, cotton: Tone) -> None:
    """Draw three folded towels, the top one in its border's full width."""
    sheet.shadow(318, 490, 246, 38)
    tones = (cotton.down(0.045), cotton, cotton.up(0.03))
    for i, tone in enumerate(tones):
        y = 388 - i * 104
        x, width = 100 + i * 6, 400 - i * 12
        body = box(x, y, width, 102, 34)
        sheet.fill(body, sheet.linear((0, tone.up(0.07)), (0.5, tone), (1, tone.down(0.13))))
        with sheet.within(body):
            sheet.line(
                f"M{x + width} {y + 50}H{x + 60}Q{x + 34} {y + 50} {x + 36} {y + 51}",
                tone.down(0.17),
                4,
                opacity=0.65,
            )
            sheet.line(
                f"M{x + width} {y + 26}H{x + 40}M{x + width} {y + 77}H{x + 40}",
                tone.down(0.1),
                2.5,
                opacity=0.35,
            )
            loops = [(x + 18 + (k * 29) % (width - 30), y + 12 + (k * 41) % 82) for k in range(44)]
            sheet.dots(loops, tone.up(0.12), 4, opacity=0.4)
            stripe = box(x + width - 104, y, 34, 102)
            sheet.fill(stripe, tone.down(0.07), opacity=0.6)
            sheet.line(f"M{x + width - 104} {y}v102m34 0v-102m-17 0v102", tone.down(0.14), 2, opacity=0.5)
    sheet.gleam("M146 194H300", 6, 0.25)


def tea_towel(sheet: Sheet, linen: Tone, stripe: Tone | None = None) -> None:
    """Draw a linen towel hanging from a peg by its loop."""
    second = stripe or linen.against(0.3)
    outline = "M286 92C270 122 214 128 176 146C186 260 178 380 164 512C250 522 350 522 438 510C424 380 416 260 426 146C388 128 330 122 314 92Z"
    sheet.cast(outline, drop=16)
    sheet.line("M288 100C280 60 320 60 312 100", second.down(0.02), 6)
    sheet.oval(300, 66, 15, 15, WOOD.down(0.16))
    sheet.oval(299, 64, 14, 14, sheet.radial((0, WOOD.up(0.1)), (1, WOOD.down(0.06)), at=(0.35, 0.3, 0.8)))
    folds = sheet.linear(
        (0, linen.up(0.01)),
        (0.16, linen.up(0.04)),
        (0.33, linen.down(0.07)),
        (0.5, linen.up(0.03)),
        (0.68, linen.down(0.06)),
        (0.84, linen.up(0.02)),
        (1, linen.down(0.09)),
        along=ACROSS,
    )
    sheet.fill(outline, folds)
    with sheet.within(outline):
        for y, width in ((452, 20), (478, 7), (426, 7), (208, 7)):
            sheet.line(
                f"M150 {y - 2}Q228 {y + 12} 300 {y + 6}T450 {y - 2}",
                second,
                width,
                stroke_linecap="butt",
                opacity=0.9,
            )
        for edge in ("M192 146C202 260 194 380 181 520", "M410 146C400 260 408 380 420 520"):
            sheet.line(edge, second, 5, opacity=0.85)
        sheet.line(
            "M296 110C268 200 250 320 258 520M306 110C336 200 348 320 340 520",
            linen.down(0.2),
            12,
            opacity=0.14,
        )
        sheet.line(
            "M292 104C262 128 224 140 196 152M308 104C338 128 376 140 404 152",
            linen.down(0.16),
            3,
            opacity=0.4,
        )


def rolled_mat(sheet: Sheet, cotton: Tone) -> None:
    """Draw a waffle mat, rolled up, with the spiral of its end."""
    sheet.shadow(316, 446, 250, 42)
    body = "M170 206H462C504 206 530 250 530 324C530 398 504 442 462 442H170Z"
    sheet.fill(
        body,
        sheet.linear((0, cotton.down(0.01)), (0.22, cotton.up(0.07)), (0.6, cotton.down(0.02)), (1, cotton.down(0.16))),
    )
    with sheet.within(body):
        rows = "".join(f"M160 {y}H540" for y in (214, 228, 247, 270, 296, 324, 352, 378, 401, 420, 434))
        columns = "".join(f"M{x} 200C{x + 34} 232 {x + 34} 416 {x} 448" for x in range(164, 540, 26))
        sheet.line(rows + columns, cotton.down(0.12), 4, opacity=0.55)
        sheet.line(rows + columns, cotton.up(0.1), 2, opacity=0.55, transform="translate(-3 -3)")
        shade = sheet.linear((0, cotton.up(0.08), 0.35), (0.4, cotton, 0), (1, cotton.down(0.3), 0.5))
        sheet.fill(body, shade)
    sheet.oval(170, 324, 84, 118, cotton.down(0.1))
    sheet.oval(168, 324, 80, 115, cotton.up(0.03))
    spiral = (
        "M168 209C236 222 240 420 172 424C108 424 110 240 170 236C220 240 222 396 172 398"
        "C126 396 128 268 172 264C204 268 206 368 172 370C144 368 146 298 172 296C190 298 190 340 174 342"
    )
    sheet.line(spiral, cotton.down(0.2), 8)
    sheet.line(spiral, cotton.up(0.09), 3, opacity=0.7, transform="translate(-5 -2)")


def soap(sheet: Sheet, bar: Tone) -> None:
    sheet.shadow(318, 430, 236, 42)
    side = "M92 296C92 270 118 262 150 262H450C482 262 508 270 508 296V376C508 412 484 430 446 430H154C116 430 92 412 92 376Z"
    sheet.fill(side, sheet.linear((0, bar.down(0.02)), (0.5, bar.down(0.06)), (1, bar.down(0.16))))
    top = (
        "M92 294C92 252 138 208 186 200H414C462 208 508 252 508 294C508 328 480 336 446 336H154C120 336 92 328 92 294Z"
    )
    sheet.fill(top, sheet.linear((0, bar.down(0.01)), (0.6, bar.up(0.05)), (1, bar.up(0.1))))
    sheet.oval(300, 266, 96, 40, bar.down(0.08))
    sheet.oval(300, 270, 96, 39, bar.up(0.03))
    sheet.line("M300 294C298 276 300 260 304 246", bar.down(0.16), 4)
    sheet.fill(
        "M299 286C270 286 250 276 246 262C272 260 294 268 299 286ZM303 276C306 260 326 250 350 252C346 268 326 278 303 276Z",
        bar.down(0.14),
    )
    band = "M404 199.500L446 210Q470 300 470 336V429Q440 432 420 430V336Q424 262 404 199.500Z"
    sheet.fill(
        band,
        sheet.linear((0, PAPER.down(0.02)), (0.55, PAPER.up(0.02)), (0.62, PAPER.down(0.06)), (1, PAPER.down(0.12))),
    )
    sheet.line("M458 360V410M444 360V410", bar.down(0.2), 3, opacity=0.6)
    sheet.gleam("M120 284C132 256 160 234 190 224", 9, 0.4)
    flecks = [(150 + (k * 67) % 250, 222 + (k * 37) % 100) for k in range(16)]
    sheet.dots(flecks, bar.down(0.18), 3.4, opacity=0.4)


def basket(sheet: Sheet, grass: Tone) -> None:
    x = 300
    sheet.shadow(x + 24, 488, 220, 40)
    sheet.line("M120 250C84 250 84 330 128 330M480 250C516 250 516 330 472 330", grass.down(0.2), 22)
    sheet.line("M120 248C86 250 86 326 128 328M480 248C514 250 514 326 472 328", grass.up(0.01), 13)
    outline = vessel(x, (180, 214), ((196, 300), (190, 390), (160, 452)), ((152, 466), (146, 470), (138, 472)))
    sheet.fill(outline, sheet.round(grass))
    rows = (244, 276, 308, 340, 372, 403, 432, 458)
    radii = (186, 190, 191, 191, 188, 182, 173, 158)
    with sheet.within(outline):
        coils = list(zip(rows, radii, strict=True))
        sheet.line("".join(hoop(x, radius, y) for y, radius in coils), grass.down(0.17), 4, opacity=0.7)
        stitches = "".join(_stitches(x, r, y - 15, 10, 0.5 * (i % 2)) for i, (y, r) in enumerate(coils))
        sheet.line(stitches, grass.down(0.12), 4, opacity=0.55)
        sheet.line(stitches, grass.up(0.12), 3, opacity=0.5, transform="translate(-5 -1)")
    sheet.oval(x, 214, 182, 38, grass.down(0.06))
    sheet.oval(x, 211, 182, 37, sheet.linear((0, grass.up(0.1)), (1, grass.down(0.03)), along=ACROSS))
    sheet.oval(x, 214, 163, 29, sheet.hollow(grass.down(0.1)))


def _stitches(x: float, radius: float, y: float, count: int, phase: float) -> str:
    """Return short slanting stitches round the near side of a turned thing."""
    words = []
    for k in range(count + 1):
        angle = math.pi * (k + phase) / (count + 1)
        left = x - radius * math.cos(angle)
        low = y + radius * 0.2 * math.sin(angle)
        words.append(f"M{left - 3:.0f} {low - 8:.0f}l6 16")
    return "".join(words)

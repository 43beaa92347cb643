"""Things for the table and the stove."""

from catalogue.drawings.sheet import (
    ACROSS,
    ASLANT,
    Sheet,
    band,
    box,
    hoop,
    path,
    scattered,
    vessel,
)
from catalogue.drawings.tone import BRASS, PAPER, RAW_CLAY, STEEL, WHITE, WOOD, Tone

COFFEE = Tone.of("6f4a34")


def _handle(sheet: Sheet, outline: str, tone: Tone, width: float) -> None:
    """Draw a round handle: its shaded underside, its body and the light on it."""
    sheet.line(outline, tone.down(0.15), width, stroke_linecap="butt")
    sheet.line(outline, tone.down(0.04), width * 0.72, stroke_linecap="butt", transform="translate(-2 -2)")
    sheet.line(outline, tone.up(0.06), width * 0.26, transform="translate(-4 -4)")


def _opening(sheet: Sheet, x: float, y: float, r: float, lip: Tone, inside: Tone, tilt: float = 0.2) -> None:
    """Draw a vessel's rim and what is seen of its inside."""
    sheet.oval(x, y, r, r * tilt, sheet.linear((0, lip.up(0.1)), (1, lip.down(0.02)), along=ACROSS))
    inner = r - max(7, r * 0.055)
    sheet.oval(x, y + 1, inner, inner * tilt, sheet.hollow(inside))


def mug(sheet: Sheet, body: Tone, inside: Tone = PAPER) -> None:
    x = 276
    sheet.shadow(x + 30, 462, 190, 38)
    _handle(sheet, path((380, 268), ((478, 246), (492, 396), (372, 398))), body, 32)
    outline = vessel(x, (118, 206), ((118, 300), (114, 380), (110, 418)), ((106, 448), (88, 458), (80, 460)))
    sheet.fill(outline, sheet.round(body))
    with sheet.within(outline):
        sheet.fill(band(x, (120, 430), (120, 520)), sheet.round(RAW_CLAY))
        sheet.line(hoop(x, 112, 430), body.down(0.1), 4, opacity=0.6)
        sheet.dots(scattered(x, 330, 112, 110, 26), body.down(0.14), 3.2, opacity=0.5)
    sheet.gleam(path((194, 258), ((192, 320), (196, 360), (200, 392))), 11, 0.28)
    _opening(sheet, x, 206, 118, body, inside)


def cup(sheet: Sheet, body: Tone, coffee: Tone = COFFEE) -> None:
    sheet.shadow(416, 402, 176, 38)
    with sheet.group(transform="translate(152 -14) scale(.86)"):
        _cup_on_saucer(sheet, body, coffee)
    sheet.shadow(250, 500, 216, 40)
    with sheet.group(transform="translate(-68 52)"):
        _cup_on_saucer(sheet, body, coffee)


def _cup_on_saucer(sheet: Sheet, body: Tone, coffee: Tone) -> None:
    x = 290
    sheet.oval(x, 426, 168, 46, body.down(0.16))
    sheet.oval(x, 418, 168, 45, sheet.linear((0, body.up(0.06)), (1, body.down(0.06)), along=ACROSS))
    sheet.oval(x, 420, 118, 29, sheet.linear((0, body.down(0.1)), (1, body), along=ACROSS))
    sheet.oval(x + 12, 424, 84, 18, body.down(0.2), opacity=0.55)
    _handle(sheet, path((376, 306), ((446, 288), (446, 388), (362, 372))), body, 22)
    outline = vessel(x, (98, 278), ((98, 350), (82, 404), (52, 416)), tilt=0.22)
    sheet.fill(outline, sheet.round(body))
    sheet.gleam(path((216, 316), ((220, 348), (228, 366), (236, 378))), 8, 0.3)
    _opening(sheet, x, 278, 98, body, PAPER, 0.22)
    sheet.oval(x, 287, 82, 14, sheet.linear((0, coffee.down(0.08)), (1, coffee.up(0.06)), along=ACROSS))
    sheet.line("M222 288A72 11 0 0 0 352 292", Tone.of("c89a63"), 4, opacity=0.8)


def enamel_mug(sheet: Sheet, body: Tone, rim: Tone = PAPER) -> None:
    x = 272
    sheet.shadow(x + 36, 456, 190, 36)
    strap = path((376, 252), ((500, 232), (492, 400), (374, 402)))
    sheet.line(strap, rim.down(0.06), 24, stroke_linecap="butt")
    sheet.line(strap, body, 16, stroke_linecap="butt")
    sheet.line(strap, body.up(0.09), 5, transform="translate(-2 -3)")
    outline = vessel(x, (122, 200), ((118, 410),), ((117, 432), (112, 444), (104, 448)))
    sheet.fill(outline, sheet.round(body))
    with sheet.within(outline):
        sheet.line(hoop(x, 116, 428), body.down(0.12), 3, opacity=0.6)
    sheet.gleam(path((188, 250), ((190, 400),)), 13, 0.3)
    sheet.gleam(path((212, 254), ((213, 330),)), 4, 0.25)
    sheet.oval(x, 200, 124, 25, sheet.linear((0, rim.up(0.05)), (1, rim.down(0.05)), along=ACROSS))
    sheet.oval(x, 201, 113, 20.5, sheet.hollow(Tone.of("f2efe8")))


def teapot(sheet: Sheet, body: Tone, knob: Tone | None = None) -> None:
    x = 296
    sheet.shadow(x + 26, 462, 226, 42)
    _handle(sheet, path((400, 278), ((528, 226), (530, 420), (392, 398))), body, 28)
    spout = "M210 330C162 330 158 276 118 252C112 246 96 250 92 258C90 264 96 268 100 272C132 300 132 384 204 418Z"
    sheet.fill(spout, sheet.linear((0, body.up(0.07)), (0.5, body), (1, body.down(0.12))))
    sheet.fill("M92 258C96 250 112 246 118 252C112 260 104 266 98 268C94 266 91 263 92 258Z", body.down(0.28))
    outline = vessel(x, (74, 232), ((126, 244), (150, 292), (146, 344)), ((142, 402), (118, 450), (78, 456)))
    sheet.fill(outline, sheet.radial((0, body.up(0.1)), (0.45, body), (1, body.down(0.15)), at=(0.36, 0.3, 0.72)))
    with sheet.within(outline):
        sheet.fill(band(x, (120, 444), (120, 500)), sheet.round(RAW_CLAY))
        sheet.dots(scattered(x, 350, 140, 88, 24), body.down(0.13), 3, opacity=0.45)
    sheet.gleam(path((186, 302), ((196, 272), (210, 260), (228, 252))), 11, 0.34)
    sheet.oval(x, 234, 78, 15, body.down(0.18))
    lid = vessel(x, (24, 196), ((54, 198), (78, 212), (80, 230)), tilt=0.19)
    sheet.fill(lid, sheet.round(body))
    sheet.line(hoop(x, 80, 230, tilt=0.19), body.up(0.08), 3)
    sheet.oval(x, 195, 13, 6, body.down(0.14))
    top = knob or body
    sheet.oval(x, 178, 23, 19, sheet.radial((0, top.up(0.12)), (1, top.down(0.1)), at=(0.35, 0.3, 0.8)))


def tin(sheet: Sheet, label: Tone, paper: Tone = PAPER) -> None:
    x = 300
    sheet.shadow(x + 26, 478, 168, 34)
    metal = Tone.of("cfcac0")
    outline = vessel(x, (112, 196), ((112, 462),))
    sheet.fill(outline, sheet.round(label))
    with sheet.within(outline):
        sheet.fill(band(x, (112, 448), (112, 500)), sheet.round(label.down(0.1)))
        patch = "M234 286Q300 300 366 286V412Q300 428 234 412Z"
        sheet.fill(patch, sheet.linear((0, paper.up(0.03)), (1, paper.down(0.06)), along=ACROSS))
        sheet.line("M246 299Q300 310 354 299V404Q300 416 246 404Z", label, 2.5, opacity=0.7)
        with sheet.group(transform="translate(300 350)"):
            sheet.line("M0 34Q-3 0 2 -30", label.down(0.06), 4)
            sheet.fill("M0 22Q-44 14 -42 -22Q-6 -16 0 22Z", label)
            sheet.fill("M1 8Q44 0 40 -34Q4 -28 1 8Z", label.down(0.07))
    lid = vessel(x, (104, 158), ((112, 158), (117, 163), (117, 170)), ((117, 214),))
    sheet.fill(lid, sheet.round(metal))
    sheet.line(hoop(x, 117, 214), metal.down(0.26), 3, opacity=0.6)
    sheet.oval(x, 166, 114, 22, sheet.linear((0, metal.up(0.1)), (1, metal.down(0.06)), along=ACROSS))
    sheet.oval(x, 166, 88, 15.5, sheet.linear((0, metal.down(0.07)), (1, metal.up(0.08)), along=ACROSS))
    sheet.gleam(path((208, 244), ((208, 424),)), 9, 0.25)


def bottle(sheet: Sheet, body: Tone, lid: Tone = WOOD) -> None:
    x = 296
    sheet.shadow(x + 30, 516, 140, 28)
    outline = vessel(
        x,
        (44, 166),
        ((46, 186), (52, 192), (62, 204)),
        ((74, 218), (78, 236), (78, 258)),
        ((78, 490),),
        ((78, 502), (74, 506), (68, 508)),
    )
    sheet.fill(outline, sheet.round(body))
    with sheet.within(outline):
        sheet.fill(band(x, (80, 488), (80, 540)), sheet.round(STEEL))
    steel = vessel(x, (44, 152), ((44, 170),))
    sheet.fill(steel, sheet.round(STEEL, 1.4))
    cap = vessel(x, (44, 98), ((49, 98), (51, 102), (51, 108)), ((51, 152),))
    sheet.fill(cap, sheet.round(lid))
    sheet.oval(x, 102, 48, 9, lid.up(0.07))
    sheet.line("M268 101C264 52 328 52 324 101", body.down(0.1), 11)
    sheet.line("M268 99C264 52 328 52 324 99", body.up(0.06), 4, transform="translate(-2 -1)")
    sheet.gleam(path((238, 252), ((236, 300), (236, 400), (238, 462))), 11, 0.28)
    sheet.fill(
        "M276 372Q296 340 316 372Q296 362 276 372ZM270 386Q296 350 322 386Q296 374 270 386Z",
        WHITE,
        opacity=0.4,
    )


def kettle(sheet: Sheet, body: Tone, grip: Tone = WOOD) -> None:
    x = 292
    sheet.shadow(x + 22, 470, 226, 42)
    sheet.line("M176 272C166 84 418 84 408 272", STEEL.down(0.16), 13, stroke_linecap="butt")
    sheet.line("M173 268C165 90 414 84 405 268", STEEL.up(0.1), 4)
    sheet.line("M214 146C252 118 332 118 370 146", grip.down(0.13), 34)
    sheet.line("M213 143C252 115 331 115 368 143", grip, 26)
    sheet.line("M218 137C254 112 328 112 362 136", grip.up(0.08), 7)
    spout = "M384 372C436 352 440 300 482 276L506 300C482 330 470 402 402 424Z"
    sheet.fill(spout, sheet.linear((0, body.up(0.06)), (1, body.down(0.16))))
    sheet.fill("M474 272C482 262 516 288 510 300C500 306 468 284 474 272Z", STEEL.down(0.2))
    outline = vessel(x, (74, 240), ((132, 252), (166, 320), (168, 410)), ((168, 444), (158, 458), (140, 462)))
    sheet.fill(outline, sheet.radial((0, body.up(0.1)), (0.5, body), (1, body.down(0.16)), at=(0.34, 0.3, 0.78)))
    with sheet.within(outline):
        sheet.line(hoop(x, 168, 416), body.down(0.13), 4, opacity=0.6)
    sheet.gleam(path((166, 340), ((176, 304), (188, 284), (206, 268))), 12, 0.36)
    sheet.fill(vessel(x, (20, 214), ((58, 216), (76, 228), (78, 242)), tilt=0.19), sheet.round(body))
    sheet.line(hoop(x, 78, 242, tilt=0.19), body.down(0.18), 4)
    sheet.oval(x, 198, 22, 18, sheet.radial((0, grip.up(0.1)), (1, grip.down(0.1)), at=(0.35, 0.3, 0.8)))


def plate(sheet: Sheet, glaze: Tone) -> None:
    sheet.cast("M300 106A194 194 0 1 1 300 494A194 194 0 1 1 300 106Z", drop=16)
    sheet.oval(300, 300, 200, 200, glaze.down(0.12))
    sheet.oval(299, 298, 198, 198, sheet.flat(glaze))
    sheet.oval(299, 298, 191, 191, "none", stroke=glaze.down(0.12), stroke_width=4, opacity=0.5)
    well = sheet.linear((0, glaze.down(0.075)), (0.5, glaze), (1, glaze.up(0.07)), along=ASLANT)
    sheet.oval(300, 300, 146, 146, well)
    sheet.oval(300, 300, 130, 130, sheet.linear((0, glaze), (1, glaze.up(0.04)), along=ASLANT))
    sheet.dots(scattered(300, 300, 184, 184, 70), glaze.down(0.17), 3, opacity=0.4)
    sheet.gleam("M136 262A172 172 0 0 1 222 146", 9, 0.5)


def bowl(sheet: Sheet, body: Tone, inside: Tone = PAPER) -> None:
    x, tilt = 300, 0.3
    sheet.shadow(x + 24, 462, 190, 36)
    sheet.fill(vessel(x, (72, 440), ((70, 462),), tilt=0.22), sheet.round(body.down(0.08)))
    outline = vessel(x, (186, 264), ((186, 350), (140, 440), (78, 446)), tilt=0.22)
    sheet.fill(outline, sheet.round(body))
    with sheet.within(outline):
        sheet.dots(scattered(x, 370, 170, 80, 26), body.down(0.14), 3.4, opacity=0.45)
    sheet.gleam(path((142, 326), ((152, 366), (168, 388), (184, 402))), 11, 0.28)
    lip = sheet.linear((0, body.up(0.1)), (1, body.down(0.03)), along=ACROSS)
    sheet.oval(x, 264, 186, 186 * tilt, lip)
    sheet.oval(x, 265, 176, 49, sheet.hollow(inside))
    with sheet.within("M124 265A176 49 0 0 1 476 265A176 49 0 0 1 124 265Z"):
        sheet.oval(x + 20, 292, 140, 32, sheet.radial((0, inside.up(0.03)), (0.5, inside, 0.7), (1, inside, 0)))


def serving_bowl(sheet: Sheet, body: Tone, inside: Tone = PAPER) -> None:
    x = 300
    sheet.shadow(x + 20, 436, 240, 42)
    sheet.fill(vessel(x, (98, 416), ((96, 434),), tilt=0.2), sheet.round(body.down(0.09)))
    outline = vessel(x, (236, 282), ((232, 356), (170, 416), (106, 420)), tilt=0.24)
    sheet.fill(outline, sheet.round(body))
    sheet.gleam(path((104, 338), ((124, 370), (144, 384), (166, 396))), 10, 0.26)
    sheet.oval(x, 282, 236, 80, sheet.linear((0, body.up(0.1)), (1, body.down(0.03)), along=ACROSS))
    sheet.oval(x, 283, 223, 72, sheet.hollow(inside))
    with sheet.within("M77 283A223 72 0 0 1 523 283A223 72 0 0 1 77 283Z"):
        sheet.oval(x + 20, 312, 190, 50, sheet.radial((0, inside.up(0.03)), (0.5, inside, 0.7), (1, inside, 0)))
        sheet.line("M128 296A172 50 0 0 0 472 296", body, 5, opacity=0.55)
        sheet.dots(scattered(x, 290, 208, 62, 46), body.mix(inside, 0.2).down(0.2), 3, opacity=0.35)


def jug(sheet: Sheet, body: Tone) -> None:
    x = 286
    sheet.shadow(x + 34, 496, 176, 34)
    _handle(sheet, path((378, 222), ((494, 206), (486, 404), (384, 410))), body, 30)
    outline = vessel(
        x,
        (94, 168),
        ((88, 220), (92, 250), (104, 300)),
        ((118, 366), (116, 430), (104, 474)),
        ((101, 486), (96, 490), (90, 491)),
    )
    sheet.fill(outline, sheet.round(body))
    with sheet.within(outline):
        sheet.fill(band(x, (120, 470), (120, 530)), sheet.round(RAW_CLAY))
        sheet.dots(scattered(x, 340, 104, 140, 28), body.down(0.14), 3.2, opacity=0.45)
    sheet.gleam(path((206, 244), ((194, 300), (184, 360), (192, 420))), 11, 0.28)
    spout = "M196 160C186 152 160 136 150 138C146 146 162 190 200 204C230 190 240 170 232 150Z"
    sheet.fill(spout, sheet.linear((0, body.up(0.08)), (1, body.down(0.02)), along=ACROSS))
    lip = "M380 168A94 20 0 0 1 214 182C190 180 156 152 150 138C168 138 196 154 212 154A94 20 0 0 1 380 168Z"
    sheet.fill(lip, sheet.linear((0, body.up(0.11)), (1, body), along=ACROSS))
    hole = "M371 168A85 15 0 0 1 222 178C200 174 172 154 160 143C180 146 200 160 218 158A85 15 0 0 1 371 168Z"
    sheet.fill(hole, sheet.hollow(body))


def tumbler(sheet: Sheet, glass: Tone) -> None:
    sheet.shadow(440, 424, 136, 24)
    with sheet.group(transform="translate(128 -24) scale(.97)"):
        _glass(sheet, glass)
    sheet.shadow(234, 480, 136, 24)
    with sheet.group(transform="translate(-92 14)"):
        _glass(sheet, glass)


def _glass(sheet: Sheet, glass: Tone) -> None:
    x = 300
    outline = vessel(x, (106, 226), ((88, 446),), ((86, 456), (80, 460), (74, 461)))
    thin = sheet.linear(
        (0, glass.down(0.1), 0.75),
        (0.2, glass.up(0.12), 0.5),
        (0.7, glass, 0.55),
        (1, glass.down(0.14), 0.8),
        along=ACROSS,
    )
    sheet.fill(outline, thin)
    with sheet.within(outline):
        thick = sheet.linear((0, glass.down(0.04), 0.3), (1, glass.down(0.16), 0.85))
        sheet.fill(band(x, (92, 418), (92, 480)), thick)
        ribs = "".join(
            f"M{x + 104 * share:.0f} {240 + 20 * (1 - share * share) ** 0.5:.0f}L{x + 86 * share:.0f} 470"
            for share in (-0.93, -0.8, -0.62, -0.4, -0.14, 0.14, 0.4, 0.62, 0.8, 0.93)
        )
        sheet.line(ribs, glass.down(0.16), 3, opacity=0.45)
        sheet.line(ribs, WHITE, 3, opacity=0.4, transform="translate(5 0)")
    sheet.oval(x, 226, 106, 21, glass.up(0.1), opacity=0.45)
    sheet.oval(x, 226, 105, 20.5, "none", stroke=glass.up(0.2), stroke_width=4, opacity=0.95)
    sheet.gleam(path((214, 276), ((226, 420),)), 9, 0.5)


def pan(sheet: Sheet, iron: Tone, grip: Tone = WOOD) -> None:
    with sheet.group(transform="rotate(-38 300 300)"):
        sheet.cast("M250 130A160 160 0 1 0 250 450A160 160 0 1 0 250 130Z", drop=14)
        sheet.cast(box(400, 274, 166, 36, 16), drop=12)
        neck = "M388 268C410 282 420 284 450 282V308C420 306 410 308 388 322Z"
        sheet.fill(neck, sheet.linear((0, iron.up(0.12)), (1, iron.down(0.05))))
        bar = "M440 280Q500 268 556 272Q578 276 578 295Q578 314 556 318Q500 322 440 310Z"
        sheet.fill(bar, sheet.linear((0, grip.up(0.08)), (0.5, grip), (1, grip.down(0.12))))
        sheet.line("M456 291Q510 282 556 286M462 303Q514 300 548 304", grip.down(0.1), 2.5, opacity=0.6)
        sheet.oval(558, 295, 7, 7, sheet.backdrop.down(0.3))
        sheet.oval(250, 295, 166, 166, iron.down(0.08))
    rim = sheet.linear((0, iron.up(0.2)), (0.5, iron.up(0.03)), (1, iron.down(0.08)), along=ASLANT)
    sheet.oval(257, 327, 164, 164, rim)
    sheet.oval(257.5, 327.5, 152, 152, sheet.linear((0, iron.down(0.1)), (1, iron.up(0.1)), along=ASLANT))
    base = sheet.radial((0, iron.up(0.12)), (0.6, iron.up(0.02)), (1, iron.down(0.03)), at=(0.36, 0.34, 0.8))
    sheet.oval(259, 330, 128, 128, base)
    sheet.gleam("M154 300A112 112 0 0 1 216 224", 10, 0.16)
    sheet.gleam("M173 316A88 88 0 0 1 216 252", 5, 0.1)


def casserole(sheet: Sheet, body: Tone, knob: Tone = BRASS) -> None:
    x = 300
    sheet.shadow(x + 14, 470, 240, 42)
    for side in (-1, 1):
        ear = f"M{x + side * 186} 314C{x + side * 240} 304 {x + side * 250} 364 {x + side * 184} 360"
        sheet.line(ear, body.down(0.14), 22)
        sheet.line(ear, body.down(0.01), 14, transform="translate(-1 -3)")
    outline = vessel(
        x, (190, 292), ((190, 360), (188, 410), (182, 432)), ((178, 454), (164, 462), (146, 464)), tilt=0.17
    )
    sheet.fill(outline, sheet.round(body))
    with sheet.within(outline):
        sheet.line(hoop(x, 186, 300, tilt=0.17), body.down(0.2), 12, opacity=0.55)
        sheet.line(hoop(x, 186, 428, tilt=0.17), body.down(0.1), 4, opacity=0.5)
    sheet.gleam(path((134, 352), ((136, 396), (140, 410), (146, 428))), 12, 0.28)
    lid = vessel(x, (30, 204), ((120, 210), (184, 238), (197, 276)), ((198, 284), (197, 290), (194, 294)), tilt=0.17)
    paint = sheet.linear((0, body), (0.28, body.up(0.07)), (0.6, body), (1, body.down(0.12)), along=ACROSS)
    sheet.fill(lid, paint)
    sheet.line(hoop(x, 197, 280, tilt=0.17), body.up(0.09), 3, opacity=0.7)
    sheet.line(hoop(x, 112, 232, tilt=0.17), body.down(0.08), 3, opacity=0.5)
    sheet.gleam(path((146, 262), ((160, 242), (184, 230), (212, 222))), 10, 0.4)
    sheet.fill(vessel(x, (12, 184), ((14, 206),)), sheet.round(knob.down(0.08), 1.4))
    sheet.oval(x, 180, 34, 16, sheet.linear((0, knob.up(0.14)), (0.6, knob), (1, knob.down(0.14)), along=ASLANT))
    sheet.oval(x - 6, 175, 18, 6, knob.up(0.17), opacity=0.7)


def knife(sheet: Sheet, grip: Tone) -> None:
    blade = "M238 262L560 262Q566 262 562 268C520 320 440 338 300 338H238Z"
    handle = "M238 260H92C66 258 44 268 38 282C32 298 42 316 58 318C74 318 82 304 104 304C140 304 180 312 238 312Z"
    with sheet.group(transform="rotate(-38 300 300) translate(0 4)"):
        sheet.cast(blade, drop=10)
        sheet.cast(handle, drop=12)
        sheet.fill(blade, sheet.linear((0, STEEL.up(0.05)), (0.45, STEEL.up(0.16)), (1, STEEL.down(0.02))))
        with sheet.within(blade):
            sheet.fill("M238 338H300C440 338 520 320 562 268L566 262C520 306 440 322 300 322H238Z", STEEL.up(0.22))
            sheet.fill("M300 262H420L372 322H252Z", WHITE, opacity=0.28)
        sheet.fill(
            "M226 258H252V340H244C232 338 226 326 226 312Z",
            sheet.linear((0, STEEL.up(0.04)), (1, STEEL.down(0.14))),
        )
        sheet.fill(handle, sheet.linear((0, grip.up(0.09)), (0.45, grip), (1, grip.down(0.1))))
        sheet.line("M64 276Q140 266 228 274M62 292Q130 284 226 292", grip.down(0.08), 2.5, opacity=0.6)
        sheet.dots([(96, 284), (150, 284), (204, 285)], BRASS.down(0.1), 15)
        sheet.dots([(95, 283), (149, 283), (203, 284)], BRASS.up(0.1), 9)


def board(sheet: Sheet, wood: Tone) -> None:
    outline = (
        "M196 214Q196 190 220 186C262 180 268 166 268 140V104Q268 70 300 70Q332 70 332 104V140"
        "C332 166 338 180 380 186Q404 190 404 214V500Q404 526 378 526H222Q196 526 196 500Z"
    )
    with sheet.group(transform="rotate(24 300 300)"):
        sheet.cast(outline, drop=16)
        sheet.fill(outline, wood.down(0.16), transform="translate(3 7)")
        sheet.fill(outline, sheet.flat(wood))
        with sheet.within(outline):
            grain = (
                "M214 180C206 300 226 400 214 530M240 180C232 290 252 420 240 530M268 60C262 240 282 420 268 530"
                "M322 60C330 240 314 420 328 530M352 180C360 300 340 400 354 530M382 180C390 300 374 420 384 530"
            )
            sheet.line(grain, wood.down(0.08), 3, opacity=0.6)
            sheet.line("M300 150C292 260 306 330 300 350C290 400 300 470 298 530", wood.up(0.06), 5, opacity=0.6)
            sheet.line("M286 330C282 350 300 372 312 350C318 332 292 312 286 330Z", wood.down(0.12), 3, opacity=0.6)
        sheet.oval(300, 108, 13, 13, sheet.backdrop.down(0.3))
        sheet.line("M289 102A13 13 0 0 1 311 102", wood.down(0.25), 4)


def apron(sheet: Sheet, cloth: Tone) -> None:
    outline = (
        "M238 128H362Q366 190 400 226Q424 248 436 258V500Q436 512 424 512H176Q164 512 164 500V258"
        "Q176 248 200 226Q234 190 238 128Z"
    )
    strap = cloth.down(0.1)
    sheet.line("M246 136C236 46 364 46 354 136", strap.down(0.05), 14)
    sheet.line("M246 134C236 46 364 46 354 134", strap.up(0.04), 9)
    sheet.line("M168 268C120 280 96 320 108 372C112 392 96 410 92 430", strap, 11)
    sheet.line("M432 268C480 280 506 316 492 366C486 392 504 406 506 430", strap, 11)
    sheet.cast(outline, drop=14)
    sheet.fill(outline, sheet.flat(cloth))
    with sheet.within(outline):
        sheet.fill("M200 226C226 330 214 430 220 512H164V250Z", cloth.down(0.05), opacity=0.55)
        sheet.fill("M400 226C372 330 392 430 384 512H436V250Z", cloth.down(0.07), opacity=0.6)
        sheet.line(
            "M300 200C308 260 296 300 300 326M262 250C256 280 262 300 258 326",
            cloth.down(0.06),
            7,
            opacity=0.5,
        )
        sheet.line("M238 142H362M170 500H430", cloth.down(0.14), 2.5, stroke_dasharray="7 5")
    pocket = "M216 336H384V434Q384 446 372 446H228Q216 446 216 434Z"
    sheet.fill(pocket, cloth.down(0.1), transform="translate(2 4)", opacity=0.6)
    sheet.fill(pocket, sheet.flat(cloth.up(0.015)))
    sheet.line("M216 350H384M300 350V446", cloth.down(0.13), 2.5, stroke_dasharray="7 5")
    sheet.line("M224 344V434Q224 440 230 440H370Q376 440 376 434V344", cloth.down(0.1), 2, stroke_dasharray="7 5")


def spoons(sheet: Sheet, wood: Tone) -> None:
    stem = "M290 300L292 520Q292 532 300 532Q308 532 308 520L310 300Z"
    heads = (
        "M300 96C344 96 352 158 346 206C340 256 324 280 312 316H288C276 280 260 256 254 206C248 158 256 96 300 96Z",
        "M300 84C338 84 346 150 342 208C338 262 318 286 311 318H289C282 286 262 262 258 208C254 150 262 84 300 84Z",
        "M252 96Q300 78 346 104Q350 112 344 190C340 252 322 280 312 316H288C278 280 262 252 256 190Z",
    )
    for turn, tone, head in ((-20, wood.down(0.03), 2), (20, wood.up(0.02), 1), (0, wood, 0)):
        with sheet.group(transform=f"rotate({turn} 300 560)"):
            sheet.cast(heads[head] + stem, drop=9)
            paint = sheet.linear((0, tone.up(0.07)), (0.5, tone), (1, tone.down(0.1)), along=ACROSS)
            sheet.fill(stem, paint)
            sheet.fill(heads[head], paint)
            if head == 0:
                bowl_paint = sheet.linear((0, tone.down(0.13)), (1, tone.up(0.04)), along=ASLANT)
                sheet.oval(300, 176, 36, 62, bowl_paint)
            if head == 1:
                slots = "M282 142V222M300 128V236M318 142V222"
                sheet.line(slots, tone.down(0.2), 9)
                sheet.line(slots, sheet.backdrop.down(0.2), 6)
            sheet.line("M300 330C297 400 303 450 300 512", tone.down(0.09), 2.5, opacity=0.7)

"""Lamps and candles, vases and what grows in pots."""

from catalogue.drawings.sheet import ACROSS, Sheet, box, hoop, path, scattered, vessel
from catalogue.drawings.tone import BRASS, LEAF, PAPER, RAW_CLAY, STEEL, WHITE, Tone

GLOW = Tone.of("ffe7b0")
FLAME = Tone.of("f6b64c")


def _halo(sheet: Sheet, x: float, y: float, r: float, strength: float = 0.75) -> None:
    sheet.oval(x, y, r, r, sheet.radial((0, GLOW, strength), (0.5, GLOW, strength * 0.4), (1, GLOW, 0)))


def lamp(sheet: Sheet, base: Tone, shade: Tone = PAPER) -> None:
    x = 300
    sheet.shadow(x + 20, 516, 170, 30)
    _halo(sheet, x, 214, 290, 0.5)
    stem = vessel(x, (9, 268), ((9, 320),))
    sheet.fill(stem, sheet.round(BRASS))
    body = vessel(
        x,
        (20, 312),
        ((26, 340), (84, 352), (88, 410)),
        ((90, 456), (70, 478), (64, 496)),
        ((64, 506), (60, 508), (56, 509)),
    )
    sheet.fill(body, sheet.round(base))
    sheet.line(hoop(x, 64, 494), base.down(0.16), 3, opacity=0.6)
    sheet.gleam(path((230, 396), ((228, 424), (234, 444), (246, 462))), 9, 0.35)
    sheet.line("M352 502C420 500 440 530 520 522", base.down(0.1).mix(sheet.backdrop, 0.3), 5)
    cloth = "M226 90L150 286A150 30 0 0 0 450 286L374 90A74 15 0 0 1 226 90Z"
    lit = sheet.linear(
        (0, shade.down(0.1)),
        (0.3, shade.up(0.03)),
        (0.7, shade.down(0.02)),
        (1, shade.down(0.15)),
        along=ACROSS,
    )
    sheet.fill(cloth, lit)
    warm = sheet.radial((0, GLOW, 0.9), (0.55, GLOW, 0.4), (1, GLOW, 0), at=(0.5, 0.66, 0.5))
    sheet.fill(cloth, warm)
    sheet.line(hoop(x, 150, 286), shade.down(0.16), 5)
    sheet.oval(x, 90, 74, 15, shade.down(0.04))
    sheet.oval(x, 91, 66, 12, GLOW.up(0.03))
    sheet.line("M226 90A74 15 0 0 0 374 90", shade.down(0.16), 4)


def pendant(sheet: Sheet, enamel: Tone) -> None:
    x = 300
    beam = "M132 336L20 600H580L468 336Z"
    sheet.fill(beam, sheet.linear((0, GLOW, 0.75), (0.55, GLOW, 0.28), (1, GLOW, 0)))
    sheet.line("M300 0V110", Tone.of("4a4038"), 6)
    sheet.fill(vessel(x, (14, 106), ((22, 110), (24, 120), (24, 150))), sheet.round(BRASS, 1.4))
    outline = vessel(x, (30, 148), ((42, 152), (50, 160), (52, 186)), ((58, 214), (176, 228), (186, 336)), tilt=0.17)
    sheet.fill(outline, sheet.round(enamel))
    sheet.line(hoop(x, 54, 192, tilt=0.17), enamel.down(0.13), 3, opacity=0.7)
    sheet.oval(x, 336, 186, 34, enamel.down(0.09))
    sheet.oval(x, 337, 178, 29, sheet.linear((0, GLOW.down(0.08)), (1, GLOW.up(0.03))))
    sheet.oval(x, 346, 52, 17, sheet.radial((0, WHITE), (0.6, GLOW.up(0.05)), (1, GLOW.down(0.02))))
    sheet.line("M116 344A186 34 0 0 0 484 344", enamel.up(0.05), 4, opacity=0.8)
    sheet.gleam(path((146, 302), ((156, 270), (176, 248), (206, 230))), 12, 0.36)


def _flame(sheet: Sheet, x: float, y: float, size: float = 1.0) -> None:
    """Draw a flame that stands on (x, y)."""
    _halo(sheet, x, y - 24 * size, 86 * size, 0.8)
    s = size
    outer = path(
        (x, y),
        ((x - 20 * s, y - 8 * s), (x - 16 * s, y - 36 * s), (x, y - 66 * s)),
        ((x + 16 * s, y - 36 * s), (x + 20 * s, y - 8 * s), (x, y)),
    )
    sheet.fill(outer, sheet.linear((0, Tone.of("fbd98a")), (0.6, FLAME), (1, Tone.of("e0813a"))))
    inner = path(
        (x, y - 3 * s),
        ((x - 10 * s, y - 8 * s), (x - 8 * s, y - 22 * s), (x, y - 38 * s)),
        ((x + 8 * s, y - 22 * s), (x + 10 * s, y - 8 * s), (x, y - 3 * s)),
    )
    sheet.fill(inner, Tone.of("fff3cf"))


def candle(sheet: Sheet, wax: Tone) -> None:
    x = 300
    sheet.shadow(x + 24, 490, 168, 32)
    glass = vessel(x, (116, 212), ((116, 464),), ((116, 478), (108, 482), (100, 483)))
    sheet.fill(
        glass,
        sheet.linear((0, PAPER.down(0.06), 0.75), (0.2, WHITE, 0.55), (1, PAPER.down(0.14), 0.85), along=ACROSS),
    )
    pale = wax.mix(PAPER, 0.35)
    filling = vessel(x, (106, 262), ((106, 456),), ((106, 466), (100, 469), (94, 470)))
    sheet.fill(filling, sheet.round(pale))
    sheet.oval(x, 262, 106, 21, sheet.radial((0, GLOW.mix(pale, 0.3)), (0.6, pale.up(0.07)), (1, pale.up(0.02))))
    sheet.line("M300 262V242", Tone.of("3d3530"), 5)
    _flame(sheet, x, 248)
    label = "M236 322Q300 338 364 322V420Q300 437 236 420Z"
    sheet.fill(label, sheet.linear((0, PAPER.up(0.02)), (1, PAPER.down(0.06)), along=ACROSS))
    sheet.line("M246 335Q300 348 354 335V411Q300 424 246 411Z", wax.down(0.1), 2, opacity=0.7)
    sheet.oval(x, 372, 17, 17, wax.down(0.04))
    sheet.line("M268 399Q300 407 332 399", wax.down(0.14), 4, opacity=0.8)
    sheet.oval(x, 212, 116, 23, "none", stroke=WHITE, stroke_width=5, opacity=0.85)
    sheet.gleam(path((198, 250), ((198, 448),)), 10, 0.55)
    sheet.gleam(path((403, 270), ((403, 400),)), 4, 0.35)


def candles(sheet: Sheet, wax: Tone) -> None:
    sheet.shadow(326, 520, 150, 26)
    for x, turn in ((252, -4), (348, 4), (300, 0)):
        with sheet.group(transform=f"rotate({turn} {x} 420)"):
            sheet.line(f"M{x} 116C{x - 6} 100 {x + 6} 92 {x + 2} 70", Tone.of("efe6d2").down(0.1), 5)
            stick = vessel(x, (12, 124), ((20, 124), (24, 132), (25, 150)), ((30, 506),))
            sheet.fill(stick, sheet.round(wax, 1.2))
            sheet.oval(x, 121, 12, 6, wax.up(0.08))
            sheet.gleam(path((x - 12, 166), ((x - 14, 470),)), 6, 0.28)
    ribbon = Tone.of("efe6d2")
    sheet.fill("M223 352Q300 374 377 352V392Q300 416 223 392Z", sheet.round(ribbon))
    sheet.fill(
        "M300 384C262 350 230 356 238 376C244 394 276 396 300 390C324 396 358 394 362 376C370 354 336 350 300 384Z",
        ribbon.up(0.03),
    )
    sheet.line("M300 388C280 380 262 374 250 376M300 388C320 380 340 374 350 376", ribbon.down(0.16), 3)
    sheet.fill(
        "M294 388L266 446L284 440L292 452L308 392ZM304 388L336 444L318 440L312 454L292 392Z",
        ribbon.down(0.04),
    )
    sheet.oval(300, 387, 12, 11, ribbon.up(0.05))


def lantern(sheet: Sheet, metal: Tone) -> None:
    x = 300
    sheet.shadow(x + 20, 524, 156, 30)
    sheet.line("M196 232C150 40 450 40 404 232", STEEL.down(0.12), 6)
    for side in (-1, 1):
        tube = path(
            (x + side * 76, 452),
            ((x + side * 132, 440), (x + side * 128, 300), (x + side * 112, 216)),
            ((x + side * 104, 180), (x + side * 80, 170), (x + side * 40, 172)),
        )
        sheet.line(tube, metal.down(0.13), 20)
        sheet.line(tube, metal.up(0.03 if side < 0 else -0.03), 12, transform="translate(-2 -1)")
    glass = vessel(x, (46, 206), ((52, 226), (88, 240), (88, 316)), ((88, 378), (62, 392), (58, 420)))
    _halo(sheet, x, 318, 150, 0.7)
    sheet.fill(
        glass,
        sheet.linear((0, GLOW.down(0.05), 0.6), (0.3, WHITE, 0.55), (1, GLOW.down(0.12), 0.65), along=ACROSS),
    )
    sheet.fill(vessel(x, (20, 392), ((24, 422),)), sheet.round(BRASS, 1.4))
    _flame(sheet, x, 394, 1.15)
    sheet.line("M216 262Q300 292 384 262M216 362Q300 392 384 362", STEEL.down(0.1), 4, opacity=0.8)
    sheet.gleam(path((232, 282), ((226, 310), (228, 336), (238, 362))), 9, 0.65)
    sheet.fill(vessel(x, (62, 414), ((66, 440),)), sheet.round(metal.down(0.03)))
    tank = vessel(
        x,
        (70, 436),
        ((118, 444), (122, 458), (122, 470)),
        ((122, 500),),
        ((122, 512), (114, 516), (106, 516)),
    )
    sheet.fill(tank, sheet.round(metal))
    sheet.line(hoop(x, 122, 486), metal.down(0.12), 4, opacity=0.7)
    sheet.dots([(386, 466)], BRASS.down(0.05), 26)
    sheet.dots([(384, 463)], BRASS.up(0.09), 14)
    sheet.gleam(path((196, 470), ((196, 496),)), 8, 0.3)
    sheet.fill(vessel(x, (36, 156), ((62, 166), (70, 190), (70, 208))), sheet.round(metal))
    sheet.fill(vessel(x, (30, 120), ((40, 128), (38, 140), (36, 158))), sheet.round(metal.down(0.03)))
    sheet.oval(x, 120, 40, 9, metal.up(0.06))


def vase(sheet: Sheet, glaze: Tone) -> None:
    x = 300
    sheet.shadow(x + 28, 508, 168, 34)
    for stem, leaves in (
        (
            "M298 160C290 110 262 70 226 44",
            ((276, 100, -30), (262, 76, -140), (240, 56, -20), (250, 62, -110)),
        ),
        ("M304 160C312 110 340 74 384 52", ((318, 110, -150), (332, 88, -20), (352, 70, -140), (368, 60, 0))),
    ):
        sheet.line(stem, LEAF.down(0.12), 5)
        for lx, ly, turn in leaves:
            leaf = f"M{lx} {ly}q18 -20 44 -14q-12 24 -44 14Z"
            sheet.fill(leaf, LEAF.up(0.03 if turn < -60 else -0.02), transform=f"rotate({turn} {lx} {ly})")
    outline = vessel(
        x,
        (46, 164),
        ((38, 190), (36, 204), (48, 220)),
        ((96, 248), (142, 276), (142, 338)),
        ((142, 410), (100, 452), (86, 492)),
        ((84, 502), (80, 504), (74, 505)),
    )
    sheet.fill(outline, sheet.round(glaze))
    with sheet.within(outline):
        dip = "M100 420C180 404 220 440 300 428S420 408 500 424V520H100Z"
        sheet.fill(dip, sheet.round(RAW_CLAY), opacity=0.95)
        sheet.line("M100 420C180 404 220 440 300 428S420 408 500 424", glaze.down(0.12), 5, opacity=0.7)
        sheet.dots(scattered(x, 330, 130, 90, 26), glaze.down(0.14), 3.2, opacity=0.45)
    sheet.gleam(path((190, 366), ((178, 330), (190, 300), (216, 282))), 11, 0.34)
    sheet.oval(x, 164, 46, 9.5, sheet.linear((0, glaze.up(0.11)), (1, glaze), along=ACROSS))
    sheet.oval(x, 165, 38, 6.5, glaze.down(0.25))


def bud_vase(sheet: Sheet, glaze: Tone) -> None:
    x = 300
    sheet.shadow(x + 28, 500, 140, 28)
    sheet.line("M300 262C296 200 318 150 308 104", LEAF.down(0.1), 6)
    sheet.fill("M303 214C332 204 354 178 356 150C322 154 304 182 303 214Z", LEAF)
    sheet.fill("M300 232C276 224 258 204 256 180C284 184 300 204 300 232Z", LEAF.down(0.06))
    bloom = Tone.of("f3e3da")
    for turn in range(0, 360, 45):
        sheet.fill(
            "M306 96C290 76 292 46 306 38C320 46 322 76 306 96Z",
            bloom.down(0.05 if turn % 90 else 0),
            transform=f"rotate({turn} 306 96)",
        )
    sheet.oval(306, 96, 17, 17, sheet.radial((0, Tone.of("eebf55")), (1, Tone.of("cf8f2e"))))
    outline = vessel(
        x,
        (28, 258),
        ((24, 290), (24, 314), (34, 332)),
        ((96, 346), (110, 388), (110, 424)),
        ((110, 466), (96, 490), (66, 496)),
    )
    sheet.fill(outline, sheet.round(glaze))
    with sheet.within(outline):
        sheet.dots(scattered(x, 420, 104, 74, 22), glaze.down(0.14), 3.2, opacity=0.45)
    sheet.gleam(path((214, 432), ((210, 400), (222, 380), (240, 366))), 10, 0.36)
    sheet.oval(x, 258, 31, 7, sheet.linear((0, glaze.up(0.11)), (1, glaze), along=ACROSS))
    sheet.oval(x, 258.5, 22, 4, glaze.down(0.25))
    sheet.line("M300 259V250", LEAF.down(0.1), 6)


def plant_pot(sheet: Sheet, clay: Tone, leaf: Tone = LEAF) -> None:
    x = 300
    sheet.shadow(x + 24, 510, 190, 34)
    _leaves(sheet, leaf)
    saucer = vessel(x, (132, 470), ((130, 490), (122, 500), (112, 504)))
    sheet.fill(saucer, sheet.round(clay.down(0.03)))
    sheet.oval(x, 470, 132, 26, sheet.linear((0, clay.up(0.06)), (1, clay.down(0.06)), along=ACROSS))
    sheet.oval(x, 472, 120, 21, clay.down(0.17))
    body = vessel(x, (122, 330), ((92, 476),))
    sheet.fill(body, sheet.round(clay))
    with sheet.within(body):
        sheet.line(hoop(x, 120, 366), clay.down(0.22), 16, opacity=0.4)
    rim = vessel(x, (136, 308), ((136, 350),), ((136, 356), (134, 358), (130, 359)))
    sheet.fill(rim, sheet.round(clay))
    sheet.gleam(path((184, 326), ((184, 352),)), 9, 0.35)
    sheet.gleam(path((206, 400), ((214, 450),)), 8, 0.22)
    sheet.oval(x, 308, 136, 27, sheet.linear((0, clay.up(0.1)), (1, clay), along=ACROSS))
    soil = Tone.of("5a4335")
    sheet.oval(x, 310, 122, 22, soil.down(0.06))
    sheet.oval(x + 4, 313, 112, 18, soil)
    _stalks(sheet, leaf)


_BLADES = (
    # Stalk from the soil, then where the leaf sits, its length and its turn.
    (286, 232, 168, 148, -52),
    (314, 366, 160, 148, 48),
    (292, 262, 104, 150, -18),
    (308, 338, 96, 146, 20),
    (280, 204, 236, 120, -84),
    (320, 398, 232, 122, 82),
    (300, 300, 150, 140, 2),
)


def _stalks(sheet: Sheet, leaf: Tone) -> None:
    lines = "".join(f"M{x} 310Q{x} {(310 + ly) / 2:.0f} {lx} {ly}" for x, lx, ly, _, _ in _BLADES)
    sheet.line(lines, leaf.down(0.08), 6)
    for k in (6,):
        _, lx, ly, length, turn = _BLADES[k]
        _blade(sheet, lx, ly, length, turn, leaf.up(0.05))


def _leaves(sheet: Sheet, leaf: Tone) -> None:
    shades = (0.0, -0.04, -0.07, -0.05, 0.03, -0.09)
    for (_, lx, ly, length, turn), shade in zip(_BLADES, shades, strict=False):
        _blade(sheet, lx, ly, length, turn, leaf.up(shade) if shade > 0 else leaf.down(-shade))


def _blade(sheet: Sheet, x: float, y: float, length: float, turn: float, tone: Tone) -> None:
    w = length * 0.36
    outline = path(
        (x, y + length * 0.3),
        ((x - w, y + length * 0.22), (x - w * 0.9, y - length * 0.36), (x, y - length * 0.7)),
        ((x + w * 0.9, y - length * 0.36), (x + w, y + length * 0.22), (x, y + length * 0.3)),
    )
    with sheet.group(transform=f"rotate({turn} {x} {y})"):
        sheet.fill(
            outline,
            sheet.linear(
                (0, tone.up(0.05)),
                (0.5, tone.up(0.03)),
                (0.5, tone.down(0.04)),
                (1, tone.down(0.07)),
                along=ACROSS,
            ),
        )
        sheet.line(path((x, y + length * 0.3), ((x, y - length * 0.6),)), tone.up(0.12), 2.5, opacity=0.7)


def watering_can(sheet: Sheet, metal: Tone) -> None:
    x = 330
    sheet.shadow(x + 4, 478, 200, 34)
    sheet.line("M384 258C520 180 548 370 432 420", metal.down(0.15), 22)
    sheet.line("M384 255C514 182 540 364 432 416", metal.up(0.02), 13)
    spout = "M246 420C170 420 150 300 96 176L116 166C176 280 196 344 256 350Z"
    sheet.fill(spout, sheet.linear((0, metal.up(0.08)), (0.6, metal), (1, metal.down(0.12)), along=ACROSS))
    sheet.fill("M84 184L120 156L128 168L92 194Q82 194 84 184Z", metal.down(0.1))
    sheet.fill("M84 184L120 156L122 160L87 187Z", metal.up(0.09))
    body = vessel(x, (92, 262), ((122, 340), (126, 400), (122, 446)), ((120, 460), (114, 466), (104, 468)))
    sheet.fill(body, sheet.round(metal))
    sheet.line(hoop(x, 123, 440), metal.down(0.12), 4, opacity=0.6)
    sheet.gleam(path((242, 320), ((230, 360), (226, 400), (230, 430))), 11, 0.3)
    sheet.oval(x, 262, 92, 19, sheet.linear((0, metal.up(0.1)), (1, metal.down(0.02)), along=ACROSS))
    sheet.oval(x, 264, 83, 14.5, sheet.hollow(metal.down(0.06)))
    sheet.fill("M334 243.500A92 19 0 0 1 422 262A92 19 0 0 1 334 281C352 268 352 256 334 243.500Z", metal.up(0.02))


def seed_packet(sheet: Sheet, paper: Tone, bloom: Tone | None = None) -> None:
    flower = bloom or paper.against(0.3)
    outline = "M184 84H416Q424 84 424 92V508Q424 516 416 516H184Q176 516 176 508V92Q176 84 184 84Z"
    with sheet.group(transform="rotate(-6 300 300)"):
        sheet.cast(outline, drop=14)
        sheet.fill(outline, sheet.flat(paper))
        sheet.fill("M176 92Q176 84 184 84H416Q424 84 424 92V132H176Z", paper.down(0.08))
        sheet.line("M176 132H424", paper.down(0.18), 2.5, stroke_dasharray="7 5")
        sheet.fill(box(200, 160, 200, 64, 6), PAPER.up(0.01))
        sheet.line("M226 184H374", flower.down(0.1), 8)
        sheet.line("M250 204H350", flower.down(0.05), 4, opacity=0.6)
        sheet.line(
            "M300 506C298 440 304 380 300 330M300 506C270 470 250 430 238 390M300 506C330 470 352 440 364 404",
            LEAF.down(0.1),
            5,
        )
        sheet.fill(
            "M299 460C276 452 262 436 258 416C282 420 298 436 299 460ZM302 440C326 434 342 420 346 400C320 402 304 416 302 440Z",
            LEAF,
        )
        for x, y, size in ((300, 318, 1.0), (234, 376, 0.72), (368, 390, 0.72)):
            with sheet.group(transform=f"translate({x} {y}) scale({size})"):
                petals = "M0 -8C-18 -26 -14 -52 0 -56C14 -52 18 -26 0 -8Z"
                for turn in range(0, 360, 60):
                    sheet.fill(petals, flower.up(0.05) if turn % 120 else flower, transform=f"rotate({turn})")
                sheet.oval(0, 0, 15, 15, Tone.of("e9b84e"))


def stool(sheet: Sheet, wood: Tone) -> None:
    sheet.shadow(316, 524, 190, 34)
    back = "M288 230L284 470Q292 478 304 474L318 230Z"
    sheet.fill(back, sheet.linear((0, wood.down(0.1)), (1, wood.down(0.2)), along=ACROSS))
    sheet.line("M196 404L286 420M392 404L306 420", wood.down(0.14), 12)
    for leg, shift in (
        ("M196 220L128 514Q140 528 156 518L240 236Z", 0.0),
        ("M404 220L472 514Q460 528 444 518L360 236Z", 0.05),
    ):
        sheet.fill(
            leg,
            sheet.linear(
                (0, wood.up(0.05 - shift)),
                (0.5, wood.down(shift)),
                (1, wood.down(0.11 + shift)),
                along=ACROSS,
            ),
        )
    seat = vessel(300, (176, 178), ((176, 204),), ((176, 214), (166, 220), (152, 222)), tilt=0.26)
    sheet.fill(seat, sheet.round(wood.down(0.05)))
    sheet.oval(300, 178, 176, 46, sheet.linear((0, wood.up(0.07)), (1, wood.down(0.02)), along=ACROSS))
    with sheet.within("M124 178A176 46 0 0 1 476 178A176 46 0 0 1 124 178Z"):
        sheet.line(
            "M110 160Q300 150 490 162M110 178Q300 170 490 180M110 196Q300 190 490 198M150 212Q300 206 450 214M150 146Q300 138 450 146",
            wood.down(0.09),
            2.5,
            opacity=0.6,
        )
    sheet.line("M132 172A176 44 0 0 1 300 134", wood.up(0.16), 4, opacity=0.6)
    sheet.oval(300, 180, 150, 37, "none", stroke=wood.down(0.06), stroke_width=2, opacity=0.4)

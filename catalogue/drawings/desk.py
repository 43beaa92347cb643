"""Paper, pens and what stands on a desk."""

from catalogue.drawings.sheet import ACROSS, ASLANT, Sheet, box, path, vessel
from catalogue.drawings.tone import BRASS, PAPER, STEEL, WHITE, WOOD, Tone

GRAPHITE = Tone.of("4a4a4c")


def notebook(sheet: Sheet, cover: Tone, band: Tone | None = None) -> None:
    elastic = band or cover.against(0.2)
    with sheet.group(transform="rotate(-8 300 300)"):
        sheet.cast(box(148, 74, 312, 456, 14), drop=16)
        sheet.line("M206 520L204 564L216 552L228 564L226 520Z", elastic.down(0.04), 2)
        sheet.fill("M206 520L204 564L216 552L228 564L226 520Z", elastic.down(0.04))
        sheet.fill(box(150, 80, 310, 450, 14), cover.down(0.17))
        sheet.fill(box(152, 78, 302, 446, 6), PAPER.down(0.05))
        sheet.line("M452 90V516M448 90V516", PAPER.down(0.2), 1.5)
        sheet.fill(box(144, 70, 304, 450, 14), sheet.flat(cover))
        with sheet.within(box(144, 70, 304, 450, 14)):
            sheet.fill(box(144, 70, 34, 450), cover.down(0.06))
            sheet.line("M178 70V520", cover.down(0.15), 3)
            sheet.line("M182 70V520", cover.up(0.09), 2, opacity=0.6)
            sheet.threads("M296 72V520", 304, cover.down(0.1), thick=1.4, apart=7, opacity=0.25)
        label = box(222, 150, 152, 90, 4)
        sheet.fill(label, PAPER)
        sheet.line("M230 158h136v74h-136Z", elastic.down(0.06), 2.5)
        sheet.line("M250 186H346M262 206H334", cover.mix(PAPER, 0.25), 5, opacity=0.8)
        sheet.fill(box(404, 70, 16, 450), cover.down(0.2), opacity=0.4, transform="translate(3 0)")
        sheet.fill(box(404, 70, 15, 450), sheet.linear((0, elastic.up(0.05)), (1, elastic.down(0.07)), along=ACROSS))


def pocket_notebooks(sheet: Sheet, first: Tone, second: Tone | None = None, third: Tone | None = None) -> None:
    covers = (third or first.up(0.2), second or first.up(0.1), first)
    for cover, turn, x, y in zip(covers, (16, 3, -11), (60, 0, -62), (-6, -14, 12), strict=True):
        with sheet.group(transform=f"translate({x} {y}) rotate({turn} 300 320)"):
            outline = box(186, 134, 228, 352, 18)
            sheet.cast(outline, drop=10)
            sheet.fill(box(188, 138, 230, 350, 18), PAPER.down(0.06))
            sheet.fill(outline, sheet.flat(cover))
            sheet.line("M200 136V484", cover.down(0.12), 2.5, opacity=0.7)
            sheet.line("M189 216V240M189 380V404", STEEL.up(0.08), 4)
            ink = cover.against(0.3)
            sheet.line("M236 196H364", ink, 6, opacity=0.75)
            sheet.line("M236 218H316", ink, 4, opacity=0.5)
            sheet.oval(364, 444, 14, 14, ink, opacity=0.55)


def sketchbook(sheet: Sheet, cover: Tone) -> None:
    with sheet.group(transform="rotate(7 300 300)"):
        sheet.cast(box(140, 96, 330, 430, 10), drop=16)
        sheet.fill(box(142, 98, 330, 430, 10), cover.down(0.16))
        sheet.fill(box(144, 96, 322, 426, 4), PAPER.down(0.04))
        sheet.line("M150 524H464", PAPER.down(0.16), 2)
        sheet.fill(box(138, 92, 326, 426, 10), sheet.flat(cover))
        ink = cover.against(0.42)
        with sheet.group(opacity=0.75):
            sheet.oval(300, 330, 84, 84, "none", stroke=ink, stroke_width=5)
            sheet.line("M216 374L276 306L318 352L346 322L384 366", ink, 5)
            sheet.oval(336, 286, 15, 15, ink)
        sheet.line("M252 452H350", ink, 6, opacity=0.6)
        holes: list[tuple[float, float]] = [(x, 112) for x in range(160, 456, 20)]
        sheet.dots(holes, cover.down(0.25), 9)
        rings = "".join(f"M{x} 112C{x - 9} 104 {x - 9} 76 {x} 74C{x + 7} 76 {x + 6} 92 {x + 3} 98" for x, _ in holes)
        sheet.line(rings, STEEL.down(0.2), 5)
        sheet.line(rings, STEEL.up(0.14), 2.2, transform="translate(-1 -1)")


def planner(sheet: Sheet, accent: Tone) -> None:
    page = PAPER.up(0.01)
    with sheet.group(transform="rotate(-5 300 300)"):
        sheet.cast(box(78, 144, 444, 318, 6), drop=15)
        for shift in (8, 5, 2):
            sheet.fill(box(78 + shift * 0.4, 146 + shift, 444, 316, 5), page.down(0.03 + shift * 0.012))
        sheet.fill(box(78, 144, 444, 316, 5), sheet.flat(page))
        sheet.fill(box(78, 138, 444, 50, 5), sheet.linear((0, accent.up(0.05)), (1, accent.down(0.04))))
        sheet.line("M78 176H522", accent.down(0.14), 2, stroke_dasharray="3 6")
        sheet.line("M104 160H190", PAPER, 8, opacity=0.95)
        columns = "".join(f"M{92 + k * 70} 212V440" for k in range(1, 6))
        sheet.line(columns, accent.mix(page, 0.45), 2)
        rules = "".join(f"M96 {y}H504" for y in (272, 302, 332, 362, 392, 422))
        sheet.line(rules, page.down(0.1), 1.6)
        sheet.line("".join(f"M{102 + k * 70} 216H{134 + k * 70}" for k in range(6)), accent, 6)
        ink = Tone.of("46484f")
        sheet.line(
            "M104 262q8 -10 16 0t16 0t14 -2M104 292q8 -8 14 0t16 -1M244 262q8 -9 16 0t18 0M384 292q8 -9 16 0t16 0t10 -2M314 322q8 -9 16 0t14 0",
            ink,
            3,
            opacity=0.75,
        )
        sheet.fill(box(170, 318, 58, 40, 4), accent.up(0.1), opacity=0.55)
        sheet.fill(box(310, 378, 58, 44, 4), accent, opacity=0.3)
    pencil_body = "M356 470L520 330L534 346L370 486Z"
    sheet.cast(pencil_body, drop=8)
    sheet.fill(pencil_body, accent.down(0.06))
    sheet.fill("M363 478L527 338L534 346L370 486Z", accent.down(0.15))
    sheet.fill("M356 470L370 486L336 498Z", WOOD.up(0.13))
    sheet.fill("M344 489L348 494L336 498Z", GRAPHITE)


def envelopes(sheet: Sheet, paper: Tone, lining: Tone | None = None) -> None:
    inside = lining or paper.against(0.3)
    with sheet.group(transform="rotate(-7 300 300)"):
        letter = box(150, 70, 280, 380, 4)
        sheet.cast(letter, drop=12)
        sheet.fill(letter, sheet.flat(paper.up(0.03)))
        sheet.line(
            "".join(f"M186 {y}H{394 if y < 250 else 330}" for y in (150, 178, 206, 234)),
            inside.mix(paper, 0.35),
            4,
            opacity=0.6,
        )
        sheet.line("M186 112H262", inside, 7)
    with sheet.group(transform="rotate(6 320 380)"):
        outline = box(112, 290, 400, 236, 8)
        sheet.cast(outline, drop=14)
        sheet.fill(outline, sheet.flat(paper.down(0.02)))
        sheet.fill("M112 298Q112 290 120 290L312 180Q318 178 324 182L504 290Q512 290 512 298Z", paper.down(0.04))
        sheet.fill(
            "M130 292L312 194Q318 192 324 196L494 292Z",
            sheet.linear((0, inside.up(0.04)), (1, inside.down(0.05))),
        )
        sheet.dots(
            [
                (x, y)
                for x, y in (
                    (318, 216),
                    (290, 234),
                    (318, 242),
                    (348, 236),
                    (262, 252),
                    (290, 262),
                    (318, 268),
                    (348, 262),
                    (378, 254),
                    (232, 270),
                    (262, 280),
                    (378, 280),
                    (406, 272),
                )
            ],
            inside.up(0.2),
            6,
            opacity=0.7,
        )
        sheet.fill(
            "M112 296L300 410Q312 418 324 410L512 296V518Q512 526 504 526H120Q112 526 112 518Z",
            sheet.linear((0, paper.up(0.02)), (1, paper.down(0.035))),
        )
        sheet.line("M112 296L300 410Q312 418 324 410L512 296", paper.down(0.12), 3)
        sheet.line("M116 522L268 392M508 522L356 392", paper.down(0.1), 2.5, opacity=0.8)
        sheet.line("M126 298L300 400Q312 408 324 400L498 298", paper.up(0.1), 2, opacity=0.6)


def pen(sheet: Sheet, metal: Tone) -> None:
    with sheet.group(transform="rotate(-42 300 300)"):
        barrel = "M110 278H458Q470 278 476 284L520 296Q526 300 520 304L476 316Q470 322 458 322H110Q104 322 104 316V284Q104 278 110 278Z"
        sheet.cast(barrel, drop=13)
        sheet.fill(
            box(78, 287, 34, 26, 8),
            sheet.linear((0, metal.up(0.08)), (0.3, metal.up(0.2)), (0.6, metal.down(0.06)), (1, metal.down(0.2))),
        )
        shine = sheet.linear(
            (0, metal.down(0.06)),
            (0.16, metal.up(0.06)),
            (0.3, metal.up(0.2)),
            (0.44, metal.up(0.02)),
            (0.8, metal.down(0.14)),
            (1, metal.down(0.06)),
        )
        sheet.fill("M516 297L540 299Q542 300 540 301L516 303Z", STEEL.down(0.2))
        sheet.fill(barrel, shine)
        sheet.line("M250 279V321M258 279V321M476 286V314M118 279V321", metal.down(0.22), 2.5, opacity=0.7)
        sheet.threads("M390 300H462", 40, metal.down(0.16), thick=3, apart=8, opacity=0.5)
        clip = "M120 262Q112 262 112 270V282H126V274H232Q242 274 242 268Q242 262 232 262Z"
        sheet.fill(clip, metal.down(0.24), opacity=0.4, transform="translate(3 8)")
        sheet.fill(clip, sheet.linear((0, metal.up(0.17)), (1, metal.down(0.08))))


def pencils(sheet: Sheet, first: Tone, second: Tone | None = None, third: Tone | None = None) -> None:
    tones = (first, second or first.down(0.1), third or first.up(0.1))
    with sheet.group(transform="rotate(-32 300 300)"):
        for k in range(6):
            y = 148 + k * 52
            x = (18, -14, 30, -4, 22, -20)[k]
            _pencil(sheet, x, y, tones[k % 3])
        wrap = box(288, 138, 74, 324, 5)
        sheet.fill(wrap, sheet.backdrop.down(0.4), opacity=0.2, transform="translate(5 4)")
        sheet.fill(wrap, sheet.linear((0, PAPER.up(0.02)), (1, PAPER.down(0.07)), along=ACROSS))
        sheet.line("M296 146V454M354 146V454", tones[0].down(0.05), 3, opacity=0.7)
        sheet.line("M325 240V360", tones[1].down(0.05), 7, opacity=0.85)


def _pencil(sheet: Sheet, x: float, y: float, tone: Tone) -> None:
    whole = f"M{90 + x} {y}H{456 + x}L{526 + x} {y + 20}L{456 + x} {y + 40}H{90 + x}Z"
    sheet.cast(whole, drop=7, strength=0.8)
    sheet.fill(
        f"M{452 + x} {y}L{528 + x} {y + 18}Q{531 + x} {y + 20} {528 + x} {y + 22}L{452 + x} {y + 40}Z",
        sheet.linear((0, WOOD.up(0.18)), (1, WOOD.up(0.03))),
    )
    sheet.fill(
        f"M{506 + x} {y + 13}L{528 + x} {y + 18}Q{531 + x} {y + 20} {528 + x} {y + 22}L{506 + x} {y + 27}Z",
        GRAPHITE,
    )
    sheet.fill(box(92 + x, y, 362, 13), tone.up(0.08))
    sheet.fill(box(92 + x, y + 13, 362, 14), tone)
    sheet.fill(box(92 + x, y + 27, 362, 13), tone.down(0.1))
    scallop = f"M{450 + x} {y}q16 6 0 13q18 7 0 14q16 7 0 13Z"
    sheet.fill(scallop, tone)
    sheet.fill(box(76 + x, y, 18, 40, 4), PAPER.down(0.05))


def organiser(sheet: Sheet, wood: Tone, accent: Tone | None = None) -> None:
    bright = accent or wood.down(0.3)
    sheet.shadow(316, 484, 260, 36)
    for x, top, tone, lean in (
        (136, 116, bright, -5),
        (166, 92, Tone.of("dba59a"), 2),
        (198, 128, GRAPHITE, 7),
    ):
        with sheet.group(transform=f"rotate({lean} {x} 330)"):
            sheet.fill(box(x - 10, top + 44, 10, 240), tone.up(0.06))
            sheet.fill(box(x, top + 44, 11, 240), tone.down(0.07))
            sheet.fill(f"M{x - 10} {top + 46}L{x} {top}L{x + 11} {top + 46}Z", WOOD.up(0.13))
            sheet.fill(f"M{x - 3} {top + 13}L{x} {top}L{x + 4} {top + 13}Z", tone.down(0.05))
    phone = "M270 148Q270 132 286 132H388Q404 132 404 148V360H270Z"
    with sheet.group(transform="rotate(-2 337 330)"):
        sheet.fill(phone, Tone.of("33363b"))
        sheet.fill(
            box(278, 140, 118, 210, 10),
            sheet.linear((0, bright.up(0.14)), (1, bright.down(0.02)), along=ASLANT),
        )
        sheet.line("M300 186H352M300 206H336", WHITE, 7, opacity=0.75)
    sheet.fill("M96 300L120 268H488L508 300Z", wood.up(0.08))
    sheet.oval(168, 285, 62, 11, wood.down(0.28))
    sheet.fill("M262 280H416L420 292H258Z", wood.down(0.28))
    sheet.fill("M440 276H478L490 292H446Z", wood.down(0.2))
    front = box(92, 298, 420, 176, 12)
    sheet.fill(front, sheet.linear((0, wood.up(0.03)), (0.5, wood), (1, wood.down(0.09)), along=ASLANT))
    with sheet.within(front):
        grain = "M92 326C200 316 320 340 512 322M92 356C220 348 300 372 512 352M92 388C180 380 340 404 512 384M92 420C240 410 320 434 512 416M92 450C200 444 360 462 512 446"
        sheet.line(grain, wood.down(0.08), 3, opacity=0.6)
        sheet.line("M150 384C170 372 190 372 206 386C190 398 168 396 150 384Z", wood.down(0.1), 3, opacity=0.6)
    sheet.line("M98 302H506", wood.up(0.14), 4, opacity=0.7)
    sheet.fill(box(100, 474, 404, 7, 3), WOOD.down(0.24))
    sheet.fill("M238 306L258 282H262L244 308Z", wood.down(0.1), opacity=0.6)


def clock(sheet: Sheet, case: Tone, hand: Tone | None = None) -> None:
    second = hand or case.against(0.3)
    sheet.shadow(314, 516, 170, 28)
    for leg in ("M214 462L186 512", "M386 462L414 512"):
        sheet.line(leg, case.down(0.2), 20)
        sheet.line(leg, case.down(0.06), 11, transform="translate(-2 -2)")
    sheet.oval(306, 300, 202, 202, case.down(0.16))
    sheet.oval(300, 298, 202, 202, sheet.flat(case))
    sheet.oval(300, 298, 176, 176, case.down(0.16))
    face = PAPER.up(0.01)
    sheet.oval(301, 300, 172, 172, sheet.linear((0, face.down(0.06)), (0.4, face), (1, face.up(0.02)), along=ASLANT))
    with sheet.group(transform="translate(300 300)"):
        for turn in range(0, 360, 30):
            long = 26 if turn % 90 == 0 else 14
            sheet.line(
                f"M0 -150V{-150 + long}",
                case.down(0.2) if case.lightness > 0.5 else case,
                8 if turn % 90 == 0 else 5,
                transform=f"rotate({turn})",
            )
        ink = Tone.of("33363b")
        with sheet.group(transform="translate(4 6)", opacity=0.16):
            sheet.line("M0 14L-62 -62", ink, 14)
            sheet.line("M-8 12L76 -96", ink, 10)
        sheet.line("M8 10L-62 -60", ink, 14)
        sheet.line("M-8 10L78 -98", ink, 9)
        sheet.line("M0 40L0 -118", second, 4, transform="rotate(150)")
        sheet.oval(0, 0, 14, 14, ink)
        sheet.oval(0, 0, 7, 7, second)
    sheet.fill("M152 214A172 172 0 0 1 286 129C250 210 200 290 140 350A172 172 0 0 1 152 214Z", WHITE, opacity=0.28)
    sheet.gleam("M122 246A186 186 0 0 1 214 134", 9, 0.4)


def desk_lamp(sheet: Sheet, metal: Tone) -> None:
    glow = Tone.of("ffe7b0")
    sheet.shadow(226, 520, 150, 26)
    beam = "M312 282L330 540Q480 560 640 480L474 198Z"
    sheet.fill(beam, sheet.linear((0, glow, 0.75), (0.55, glow, 0.25), (1, glow, 0)))
    base = vessel(200, (40, 480), ((92, 482), (106, 494), (106, 506)), ((106, 514), (100, 516), (94, 517)))
    sheet.line("M200 480L130 294L330 142", metal.down(0.14), 20)
    sheet.line("M198 478L128 294L328 141", metal.up(0.02), 12)
    sheet.line("M186 440L140 318M160 268L296 166", STEEL.up(0.08), 4, opacity=0.85)
    sheet.fill(base, sheet.round(metal))
    sheet.gleam(path((122, 500), ((124, 494), (132, 490))), 6, 0.4)
    sheet.fill(vessel(200, (16, 462), ((22, 466), (24, 478), (26, 484))), sheet.round(BRASS, 1.3))
    with sheet.group(transform="rotate(-28 350 160)"):
        sheet.fill(
            vessel(350, (16, 104), ((24, 106), (26, 118), (26, 134)), tilt=0.17),
            sheet.round(metal.down(0.05)),
        )
        shade = vessel(350, (28, 130), ((58, 138), (88, 186), (96, 252)), tilt=0.26)
        sheet.fill(shade, sheet.round(metal))
        sheet.oval(350, 252, 96, 25, metal.down(0.09))
        sheet.oval(350, 252, 89, 21, sheet.linear((0, glow.down(0.1)), (1, glow)))
        sheet.oval(350, 258, 32, 13, sheet.radial((0, WHITE), (1, glow.up(0.03))))
        sheet.gleam(path((280, 226), ((284, 196), (296, 174), (308, 160))), 9, 0.36)
    sheet.dots([(129, 294), (330, 142)], BRASS.down(0.12), 34)
    sheet.dots([(127, 292), (328, 140)], BRASS.up(0.08), 22)
    sheet.dots([(127, 292), (328, 140)], BRASS.down(0.16), 8)


def scissors(sheet: Sheet, grip: Tone) -> None:
    blade = "M290 330L276 92Q276 76 288 80Q312 96 316 140L326 330Q308 344 290 330Z"
    with sheet.group(transform="rotate(24 300 300)"):
        for side in (-1, 1):
            turn = 11 * side
            flip = "" if side > 0 else " translate(600 0) scale(-1 1)"
            with sheet.group(transform=f"rotate({turn} 302 322){flip}"):
                ring = "M300 330C296 380 262 392 252 436C242 486 262 532 304 532C346 532 356 480 344 436C336 402 326 380 324 330Z"
                hole = "M300 420C276 420 268 452 272 476C276 502 288 510 304 510C320 510 330 496 330 470C330 444 320 420 300 420Z"
                sheet.cast(blade, drop=8)
                sheet.element(
                    "path",
                    d=ring + hole,
                    fill=sheet.backdrop.down(0.4),
                    fill_rule="evenodd",
                    opacity=0.2,
                    transform="translate(6 9)",
                )
                steel = sheet.linear(
                    (0, STEEL.up(0.15)),
                    (0.5, STEEL.up(0.03)),
                    (0.5, STEEL.up(0.1)),
                    (1, STEEL.down(0.08)),
                    along=ACROSS,
                )
                sheet.fill(blade, steel)
                paint = sheet.linear((0, grip.up(0.08)), (0.5, grip), (1, grip.down(0.1)), along=ASLANT)
                sheet.element("path", d=ring + hole, fill=paint, fill_rule="evenodd")
                sheet.line("M262 440C254 480 268 516 296 522", grip.up(0.2), 5, opacity=0.5)
        sheet.oval(302, 322, 17, 17, STEEL.down(0.14))
        sheet.oval(301, 320, 14, 14, STEEL.up(0.1))
        sheet.line("M292 326L310 314", STEEL.down(0.26), 4)

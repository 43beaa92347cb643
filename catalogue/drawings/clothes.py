"""Clothes lying flat, and the bags to carry them in."""

from catalogue.drawings.sheet import ACROSS, ASLANT, Sheet, box, mirrored
from catalogue.drawings.tone import BRASS, LEATHER, PAPER, Tone

X = 300


def _sewn(sheet: Sheet, outline: str, cloth: Tone, width: float = 2.5) -> None:
    sheet.line(outline, cloth.down(0.13), width, stroke_dasharray="7 5", opacity=0.9)


def _drape(sheet: Sheet, cloth: Tone) -> str:
    """Return the paint of a trunk lying flat: three soft folds from side to side."""
    return sheet.linear(
        (0, cloth.down(0.06)),
        (0.16, cloth.up(0.02)),
        (0.38, cloth.up(0.035)),
        (0.62, cloth),
        (0.86, cloth.down(0.03)),
        (1, cloth.down(0.1)),
        along=ACROSS,
    )


# Half outlines, x counted from the middle line: neck, shoulder, side, hem.
# The armhole is cut into the side, so that the sleeve's seam is the edge of the trunk.
_TRUNK_TEE = mirrored(
    X,
    (62, 118),
    ((100, 132), (132, 146)),
    ((114, 172), (114, 218), (143, 258)),
    ((139, 320), (140, 400), (144, 492)),
    ((80, 500), (0, 500)),
)
_TRUNK_KNIT = mirrored(
    X,
    (58, 120),
    ((96, 132), (136, 148)),
    ((118, 176), (118, 224), (147, 264)),
    ((146, 320), (147, 380), (146, 440)),
    ((80, 444), (0, 444)),
)
_TRUNK_SHIRT = mirrored(
    X,
    (52, 112),
    ((96, 128), (134, 146)),
    ((116, 174), (116, 222), (147, 264)),
    ((145, 330), (148, 390), (152, 458)),
    ((140, 506), (80, 500), (0, 512)),
)
_ARMHOLE = "M435 148C417 176 417 224 446 264M165 148C183 176 183 224 154 264"


def _laid(side: int) -> str | None:
    """Return the transform that lays what is drawn for the right on this side."""
    return None if side > 0 else f"translate({2 * X} 0) scale(-1 1)"


def _both(sheet: Sheet, outline: str, cloth: Tone, *, darker: float = 0.0) -> None:
    """Draw a right sleeve and its mirror image, the one further from the light darker."""
    for side in (1, -1):
        tone = cloth.down(darker + (0.035 if side > 0 else 0.0))
        paint = sheet.linear((0, tone.down(0.06)), (0.35, tone.up(0.02)), (1, tone.down(0.05)), along=ACROSS)
        sheet.fill(outline, paint, transform=_laid(side))


_SHORT_SLEEVE = "M426 141C462 156 492 220 512 274Q516 284 506 288L446 311Q438 313 436 304L404 236L404 160Z"
_LONG_SLEEVE = "M430 144C476 168 500 300 520 452L468 462C458 380 446 310 424 262L404 236L404 160Z"


def _mirror(outline: str) -> str:
    """Return path data of absolute M, L, C, Q and Z commands, mirrored at the middle line."""
    words: list[str] = []
    is_x = True
    number = ""
    for sign in outline + " ":
        if sign in "0123456789.-":
            number += sign
            continue
        if number:
            words.append(f"{2 * X - float(number):g}" if is_x else number)
            is_x, number = not is_x, ""
        words.append(sign)
    return "".join(words).strip()


def _silhouette(trunk: str, sleeve: str) -> str:
    return trunk + sleeve + _mirror(sleeve)


def _neck(sheet: Sheet, cloth: Tone, *, wide: float = 62, deep: float = 46, rib: float = 15, y: float = 118) -> None:
    """Draw a round neckline: the inside of the back, and the ribbed edge in front."""
    hole = f"M{X - wide} {y}C{X - wide * 0.72} {y + deep} {X + wide * 0.72} {y + deep} {X + wide} {y}Q{X} {y + 14} {X - wide} {y}Z"
    back = f"M{X - wide} {y}Q{X} {y - 12} {X + wide} {y}L{X + wide} {y + 4}Q{X} {y + 20} {X - wide} {y + 4}Z"
    sheet.fill(hole, cloth.down(0.22))
    sheet.fill(back, cloth.down(0.12))
    front = f"M{X - wide + 2} {y}C{X - wide * 0.72} {y + deep + 4} {X + wide * 0.72} {y + deep + 4} {X + wide - 2} {y}"
    sheet.line(front, cloth.down(0.09), rib, stroke_linecap="butt")
    sheet.line(front, cloth.up(0.035), rib - 5, stroke_linecap="butt")


def _armholes(sheet: Sheet, cloth: Tone) -> None:
    """Draw the seams where the sleeves are set in, with the shade beside them."""
    sheet.line(_ARMHOLE, cloth.down(0.13), 3, opacity=0.8)
    sheet.line("M424 152C406 182 406 226 434 264M176 152C194 182 194 226 166 264", cloth.down(0.13), 9, opacity=0.14)


def _tee(sheet: Sheet, cloth: Tone, sleeve: str, stripe: Tone | None = None) -> None:
    sheet.cast(_silhouette(_TRUNK_TEE, sleeve), drop=13)
    _both(sheet, sleeve, cloth)
    if stripe:
        arm = "".join(f"M{390 + k * 7.6:.0f} {238 + k * 29}L{560 + k * 4} {214 + k * 29}" for k in range(8))
        with sheet.within(sleeve + _mirror(sleeve)):
            sheet.line(arm + _mirror(arm), stripe, 11, opacity=0.92)
    sheet.fill(_TRUNK_TEE, _drape(sheet, cloth))
    with sheet.within(_TRUNK_TEE):
        if stripe:
            body = "".join(f"M140 {y}Q300 {y + 12} 460 {y}" for y in range(218, 480, 29))
            sheet.line(body, stripe, 11, opacity=0.92)
        creases = "M396 420C380 440 372 470 376 494M212 400C224 430 224 470 220 494M330 230C350 290 346 340 332 380"
        sheet.line(creases, cloth.down(0.13), 8, opacity=0.28)
        sheet.line(
            "M450 262C430 270 416 284 408 306M150 262C170 270 184 284 192 306",
            cloth.down(0.13),
            7,
            opacity=0.25,
        )
    _armholes(sheet, cloth)


def t_shirt(sheet: Sheet, cloth: Tone) -> None:
    _tee(sheet, cloth, _SHORT_SLEEVE)
    _sewn(sheet, "M160 484Q230 490 300 490T440 484M499 273L437 296M101 273L163 296", cloth)
    _neck(sheet, cloth)


def pocket_tee(sheet: Sheet, cloth: Tone) -> None:
    t_shirt(sheet, cloth)
    pocket = "M330 226H404V296L367 314L330 296Z"
    sheet.fill(pocket, cloth.down(0.1), opacity=0.7, transform="translate(2 4)")
    sheet.fill(pocket, sheet.flat(cloth.up(0.01)))
    _sewn(sheet, "M330 238H404M336 240V292L367 307L398 292V240", cloth, 2)


def striped_tee(sheet: Sheet, cloth: Tone, stripe: Tone | None = None) -> None:
    _tee(sheet, cloth, _LONG_SLEEVE, stripe or cloth.against(0.3))
    _neck(sheet, cloth, wide=78, deep=30, rib=11, y=121)


def shirt(sheet: Sheet, cloth: Tone) -> None:
    sleeve = "M428 143C478 168 502 300 520 440L466 452C456 380 446 310 424 262L404 236L404 160Z"
    sheet.cast(_silhouette(_TRUNK_SHIRT, sleeve), drop=13)
    _both(sheet, sleeve, cloth)
    cuff = "M466 446L520 434L526 478Q527 484 521 486L478 494Q472 495 471 489Z"
    _both(sheet, cuff, cloth, darker=0.035)
    for side in (1, -1):
        transform = _laid(side)
        sheet.line("M468 456L520 445", cloth.down(0.15), 2.5, transform=transform)
        sheet.dots([(498, 472)], PAPER, 8, transform=transform)
    sheet.fill(_TRUNK_SHIRT, _drape(sheet, cloth))
    with sheet.within(_TRUNK_SHIRT):
        sheet.line(
            "M404 420C392 450 394 480 400 506M196 400C212 440 208 480 204 506M236 250C250 300 246 360 240 400",
            cloth.down(0.13),
            8,
            opacity=0.28,
        )
        sheet.fill(box(284, 150, 36, 370), cloth.up(0.025))
        sheet.line("M284 150V516M320 150V516", cloth.down(0.13), 2.5, opacity=0.8)
    _armholes(sheet, cloth)
    pocket = "M344 238H412V306L378 322L344 306Z"
    sheet.fill(pocket, cloth.down(0.1), opacity=0.6, transform="translate(2 4)")
    sheet.fill(pocket, sheet.flat(cloth.up(0.01)))
    _sewn(sheet, "M344 250H412M350 252V302L378 315L406 302V252", cloth, 2)
    buttons = [(302, y) for y in (214, 272, 330, 388, 446)]
    sheet.dots([(x + 1, y + 2) for x, y in buttons], cloth.down(0.2), 13)
    sheet.dots(buttons, PAPER, 12)
    sheet.dots(buttons, PAPER.down(0.25), 4)
    sheet.fill("M248 112Q300 96 352 112L302 176Z", cloth.down(0.2))
    sheet.fill("M248 110Q300 92 352 110L348 128Q300 114 252 128Z", cloth.down(0.09))
    collar = "M352 108Q362 116 364 128L346 204Q340 208 334 202L302 172Q342 144 352 108Z"
    for side in (1, -1):
        outline = collar if side > 0 else _mirror(collar)
        sheet.fill(outline, cloth.down(0.14), transform="translate(0 5)", opacity=0.7)
        sheet.fill(outline, sheet.flat(cloth.up(0.03 if side < 0 else 0.0)))
        edge = "M358 130L341 197L310 170"
        _sewn(sheet, edge if side > 0 else _mirror(edge), cloth, 2)
    sheet.dots([(302, 182)], PAPER, 11)


def _knit_base(sheet: Sheet, wool: Tone) -> None:
    """Draw the body, the sleeves and the ribbed ends of a jumper."""
    sheet.cast(_silhouette(_TRUNK_KNIT, _LONG_SLEEVE) + box(160, 430, 280, 62, 10), drop=14)
    _both(sheet, _LONG_SLEEVE, wool)
    cuff = "M467 450L520 441L526 496Q526 502 520 503L482 508Q475 509 474 502Z"
    _both(sheet, cuff, wool, darker=0.035)
    for side in (1, -1):
        ribs = "M478 452L484 504M488 450L494 503M498 448L505 501M508 446L515 500"
        sheet.line(ribs, wool.down(0.15), 3, opacity=0.6, transform=_laid(side))
    sheet.fill(_TRUNK_KNIT, _drape(sheet, wool))
    _armholes(sheet, wool)
    hem = "M154 434Q300 446 446 434L440 486Q440 494 432 494Q300 502 168 494Q160 494 160 486Z"
    sheet.fill(hem, _drape(sheet, wool.down(0.03)))
    with sheet.within(hem):
        sheet.threads("M161 468H446", 58, wool.down(0.14), thick=3.5, apart=12, opacity=0.6)


def jumper(sheet: Sheet, wool: Tone) -> None:
    _knit_base(sheet, wool)
    with sheet.within(_TRUNK_KNIT):
        sheet.threads("M300 130V446", 320, wool.down(0.12), thick=1.6, apart=8, opacity=0.26)
        sheet.line(
            "M400 350C384 380 388 410 400 436M200 350C216 380 212 410 202 436M336 220C352 280 346 330 336 370",
            wool.down(0.14),
            9,
            opacity=0.24,
        )
    _neck(sheet, wool, wide=58, deep=46, rib=21, y=120)


def cable_jumper(sheet: Sheet, wool: Tone) -> None:
    _knit_base(sheet, wool)
    with sheet.within(_TRUNK_KNIT):
        cables, crossings = (212, 300, 388), range(142, 450, 46)
        sheet.fill("".join(box(x - 24, 120, 48, 330) for x in cables), wool.down(0.05), opacity=0.8)
        under = "".join(f"M{x + 11} {y}c0 22 -22 24 -22 46" for x in cables for y in crossings)
        over = "".join(f"M{x - 11} {y}c0 22 22 24 22 46" for x in cables for y in crossings)
        sheet.line(under, wool.up(0.035), 13)
        sheet.line(over, wool.down(0.1), 17)
        sheet.line(over, wool.up(0.06), 13)
        sheet.line("".join(f"M{x - 27} 120V450M{x + 27} 120V450" for x in cables), wool.down(0.13), 3, opacity=0.65)
        moss = "".join(f"M{x} 172V440" for x in (168, 250, 262, 338, 350, 428))
        sheet.line(moss, wool.down(0.11), 5, stroke_dasharray="0 14", opacity=0.55)
    _neck(sheet, wool, wide=60, deep=42, rib=26, y=118)


def cardigan(sheet: Sheet, wool: Tone, button: Tone = LEATHER) -> None:
    _knit_base(sheet, wool)
    with sheet.within(_TRUNK_KNIT):
        sheet.threads("M300 130V446", 320, wool.down(0.12), thick=1.6, apart=8, opacity=0.24)
    sheet.fill("M238 116Q300 104 362 116L302 306Z", wool.down(0.24))
    sheet.fill("M238 114Q300 96 362 114L358 132Q300 116 242 132Z", wool.down(0.1))
    for side in (1, -1):
        edge = "M238 116C250 200 276 262 302 306"
        outline = _mirror(edge) if side > 0 else edge
        sheet.line(outline, wool.down(0.11), 27, stroke_linecap="butt")
        sheet.line(outline, wool.up(0.02), 21, stroke_linecap="butt")
    sheet.fill(box(286, 296, 30, 200), wool.down(0.1))
    sheet.fill(box(288, 292, 26, 203), wool.up(0.02))
    for x in (178, 346):
        pocket = box(x, 352, 76, 76, 6)
        sheet.fill(pocket, wool.down(0.1), opacity=0.6, transform="translate(2 4)")
        sheet.fill(pocket, sheet.flat(wool))
        sheet.line(f"M{x + 3} 364H{x + 73}", wool.down(0.13), 4, opacity=0.7)
    buttons: list[tuple[float, float]] = [(301, y) for y in (318, 358, 398, 438, 478)]
    sheet.dots([(x + 1, y + 2) for x, y in buttons], wool.down(0.25), 17)
    sheet.dots(buttons, button, 15)
    sheet.dots([(x - 1, y - 1) for x, y in buttons], button.up(0.14), 7)


def hoodie(sheet: Sheet, cotton: Tone) -> None:
    hood = "M214 150C196 96 230 48 300 46C370 48 404 96 386 150C360 186 240 186 214 150Z"
    sheet.cast(hood, drop=10)
    _knit_base(sheet, cotton)
    with sheet.within(_TRUNK_KNIT):
        sheet.line(
            "M220 210C232 260 228 300 216 330M388 210C372 250 376 300 388 330",
            cotton.down(0.13),
            8,
            opacity=0.25,
        )
    pocket = "M214 436L226 368Q230 342 254 340H346Q370 342 374 368L386 436Q300 446 214 436Z"
    sheet.fill(pocket, cotton.down(0.12), opacity=0.6, transform="translate(0 -4)")
    sheet.fill(pocket, _drape(sheet, cotton.up(0.01)))
    _sewn(sheet, "M226 430L236 372Q240 350 258 348H342Q360 350 364 372L374 430", cotton, 2.5)
    sheet.fill(hood, sheet.linear((0, cotton.up(0.04)), (0.5, cotton), (1, cotton.down(0.1)), along=ASLANT))
    sheet.fill("M242 158C226 112 252 82 300 80C348 82 374 112 358 158C344 190 256 190 242 158Z", cotton.down(0.24))
    sheet.fill("M250 128C262 108 338 108 350 128C346 146 254 146 250 128Z", cotton.down(0.15))
    sheet.line(
        "M240 152C226 110 252 80 300 78C348 80 374 110 360 152C350 176 324 190 300 200C276 190 250 176 240 152Z",
        cotton.down(0.1),
        5,
    )
    sheet.line("M272 190C266 220 268 250 264 280M328 190C334 214 330 240 336 264", PAPER.down(0.18), 8)
    sheet.line("M272 188C266 220 268 250 264 278M328 188C334 214 330 240 336 262", PAPER, 5)
    sheet.dots([(273, 188), (327, 188)], BRASS.down(0.1), 13)
    sheet.dots([(273, 187), (327, 187)], BRASS.up(0.12), 6)


def tote(sheet: Sheet, canvas: Tone, handle: Tone = LEATHER) -> None:
    sheet.shadow(316, 520, 206, 34)
    sheet.line("M222 232C224 20 376 20 378 232", handle.down(0.16), 20, stroke_linecap="butt")
    body = "M136 214Q136 204 146 204H454Q464 204 464 214L482 494Q484 516 462 518Q300 528 138 518Q116 516 118 494Z"
    sheet.fill("M146 204H454L448 222H152Z", canvas.down(0.22))
    sheet.fill(body, _drape(sheet, canvas))
    with sheet.within(body):
        sheet.line(
            "M160 300C176 380 168 450 150 520M440 290C426 380 432 450 450 520M270 420C280 450 276 490 268 516",
            canvas.down(0.14),
            11,
            opacity=0.25,
        )
        sheet.threads("M300 206V520", 370, canvas.down(0.1), thick=1.5, apart=8, opacity=0.24)
        sheet.fill(box(110, 478, 380, 50), canvas.down(0.06), opacity=0.7)
    _sewn(sheet, "M142 230H458M122 478H478", canvas)
    for x in (222, 378):
        strap = box(x - 12, 218, 24, 264)
        sheet.fill(strap, canvas.down(0.16), opacity=0.5, transform="translate(3 3)")
        sheet.fill(strap, sheet.linear((0, handle.up(0.04)), (1, handle.down(0.05)), along=ACROSS))
        _sewn(sheet, f"M{x - 7} 224V478M{x + 7} 224V478", handle, 1.8)
        sheet.dots([(x, 236), (x, 464)], BRASS, 9)
    front = "M222 226C218 48 382 48 378 226"
    sheet.line(front, handle.down(0.1), 24, stroke_linecap="butt")
    sheet.line(front, handle.up(0.03), 18, stroke_linecap="butt")
    sheet.line("M214 200C216 70 330 60 360 120", handle.up(0.13), 3, opacity=0.6)


def backpack(sheet: Sheet, canvas: Tone, strap: Tone = LEATHER) -> None:
    sheet.shadow(316, 530, 186, 32)
    for side in (1, -1):
        belt = "M430 250C492 300 486 440 444 500"
        outline = belt if side > 0 else _mirror(belt)
        sheet.line(outline, strap.down(0.18), 26)
        sheet.line(outline, strap.down(0.06), 18)
    sheet.line("M262 92C262 44 338 44 338 92", strap.down(0.12), 14)
    body = "M168 196Q168 150 200 148H400Q432 150 432 196L448 486Q450 526 410 528H190Q150 526 152 486Z"
    sheet.fill(body, _drape(sheet, canvas))
    with sheet.within(body):
        sheet.fill(box(140, 484, 320, 60), strap.down(0.02))
        _sewn(sheet, "M150 488H450", strap.down(0.05), 2)
        sheet.line(
            "M196 220C206 280 200 330 190 380M408 220C396 270 400 330 412 370",
            canvas.down(0.15),
            10,
            opacity=0.3,
        )
    roll = box(156, 88, 288, 88, 40)
    sheet.fill(roll, canvas.down(0.2), opacity=0.5, transform="translate(0 10)")
    sheet.fill(roll, sheet.linear((0, canvas.up(0.05)), (0.45, canvas.up(0.01)), (1, canvas.down(0.14))))
    sheet.line("M178 114C240 122 360 122 422 114M174 138C240 146 360 146 426 138", canvas.down(0.13), 3, opacity=0.5)
    sheet.line("M196 104Q300 98 404 104", canvas.up(0.13), 5, opacity=0.35)
    pocket = "M196 326Q196 312 210 312H390Q404 312 404 326L410 456Q410 472 394 472H206Q190 472 190 456Z"
    sheet.fill(pocket, canvas.down(0.16), opacity=0.6, transform="translate(2 7)")
    sheet.fill(pocket, _drape(sheet, canvas.up(0.01)))
    flap = "M190 318Q190 300 206 300H394Q410 300 410 318V352Q410 364 398 366L308 378Q300 379 292 378L202 366Q190 364 190 352Z"
    sheet.fill(flap, canvas.down(0.18), opacity=0.6, transform="translate(0 6)")
    sheet.fill(flap, sheet.linear((0, canvas.up(0.05)), (1, canvas.down(0.03))))
    _sewn(sheet, "M200 348Q200 356 208 357L300 369L392 357Q400 356 400 348", canvas, 2)
    for x in (232, 368):
        belt = box(x - 12, 150, 24, 128, 8)
        sheet.fill(belt, canvas.down(0.22), opacity=0.5, transform="translate(3 4)")
        sheet.fill(belt, sheet.linear((0, strap.up(0.06)), (1, strap.down(0.06)), along=ACROSS))
        sheet.element(
            "rect",
            x=x - 17,
            y=206,
            width=34,
            height=24,
            rx=5,
            fill="none",
            stroke=BRASS.down(0.04),
            stroke_width=6,
        )
        sheet.line(f"M{x - 16} 208h30", BRASS.up(0.14), 2)
        sheet.dots([(x, 248), (x, 264)], strap.down(0.2), 5)
    tab = box(289, 344, 22, 58, 7)
    sheet.fill(tab, canvas.down(0.24), opacity=0.5, transform="translate(2 4)")
    sheet.fill(tab, strap)
    sheet.dots([(300, 388)], BRASS, 11)
    sheet.dots([(299, 387)], BRASS.up(0.13), 5)


def scarf(sheet: Sheet, wool: Tone, shade: Tone | None = None) -> None:
    """Draw a scarf laid in a loop, both ends hanging down."""
    second = shade or wool.down(0.1)
    back = "M352 250C372 330 394 410 404 486L314 500C306 420 292 340 276 280Z"
    front = "M262 250C242 330 214 420 196 500L298 520C310 430 330 350 352 280Z"
    loop = "M300 84C400 84 448 140 440 206C434 262 370 302 300 302C230 302 166 262 160 206C152 140 200 84 300 84Z"
    sheet.cast(loop + front + back, drop=13)
    for x in range(318, 404, 10):
        sheet.line(f"M{x} {499 - (x - 314) * 0.15:.0f}q4 18 0 38", second.down(0.06), 5)
    sheet.fill(
        back,
        sheet.linear((0, second.down(0.03)), (0.5, second.up(0.02)), (1, second.down(0.06)), along=ACROSS),
    )
    with sheet.within(back):
        sheet.line("M300 420L420 402M300 440L420 422M300 466L420 448", wool.up(0.06), 7, opacity=0.7)
    for x in range(200, 298, 10):
        sheet.line(f"M{x} {501 + (x - 196) * 0.19:.0f}q-6 18 -4 38", wool.down(0.08), 5)
    inner = "M300 142C360 142 392 166 388 196C382 222 346 236 300 236C254 236 218 222 212 196C208 166 240 142 300 142Z"
    sheet.fill(loop, sheet.linear((0, second.down(0.01)), (0.4, second.down(0.07)), (1, second.down(0.1))))
    sheet.fill(inner, sheet.backdrop.down(0.07))
    sheet.fill(
        "M212 192C214 150 250 130 300 130C350 130 386 150 388 192C372 160 340 152 300 152C260 152 228 160 212 192Z",
        second.down(0.17),
    )
    sheet.fill(front, sheet.linear((0, wool.down(0.04)), (0.4, wool.up(0.03)), (1, wool.down(0.08)), along=ACROSS))
    with sheet.within(front):
        sheet.line("M180 426L340 458M176 448L336 480M170 476L330 508", second.down(0.03), 8, opacity=0.9)
        sheet.line(
            "M276 270C262 350 240 430 226 516M316 280C304 360 284 440 268 520",
            wool.down(0.16),
            6,
            opacity=0.25,
        )
    wrap = "M158 196C150 240 190 262 240 276C300 292 380 280 424 244C446 226 446 200 440 190C400 226 350 240 300 240C240 240 190 226 158 196Z"
    wrap = "M158 186C148 250 196 300 268 308C350 316 440 280 442 190C420 232 360 250 300 250C240 250 180 232 158 186Z"
    sheet.fill(wrap, wool.down(0.2), opacity=0.4, transform="translate(2 8)")
    sheet.fill(
        wrap,
        sheet.linear((0, wool.down(0.03)), (0.3, wool.up(0.045)), (0.7, wool), (1, wool.down(0.09)), along=ACROSS),
    )
    with sheet.within(wrap):
        sheet.line(
            "M170 222C220 268 380 276 434 216M180 244C230 288 370 296 424 240M200 266C250 304 350 308 400 268",
            wool.down(0.13),
            5,
            opacity=0.4,
        )


def beanie(sheet: Sheet, wool: Tone) -> None:
    sheet.shadow(316, 476, 206, 34)
    crown = "M146 380C136 210 208 108 300 108C392 108 464 210 454 380Z"
    sheet.fill(crown, sheet.radial((0, wool.up(0.075)), (0.5, wool), (1, wool.down(0.13)), at=(0.38, 0.34, 0.75)))
    with sheet.within(crown):
        ribs = "".join(
            f"M{300 + k * 2.6:.0f} 106C{300 + k * 17} 150 {300 + k * (23.5 - abs(k) * 0.2):.0f} 250 {300 + k * 22.5:.0f} 386"
            for k in range(-7, 8)
        )
        sheet.line(ribs, wool.down(0.15), 4, opacity=0.6)
        sheet.line(ribs, wool.up(0.1), 4, opacity=0.35, transform="translate(-7 0)")
    cuff = "M134 372Q134 346 160 350Q300 372 440 350Q466 346 466 372L464 440Q464 464 440 468Q300 490 160 468Q136 464 136 440Z"
    sheet.fill(cuff, wool.down(0.22), opacity=0.5, transform="translate(0 -7)")
    sheet.fill(cuff, sheet.round(wool.up(0.01)))
    with sheet.within(cuff):
        turns = [k / 11.6 for k in range(-11, 12)]
        ribs = "".join(f"M{300 + 172 * turn * (1.22 - 0.22 * abs(turn)):.0f} 340V496" for turn in turns)
        sheet.line(ribs, wool.down(0.15), 4, opacity=0.6)
        sheet.line(ribs, wool.up(0.1), 3, opacity=0.35, transform="translate(-6 0)")
    label = box(366, 392, 54, 40, 4)
    sheet.fill(label, LEATHER.up(0.06))
    sheet.line("M372 398h42v28h-42Z", LEATHER.down(0.08), 1.8, stroke_dasharray="5 4")


def socks(sheet: Sheet, wool: Tone, toe: Tone | None = None) -> None:
    tip = toe or wool.against(0.15)
    with sheet.group(transform="translate(62 -34)"):
        _sock(sheet, wool.down(0.035), tip.down(0.03))
    with sheet.group(transform="translate(-76 30)"):
        _sock(sheet, wool, tip)


def _sock(sheet: Sheet, wool: Tone, tip: Tone) -> None:
    outline = (
        "M222 82Q222 72 232 72H340Q350 72 350 82C350 180 354 250 370 292C384 322 440 350 470 382"
        "C500 416 494 470 450 484C400 496 340 470 290 430C250 398 228 372 224 330C220 250 222 170 222 82Z"
    )
    sheet.cast(outline, drop=11)
    sheet.fill(outline, sheet.linear((0, wool.down(0.04)), (0.3, wool.up(0.045)), (1, wool.down(0.07)), along=ASLANT))
    with sheet.within(outline):
        sheet.fill("M440 352C410 400 400 440 420 500L520 500V340Z", sheet.flat(tip))
        sheet.fill("M214 300C260 310 290 350 284 436L210 430Z", sheet.flat(tip))
        sheet.threads("M228 119H352", 100, wool.down(0.14), thick=4, apart=12, opacity=0.6)
        sheet.line("M216 92H356M216 108H356", tip, 8)
        sheet.line("M222 172Q286 180 352 172", wool.down(0.14), 3, opacity=0.5)
        sheet.threads("M290 184V322", 170, wool.down(0.13), thick=1.8, apart=11, opacity=0.35)
        sheet.line("M440 352C410 400 400 440 420 500M214 300C260 310 290 350 284 436", tip.down(0.14), 3, opacity=0.7)
        sheet.line("M352 290C330 300 318 320 322 346", wool.down(0.15), 7, opacity=0.35)


def pouch(sheet: Sheet, canvas: Tone) -> None:
    outline = "M112 214Q112 196 130 196H470Q488 196 488 214V414Q488 440 462 440H138Q112 440 112 414Z"
    with sheet.group(transform="rotate(-6 300 310)"):
        sheet.cast(outline, drop=14)
        sheet.fill(outline, sheet.flat(canvas))
        with sheet.within(outline):
            sheet.threads("M300 200V440", 380, canvas.down(0.1), thick=1.5, apart=8, opacity=0.25)
            sheet.line(
                "M160 300C200 330 190 380 170 430M430 280C410 330 420 380 440 430",
                canvas.down(0.14),
                12,
                opacity=0.22,
            )
        sheet.fill(box(112, 212, 376, 36), canvas.down(0.14))
        sheet.line("M118 230H482", BRASS.down(0.22), 14, stroke_linecap="butt")
        sheet.line("M120 230H482", BRASS.up(0.07), 11, stroke_dasharray="5 4", stroke_linecap="butt")
        sheet.line("M112 258H488M112 206H488", canvas.down(0.15), 2.2, stroke_dasharray="7 5")
        sheet.fill(box(402, 218, 34, 24, 6), BRASS.down(0.05))
        sheet.fill(box(404, 219, 28, 16, 5), BRASS.up(0.1))
        pull = "M414 236H428L432 296Q432 304 421 304Q410 304 410 296Z"
        sheet.fill(pull, canvas.down(0.2), opacity=0.6, transform="translate(4 4)")
        sheet.fill(pull, LEATHER.up(0.05))
        sheet.dots([(421, 290)], LEATHER.down(0.12), 5)
        sheet.fill(box(148, 372, 84, 42, 4), LEATHER.up(0.07))
        sheet.line("M154 378h72v30h-72Z", LEATHER.down(0.08), 1.8, stroke_dasharray="5 4")

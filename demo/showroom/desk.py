"""Desk: notebooks and paper, pens and desk tools."""

from demo.showroom.colours import (
    BERRY,
    BLUSH,
    BRASS,
    BUTTER,
    CHALK,
    CHARCOAL,
    FOREST,
    INK,
    LILAC,
    MUSTARD,
    OAK,
    RUST,
    SAGE,
    SKY,
    STEEL,
    TEAL,
    WALNUT,
    with_accent,
)
from demo.showroom.goods import Choice, Product, make

NOTEBOOKS_AND_PAPER = (
    Product(
        key="a5-notebook",
        name="A5 Notebook",
        slug="a5-notebook",
        brand="Marrowby",
        category="notebooks-and-paper",
        description=(
            "A cloth-bound notebook that opens flat at every page, because it is sewn and not glued. "
            "The paper takes fountain pen ink without showing it on the other side. 192 pages, "
            "numbered, with a ribbon."
        ),
        details={
            "Material": "Cloth cover, 100 g/m² uncoated paper",
            "Dimensions": "14.8 × 21 cm, 192 pages",
            "Care": "Keep dry",
            "Made in": "Germany",
        },
        option_names=("Colour", "Ruling"),
        tax_class="standard",
        variants=make(
            "NTB",
            shape="notebook",
            price="18.50",
            grams=340,
            options={
                "Colour": (
                    with_accent(INK, "d6a03f"),
                    with_accent(SAGE, "efeae0"),
                    with_accent(BERRY, "dba59a"),
                    with_accent(MUSTARD, "43474c"),
                ),
                "Ruling": (Choice("Lined", "LINE"), Choice("Dotted", "DOT"), Choice("Plain", "PLAIN")),
            },
            stock={"NTB-BER-DOT": (0, 8), "NTB-SAG-PLAIN": (3, 1)},
        ),
        featured=True,
        created_days_ago=46,
        related=("brass-pen", "pencil-set"),
    ),
    Product(
        key="pocket-notebooks",
        name="Pocket Notebooks, Set of Three",
        slug="pocket-notebooks",
        brand="Marrowby",
        category="notebooks-and-paper",
        description=(
            "Three thin notebooks for the back pocket, stapled, with rounded corners and a cover "
            "that wears in. "
            "Forty-eight dotted pages each: one for work, one for home, one for ideas."
        ),
        details={
            "Material": "Recycled board cover, 90 g/m² uncoated paper",
            "Dimensions": "9 × 14 cm, 48 pages each",
            "Care": "Keep dry",
            "Made in": "Germany",
        },
        option_names=("Colours",),
        tax_class="standard",
        variants=make(
            "PNB",
            shape="pocket-notebooks",
            price="12.50",
            grams=120,
            options={
                "Colours": (
                    Choice("Harbour", "HARBOUR", ("2f4160", "97b8d1", "efeae0")),
                    Choice("Orchard", "ORCHARD", ("b2572f", "d6a03f", "7d8752")),
                    Choice("Dusk", "DUSK", ("43474c", "b3a3cb", "dba59a")),
                )
            },
        ),
        created_days_ago=31,
        related=("a5-notebook",),
    ),
    Product(
        key="sketchbook",
        name="Spiral Sketchbook",
        slug="spiral-sketchbook",
        brand="Marrowby",
        category="notebooks-and-paper",
        description=(
            "Sixty sheets of heavy paper with enough tooth for pencil and enough strength for a light wash. "
            "The board at the back is stiff, so you can draw standing up."
        ),
        details={
            "Material": "170 g/m² cartridge paper, board cover, steel spiral",
            "Sizes": "A5 and A4, 60 sheets",
            "Care": "Keep dry",
            "Made in": "Germany",
        },
        option_names=("Colour", "Size"),
        tax_class="standard",
        variants=make(
            "SKB",
            shape="sketchbook",
            price="14.00",
            grams=420,
            options={
                "Colour": (CHARCOAL, RUST),
                "Size": (Choice("A5", "A5"), Choice("A4", "A4", price="22.00", grams=830)),
            },
        ),
        created_days_ago=170,
        related=("pencil-set",),
    ),
    Product(
        key="letter-set",
        name="Letter Paper and Envelopes",
        slug="letter-paper-and-envelopes",
        brand="Marrowby",
        category="notebooks-and-paper",
        description=(
            "Twenty sheets and twenty lined envelopes for the letters that should not be an e-mail. "
            "Laid paper with a deckle edge, in a folder you will keep."
        ),
        details={
            "Material": "120 g/m² laid paper",
            "Dimensions": "Sheets A5, envelopes C6; 20 of each",
            "Care": "Keep dry",
            "Made in": "France",
        },
        option_names=("Colour",),
        tax_class="standard",
        variants=make(
            "LTR",
            shape="envelopes",
            price="19.00",
            was="24.00",
            grams=310,
            options={
                "Colour": (
                    with_accent(CHALK, "3e7f80"),
                    with_accent(SKY, "2f4160"),
                    with_accent(BLUSH, "9c3f52"),
                )
            },
        ),
        deal=True,
        created_days_ago=230,
        related=("brass-pen",),
    ),
    Product(
        key="desk-planner",
        name="Weekly Desk Planner",
        slug="weekly-desk-planner",
        brand="Marrowby",
        category="notebooks-and-paper",
        description=(
            "A pad for the whole week at a glance, with a column for each day and a margin for what "
            "must not be forgotten. "
            "Undated, so you can start on any Monday. Tear off, turn over, begin again."
        ),
        details={
            "Material": "90 g/m² recycled paper, board back",
            "Dimensions": "A4 landscape, 54 sheets",
            "Care": "Keep dry",
            "Made in": "Germany",
        },
        option_names=("Colour",),
        tax_class="standard",
        variants=make(
            "PLN",
            shape="planner",
            price="16.00",
            grams=380,
            options={"Colour": (TEAL, LILAC)},
        ),
        created_days_ago=3,
        related=("a5-notebook",),
    ),
)

PENS_AND_DESK_TOOLS = (
    Product(
        key="brass-pen",
        name="Turned Metal Pen",
        slug="turned-metal-pen",
        brand="Marrowby",
        category="pens-and-desk-tools",
        description=(
            "A ballpoint turned from solid metal, with a balanced weight and a click you will learn to stop. "
            "Takes ordinary large refills, of which one is inside."
        ),
        details={
            "Material": "Solid brass or steel; refill with black ink",
            "Dimensions": "13.8 cm long, 1 cm across",
            "Care": "Polish it, or let it darken",
            "Made in": "Germany",
        },
        option_names=("Metal",),
        tax_class="standard",
        variants=make(
            "PEN",
            shape="pen",
            price="38.00",
            grams=60,
            options={
                "Metal": (
                    BRASS,
                    STEEL,
                    Choice("Black", "BLK", ("3a3d42",)),
                )
            },
            stock={"PEN-BRA": (5, 1)},
        ),
        created_days_ago=12,
        related=("a5-notebook",),
    ),
    Product(
        key="pencil-set",
        name="Pencils, Set of Six",
        slug="pencils-set-of-six",
        brand="Marrowby",
        category="pens-and-desk-tools",
        description=(
            "Six hexagonal pencils in cedar with a smooth, dark lead in HB. "
            "They sharpen cleanly and smell the way pencils should."
        ),
        details={
            "Material": "Cedar, graphite",
            "Dimensions": "17.5 cm long",
            "Care": "Sharpen by hand",
            "Made in": "Germany",
        },
        option_names=("Colours",),
        tax_class="standard",
        variants=make(
            "PCL",
            shape="pencils",
            price="9.50",
            grams=50,
            options={
                "Colours": (
                    Choice("Bright", "BRIGHT", ("d6a03f", "3e7f80", "9c3f52")),
                    Choice("Quiet", "QUIET", ("9aae8c", "dfcfb0", "62717f")),
                )
            },
        ),
        created_days_ago=95,
        related=("sketchbook", "a5-notebook"),
    ),
    Product(
        key="desk-organiser",
        name="Desk Organiser",
        slug="desk-organiser",
        brand="Orlewood",
        category="pens-and-desk-tools",
        description=(
            "One block of wood with room for pens, a phone and the small things that wander about. "
            "Cork underneath, so it stays put and leaves no mark."
        ),
        details={
            "Material": "Solid wood, oiled; cork",
            "Dimensions": "24 × 10 × 9 cm",
            "Care": "Wipe with a dry cloth",
            "Made in": "Germany",
        },
        option_names=("Wood",),
        tax_class="standard",
        variants=make(
            "ORG",
            shape="organiser",
            price="45.00",
            was="56.00",
            grams=760,
            options={"Wood": (with_accent(OAK, "3e7f80"), with_accent(WALNUT, "d6a03f"))},
        ),
        deal=True,
        created_days_ago=181,
        related=("brass-pen", "pencil-set"),
    ),
    Product(
        key="desk-clock",
        name="Quiet Clock",
        slug="quiet-clock",
        brand="Orlewood",
        category="pens-and-desk-tools",
        description=(
            "A clock that sweeps and does not tick, in a steel case with a glass front. "
            "It stands on its own two feet or hangs on a nail. Runs for about a year on one AA "
            "battery, not included."
        ),
        details={
            "Material": "Powder-coated steel, glass",
            "Dimensions": "20 cm across, 5 cm deep",
            "Care": "Wipe with a soft cloth",
            "Made in": "Germany",
        },
        option_names=("Colour",),
        tax_class="standard",
        variants=make(
            "CLK",
            shape="clock",
            price="49.00",
            grams=540,
            options={
                "Colour": (
                    with_accent(FOREST, "d6a03f"),
                    with_accent(BUTTER, "9c3f52"),
                    with_accent(CHARCOAL, "c8724c"),
                )
            },
        ),
        created_days_ago=71,
    ),
    Product(
        key="desk-lamp",
        name="Jointed Desk Lamp",
        slug="jointed-desk-lamp",
        brand="Orlewood",
        category="pens-and-desk-tools",
        description=(
            "A lamp that bends where you do, with two joints that hold their place without tools. "
            "The shade turns all the way round and its light is wide enough for an open book. Takes "
            "an E14 bulb of up to 25 watts, not included."
        ),
        details={
            "Material": "Powder-coated steel, brass joints, cotton-covered cord of 2 m",
            "Dimensions": "Reach 60 cm, base 16 cm across",
            "Care": "Wipe with a dry cloth",
            "Made in": "Germany",
        },
        option_names=("Colour",),
        tax_class="standard",
        variants=make(
            "DLP",
            shape="desk-lamp",
            price="86.00",
            grams=1900,
            options={"Colour": (RUST, SKY, CHARCOAL)},
        ),
        created_days_ago=5,
        related=("table-lamp", "desk-organiser"),
    ),
    Product(
        key="paper-scissors",
        name="Paper Scissors",
        slug="paper-scissors",
        brand="Brindlecote",
        category="pens-and-desk-tools",
        description=(
            "Long blades for straight cuts and a screw that can be tightened. "
            "Forged, ground and set by hand, with lacquered grips for right or left."
        ),
        details={
            "Material": "Carbon steel, lacquered grips",
            "Dimensions": "Length 20 cm",
            "Care": "Keep dry; a drop of oil on the screw",
            "Made in": "Germany",
        },
        option_names=("Colour",),
        tax_class="standard",
        variants=make(
            "SCI",
            shape="scissors",
            price="26.50",
            grams=140,
            options={"Colour": (CHARCOAL, BERRY, TEAL)},
        ),
        created_days_ago=144,
        related=("letter-set",),
    ),
)

DESK: tuple[Product, ...] = (*NOTEBOOKS_AND_PAPER, *PENS_AND_DESK_TOOLS)
